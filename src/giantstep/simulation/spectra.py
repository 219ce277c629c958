"""Measured spectra at linear width: singular values of weights and features, alignment, losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import MEMORY, simulate

DIRECTIONS = 8
"""Leading right singular vectors whose overlaps with the target are kept."""


@dataclass(frozen=True)
class Spectra:
    """Runs by steps 0..T of what a spectrum shows; singular values are in decreasing order.

    ``weights`` are the singular values of W, ``features`` of sigma(X W^T)/sqrt(readout_n) on fresh
    samples, ``overlap`` |<v_k, w*_j>| of the leading right singular vectors of W.
    """

    setting: Setting
    seconds: float
    weights: Float[np.ndarray, "runs t m"]
    features: Float[np.ndarray, "runs t q"] | None
    overlap: Float[np.ndarray, "runs t k r"]
    readout: Float[np.ndarray, "runs p"]
    train_error: Float[np.ndarray, "runs t"] | None
    test_error: Float[np.ndarray, "runs t"] | None

    @property
    def runs(self) -> int:
        return len(self.weights)

    @property
    def alignment(self) -> Float[np.ndarray, "runs t k"]:
        """Length of each leading direction's projection on the span of the target."""
        return np.sqrt(np.sum(self.overlap**2, axis=-1))


def measure_spectra(
    setting: Setting,
    *,
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
) -> Spectra:
    """Simulate run by run and keep the spectra: p x p matrices are never held for all runs."""
    # Features are decomposed with the readout; without one only the weights are, here.
    single = setting.vary(runs=1, spectra=setting.p if setting.readout_n else 0)
    parts: list[dict[str, Any]] = []
    seconds = 0.0
    for run in range(setting.runs):

        def share(done: float, samples: int, run: int = run) -> None:
            if progress is not None:
                progress((run + done) / setting.runs, samples)

        trajectory = simulate(single, memory=memory, progress=share, first=run)
        seconds += trajectory.seconds
        parts.append(_of_one_run(trajectory))
    fields: dict[str, Any] = {
        name: None if value is None else np.concatenate([part[name] for part in parts])
        for name, value in parts[0].items()
    }
    return Spectra(setting, seconds, **fields)


def _of_one_run(trajectory: Trajectory) -> dict[str, Any]:
    setting = trajectory.setting
    weights = trajectory.weight_singular_values
    if weights is None:
        squares = np.linalg.eigvalsh(trajectory.gram)[:, :, ::-1]
        weights = np.sqrt(np.maximum(squares, 0.0))
    features = trajectory.feature_singular_values
    steps = zip(trajectory.gram[0], trajectory.overlap[0], strict=True)
    return {
        "weights": weights[:, :, : min(setting.p, setting.d)],
        "features": None
        if features is None
        else features[:, :, : min(setting.p, setting.readout_n)],
        "overlap": np.stack([leading_overlaps(gram, overlap) for gram, overlap in steps])[None],
        "readout": trajectory.readout,
        "train_error": trajectory.train_error,
        "test_error": trajectory.test_error,
    }


def leading_overlaps(
    gram: Float[np.ndarray, "p p"], overlap: Float[np.ndarray, "p r"], count: int = DIRECTIONS
) -> Float[np.ndarray, "k r"]:
    """|<v_k, w*_j>| = |u_k . (W w*_j)| / s_k, from W W^T = sum s_k^2 u_k u_k^T.

    By Lanczos: a full decomposition would take longer than the giant steps themselves.
    """
    from scipy.sparse.linalg import eigsh

    p = len(gram)
    if p <= 4 * count:
        values, vectors = np.linalg.eigh(gram)
        values, vectors = values[-count:], vectors[:, -count:]
    else:
        start = np.random.default_rng(0).standard_normal(p)
        values, vectors = eigsh(gram, count, v0=start)
    order = np.argsort(-values)
    return np.abs(vectors[:, order].T @ overlap) / np.sqrt(values[order])[:, None]
