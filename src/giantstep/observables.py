"""What a reader wants of a run: the Trajectory, cosines, alignment, scaling exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.setting import Setting


@dataclass(frozen=True)
class Trajectory:
    """Runs by steps 0..T of everything observed; arrays are float64.

    Errors are mean squared errors with label noise counted; ``test_error`` is that of the ridge
    readout with the penalty ``ridge``, ``network_error`` that of the network with its own a.
    Singular values are of W, of the gradient, and of sigma(X W^T)/sqrt(readout_n), largest first.
    ``readout`` is a at the start, ``regime`` the theory that made a prediction.  Fields ending in
    ``_error_error`` or ``_error`` beside their observable are standard errors: of the test samples
    in a simulation, of quadrature in theory.
    """

    setting: Setting
    engine: str
    seconds: float
    overlap: Float[np.ndarray, "runs t p r"]
    gram: Float[np.ndarray, "runs t p p"]
    gradient_cosine: Float[np.ndarray, "runs s p r"] | None = None
    readout: Float[np.ndarray, "runs p"] | None = None
    train_error: Float[np.ndarray, "runs t"] | None = None
    test_error: Float[np.ndarray, "runs t"] | None = None
    test_error_error: Float[np.ndarray, "runs t"] | None = None
    network_error: Float[np.ndarray, "runs t"] | None = None
    ridge: Float[np.ndarray, "runs t"] | None = None
    train_error_by_ridge: Float[np.ndarray, "runs t k"] | None = None
    test_error_by_ridge: Float[np.ndarray, "runs t k"] | None = None
    weight_singular_values: Float[np.ndarray, "runs t m"] | None = None
    gradient_singular_values: Float[np.ndarray, "runs s m"] | None = None
    feature_singular_values: Float[np.ndarray, "runs t m"] | None = None
    overlap_error: Float[np.ndarray, "runs t p r"] | None = None
    gram_error: Float[np.ndarray, "runs t p p"] | None = None
    gradient_cosine_error: Float[np.ndarray, "runs s p r"] | None = None
    train_error_error: Float[np.ndarray, "runs t"] | None = None
    network_error_error: Float[np.ndarray, "runs t"] | None = None
    regime: str | None = None
    interrupted: bool = field(default=False, compare=False)

    @property
    def runs(self) -> int:
        return len(self.overlap)

    @property
    def cosine(self) -> Float[np.ndarray, "runs t p r"]:
        """<w_i, w*_k> / |w_i|."""
        return self.overlap / self.norms[..., None]

    @property
    def norms(self) -> Float[np.ndarray, "runs t p"]:
        return np.sqrt(np.diagonal(self.gram, axis1=-2, axis2=-1))

    def arrays(self) -> dict[str, Float[np.ndarray, "runs ..."]]:
        """The observables that were recorded, by name."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}

    def mean(self) -> dict[str, Float[np.ndarray, "..."]]:
        """Each observable averaged over the runs."""
        return {name: value.mean(axis=0) for name, value in self.arrays().items()}

    def standard_error(self) -> dict[str, Float[np.ndarray, "..."]]:
        """Standard error of each mean; needs two runs."""
        if self.runs < 2:
            raise InputError(f"standard errors need at least 2 runs, got {self.runs}")
        return {
            name: value.std(axis=0, ddof=1) / np.sqrt(self.runs)
            for name, value in self.arrays().items()
        }

    def alignment(self, basis: Float[np.ndarray, "k r"]) -> Float[np.ndarray, "runs t p"]:
        """|P_U w_i| / |w_i| for a subspace U given by orthonormal rows in target coordinates."""
        return np.linalg.norm(self.overlap @ basis.T, axis=-1) / self.norms

    def principal_cosines(self, basis: Float[np.ndarray, "k r"]) -> Float[np.ndarray, "runs t k"]:
        """Cosines of the principal angles between the rows of W and U, largest first."""
        return principal_cosines(self.overlap @ basis.T, self.gram)

    def subspace_summary(self, basis: Float[np.ndarray, "k r"]) -> dict[str, Any]:
        """Alignment with a subspace, step by step, as plain numbers."""
        return {
            "basis": basis.tolist(),
            "median_cosine": np.median(self.alignment(basis), axis=(0, 2)).tolist(),
            "principal_cosines": self.principal_cosines(basis).mean(axis=0).tolist(),
        }

    def as_dict(self) -> dict[str, Any]:
        """The record as plain lists, with the setting."""
        return {
            "setting": self.setting.as_dict(),
            "engine": self.engine,
            "regime": self.regime,
            "seconds": self.seconds,
            "runs": self.runs,
            "interrupted": self.interrupted,
            **{name: value.tolist() for name, value in self.arrays().items()},
        }


def principal_cosines(
    overlap: Float[np.ndarray, "*n p k"], gram: Float[np.ndarray, "*n p p"]
) -> Float[np.ndarray, "*n k"]:
    """Singular values of (W W^T)^(-1/2) W U^T: cosines of the principal angles, largest first.

    Directions in which the rows are dependent (below 1e-10 of the largest) carry no weight; with
    fewer rows than k the missing cosines are 0.
    """
    values, vectors = np.linalg.eigh(gram)
    present = values > 1e-10 * values[..., -1:]
    scale = np.where(present, 1.0 / np.sqrt(np.where(present, values, 1.0)), 0.0)
    whitened = scale[..., None] * (np.swapaxes(vectors, -1, -2) @ overlap)
    cosines = np.linalg.svd(whitened, compute_uv=False)
    missing = overlap.shape[-1] - cosines.shape[-1]
    return np.pad(np.minimum(cosines, 1.0), [(0, 0)] * (cosines.ndim - 1) + [(0, missing)])


Verdict = Literal["learned", "not learned", "undecided"]

# Halfway between a constant cosine (exponent 0) and a random one (-1/2).
BOUNDARY = -0.25


@dataclass(frozen=True)
class Scaling:
    """Exponent of an observable in d, with a bootstrap interval and what it decides."""

    exponent: float
    low: float
    high: float
    level: float

    @property
    def verdict(self) -> Verdict:
        """Learned if the whole interval is above -1/4, not learned if it is below."""
        if self.low > BOUNDARY:
            return "learned"
        return "not learned" if self.high < BOUNDARY else "undecided"


def scaling_exponent(
    sizes: Sequence[float],
    values: Sequence[Float[np.ndarray, " runs"]],
    level: float = 0.99,
    resamples: int = 2000,
    seed: int = 0,
) -> Scaling:
    """Slope of log median |value| against log size; the runs at each size are resampled."""
    if len(sizes) < 2 or len(sizes) != len(values):
        raise InputError(
            f"sizes and values must match, at least 2 of them, got {len(sizes)} and {len(values)}"
        )
    if not min(sizes) > 0 or min(sizes) == max(sizes):
        raise InputError(f"sizes must be positive and not all equal, got {list(sizes)[:8]}")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}")
    for size, runs in zip(sizes, values, strict=True):
        if np.ndim(runs) != 1 or len(runs) < 2 or not np.all(np.isfinite(runs)):
            raise InputError(f"values must be at least 2 finite numbers a size, not so at {size}")
        if np.median(np.abs(runs)) == 0:
            raise InputError(f"values must have a median other than 0, not so at {size}")
    x = np.log(np.asarray(sizes, dtype=float))
    centred = x - x.mean()
    rng = np.random.default_rng(seed)

    def slope(medians: Float[np.ndarray, "*b m"]) -> Float[np.ndarray, "*b"]:
        return np.log(medians) @ centred / (centred @ centred)

    absolute = [np.abs(np.asarray(v, dtype=float)) for v in values]
    resampled = np.stack(
        [np.median(rng.choice(v, size=(resamples, len(v))), axis=1) for v in absolute], axis=1
    )
    found = slope(np.array([np.median(v) for v in absolute]))
    low, high = np.quantile(slope(resampled), [(1 - level) / 2, (1 + level) / 2])
    return Scaling(float(found), float(low), float(high), level)
