"""What the two theories of narrow networks share: the start, one gradient, the limiting readout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Start:
    """Coordinates of the rows at step 0 (the first r along the target directions), and a."""

    rows: Float[np.ndarray, "p q"]
    readout: Float[np.ndarray, " p"]


def typical_start(setting: Setting, readout: Float[np.ndarray, " p"] | None = None) -> Start:
    """The start with its O(d^-1/2) random overlaps set to zero: what runs average to.

    Rows are of norm one and orthogonal, to each other and to the target, unless overlaps are given;
    the symmetric start pairs row i with row i + p/2.  Unless the readout is given, signs are
    balanced, negative first, as ``canonical_order`` sorts them.
    """
    p, r = setting.p, setting.target.r
    if setting.start == "symmetric":
        half = np.eye(p // 2)
        rest = np.concatenate([half, half])
    else:
        rest = np.eye(p)
    overlaps = np.zeros((p, r))
    if setting.start_overlaps is not None:
        overlaps = np.array(setting.start_overlaps, dtype=float)
        rest = np.diag(np.sqrt(np.maximum(1.0 - np.sum(overlaps**2, axis=1), 0.0)))
    if readout is None:
        alternates = setting.readout_start == "alternating" and setting.start != "symmetric"
        positive = np.arange(p) % 2 == 0 if alternates else np.arange(p) >= p // 2
        readout = np.where(positive, 1.0, -1.0)
    return Start(np.concatenate([overlaps, rest], axis=1), readout)


def labels_at(
    setting: Setting, points: Float[np.ndarray, "n q"], noise: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """y on the points: f(z) and its noise."""
    columns = [points[:, k] for k in range(setting.target.r)]
    return np.asarray(setting.labels(np.asarray(setting.target(columns), dtype=float), noise))


def gradient_at(
    setting: Setting,
    rows: Float[np.ndarray, "p q"],
    readout: Float[np.ndarray, " p"],
    points: Float[np.ndarray, "n q"],
    labels: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "p n"]:
    """g_i(x) = (y - s_p sum_k a_k sigma(<w_k, x>)) s_p a_i sigma'(<w_i, x>)."""
    lam = rows @ points.T
    residual = labels
    if setting.residual == "full":
        residual = labels - setting.scale * (readout @ setting.activation(lam))
    slopes = setting.activation.derivative(lam)
    return np.asarray(setting.scale * readout[:, None] * slopes * residual)


@dataclass(frozen=True)
class LimitingErrors:
    """Limiting errors of the network and of its ridge readout as readout_n -> infinity."""

    network: float
    readout: float


def limiting_errors(
    setting: Setting,
    rows: Float[np.ndarray, "p q"],
    readout: Float[np.ndarray, " p"],
    points: Float[np.ndarray, "n q"],
    labels: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
) -> LimitingErrors:
    """E (y - s_p a.phi)^2 for the network's own a, and for a = s_p (s_p^2 Sig + ridge)^-1 b.

    Sig = E[phi phi^T], b = E[phi y].  Leave-one-out wants no penalty when samples abound: 1e-10 of
    the mean eigenvalue stands for it.  Several penalties: the best of them.
    """
    scaled = setting.scale * np.asarray(setting.activation(rows @ points.T), dtype=float)
    # Most of the error is E y^2, which is known: its quadrature error is taken out (not of a
    # deflated label, whose second moment is another).
    series = setting.target.series
    square = float(np.sum(series.coefficients**2)) + series.tail + setting.noise**2
    known = square - float(weights @ labels**2)
    own = known + float(weights @ (labels - readout @ scaled) ** 2)
    fitted = labels
    if setting.deflate >= 0:
        fitted = labels - weights @ labels
    if setting.deflate == 1:
        fitted = fitted - points @ ((weights * fitted) @ points)
    covariance = (scaled * weights) @ scaled.T
    cross = scaled @ (weights * fitted)
    mean_eigenvalue = float(np.trace(covariance)) / len(covariance)
    penalties = (1e-10 * mean_eigenvalue,) if setting.ridge == "cv" else setting.ridge
    best = min(
        float(
            weights
            @ (fitted - np.linalg.solve(covariance + ridge * np.eye(len(rows)), cross) @ scaled)
            ** 2
        )
        for ridge in penalties
    )
    return LimitingErrors(own, best + known if setting.deflate < 0 else best)
