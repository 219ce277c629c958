"""Which directions of a sum of links one giant step learns: a closed formula.

For sum_k lambda_k g(x_k) with many directions of information exponent l = 2, as in arXiv
2508.03688, but for one giant step on a fresh batch.  ArXiv 2504.19983 has links of l > 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.series import HermiteSeries
from giantstep.prediction.limits import Limit, must_be, one_of, plain_step, refuse_beyond
from giantstep.problem.setting import Setting
from giantstep.records.emergence import variances_by_direction

EMERGENCE = "emergence in one step"


def _information_exponent(setting: Setting) -> float | None:
    """The lowest degree of a term of the target; None for a constant."""
    degrees = setting.target.series.degrees
    return float(degrees[degrees > 0].min()) if np.any(degrees > 0) else None


def _coupled_terms(setting: Setting) -> float:
    """The number of terms of the target that depend on several directions."""
    return float(np.sum((setting.target.series.exponents > 0).sum(axis=1) > 1))


NARROW = Limit(
    name="neurons over inputs",
    quantity=lambda setting: setting.p / setting.d,
    most=0.2,
    sentence="p must be at most {most:g} d for emergence, got {value:.3g} d",
    evidence="tests/prediction/test_emergence.py",
    kind="chosen",
)

COUPLED = Limit(
    name="terms of several directions",
    quantity=_coupled_terms,
    most=0.0,
    sentence="target must be a sum of functions of one direction each, got {setting.target.name!r}",
    evidence="docs/derivations/scaling.md",
    kind="derived",
)

INFORMATION_EXPONENT = Limit(
    name="information exponent",
    quantity=_information_exponent,
    least=2.0,
    most=2.0,
    sentence="links must have information exponent 2 for emergence, got {value:g}",
    evidence="docs/derivations/scaling.md",
    kind="derived",
)

LIMITS: tuple[Limit, ...] = (
    one_of("steps", (1,), EMERGENCE),
    must_be("residual", "labels", EMERGENCE, lambda s: s.labels_only),
    one_of("start", ("sphere",), EMERGENCE),
    must_be("readout_start", "of one size", EMERGENCE, lambda s: s.readout_law.one_size),
    one_of("deflate", (-1,), EMERGENCE),
    one_of("corruption", (0.0,), EMERGENCE),
    *plain_step(EMERGENCE, {}),
    NARROW,
    COUPLED,
    INFORMATION_EXPONENT,
    Limit(
        name="directions over neurons",
        quantity=lambda setting: setting.target.r / setting.p,
        most=1.0,
        sentence="p must be at least the number of directions, got r/p = {value:.3g}",
        evidence="tests/prediction/test_emergence.py",
        kind="chosen",
    ),
    Limit(
        name="samples over inputs of emergence",
        quantity=lambda setting: setting.n / setting.d,
        least=10.0,
        sentence="n must be at least {least:g} d for emergence in one step, got {value:.3g} d",
        # Shares are within 10 % of runs from here on, and up to 50 % off below.
        evidence="docs/derivations/scaling.md",
        kind="measured",
    ),
)


@dataclass(frozen=True)
class EmergenceLaw:
    """Shares of the directions in the rows' span after one step, and the samples each one needs.

    ``share`` is |P w*_k|^2, ``remaining`` the share of the variance along directions that are not
    in the span.  A giant step on ``needed`` samples has the share of about one half; they are
    infinite where the step learns nothing, and rows at random have the share p/d.
    ``uncertainty`` is how far the mean share of runs may be from ``share``, and that of
    ``remaining`` is its mean over directions, weighted by their variances.

    docs/derivations/scaling.md, section 1.
    """

    share: Float[np.ndarray, " r"]
    uncertainty: Float[np.ndarray, " r"]
    needed: Float[np.ndarray, " r"]
    remaining: float


def direction_weights(series: HermiteSeries) -> Float[np.ndarray, " r"]:
    """E[f He_2(x_k)] of a sum of functions of one direction each."""
    quadratic = series.degrees == 2
    coefficients = series.coefficients[quadratic]
    return math.sqrt(2.0) * coefficients @ (series.exponents[quadratic] > 0)


def squares_along(series: HermiteSeries) -> Float[np.ndarray, " r"]:
    """E[f^2 x_k^2] of a sum of functions of one direction each.

    x_k times a series in h_m has the coefficients sqrt(m) a_(m-1) + sqrt(m + 1) a_(m+1).
    """
    alone = (series.exponents > 0).sum(axis=1) == 1
    where = np.argmax(series.exponents[alone] > 0, axis=1)
    a = np.zeros((series.exponents.shape[1], series.degree + 2))
    a[where, series.degrees[alone]] = series.coefficients[alone]
    a[:, 0] = series.coefficients[series.degrees == 0].sum()
    m = np.arange(a.shape[1])
    times = np.sqrt(m) * np.roll(a, 1, axis=1)
    times[:, :-1] += np.sqrt(m[1:]) * a[:, 1:]
    return np.sum(times**2, axis=1) + series.square - np.sum(a**2, axis=1)


def emergence_law(setting: Setting) -> EmergenceLaw:
    """Shares of the target's directions after one giant step from the labels.

    share_k = x_k/(1 + x_k), docs/derivations/scaling.md, eq. (2) and (3), for p <= d/5, r <= p
    and n >= 10 d.  ``uncertainty`` counts the terms of order r/p, 1/p, p/d and d/n that are left
    out.

    >>> from giantstep import Setting, emergence_law
    >>> base = Setting(
    ...     "separable(He2, 20, 1)", d=1000, n=10**5, p=40, steps=1, step_size=1e4,
    ...     start="sphere", residual="labels", readout_n=0, test_n=0,
    ... )
    >>> law = emergence_law(base)
    >>> round(float(law.needed[1] / law.needed[0]), 6)
    4.0
    """
    refuse_beyond(LIMITS, setting)
    series, d, p = setting.target.series, setting.d, setting.p
    moments = setting.activation.moments
    # l = 2: E[y He_2(x_k)], E sigma'', and the mean over rows of <w, w*_k>^2, which is 1/d.
    weights = direction_weights(series)
    bend = setting.activation.derivative_coefficients(2).values[2]
    signal = (bend * weights) ** 2 / d
    square = series.square + setting.noise**2
    # What all rows share of the noise is one direction of p: it does not count.
    spread = moments.slope_square - moments.slope**2
    noise = square * spread
    # Along a direction of the label its own samples scatter more.
    along = (squares_along(series) + setting.noise**2) * spread
    size = (setting.step_size[0] * setting.scale) ** 2
    ratio = (1.0 / d + size * (signal + along / setting.n)) / (1.0 + size * d * noise / setting.n)
    variance = variances_by_direction(series)
    share = p * ratio / (1.0 + p * ratio)
    # Measured: docs/derivations/scaling.md, after eq. (3).
    left_out = (np.sum(share) + 4.0) / p + p / d + 2.5 * d / setting.n
    needed = np.full(len(signal), np.inf)
    np.divide(d * noise, p * signal, out=needed, where=signal > 0.0)
    remaining = float((1.0 - share) @ variance / np.sum(variance))
    return EmergenceLaw(share, share * (1.0 - share) * left_out, needed, remaining)
