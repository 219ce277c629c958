"""What a reader wants of a run: the Trajectory, cosines, alignment, scaling exponents."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.setting import Setting


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
