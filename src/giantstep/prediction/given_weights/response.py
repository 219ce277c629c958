"""The response of the system to a change of its weights, known on a few vectors.

K = diag(c) T diag(c), T = tr[S Q S' Q]/n, c = sqrt(w)/(1+V), is the kernel of the errors and the
Jacobian of the fixed point; its eigenvalues lie in [0, 1) and fall quickly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import NotConvergedError
from giantstep.prediction.given_weights.family import Family


@dataclass(frozen=True)
class Response:
    """K on a few orthonormal vectors: basis^T K basis = core."""

    basis: Float[np.ndarray, "m j"]
    core: Float[np.ndarray, "j j"]

    @classmethod
    def nothing(cls, m: int) -> Response:
        """K of which nothing is known."""
        return cls(np.zeros((m, 0)), np.zeros((0, 0)))

    def invert(self, vector: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """(1 - K)^-1 vector, K taken to vanish outside the basis."""
        inside = self.basis.T @ vector
        eye = np.eye(len(self.core))
        return vector + self.basis @ (np.linalg.solve(eye - self.core, inside) - inside)

    def update(
        self, basis: Float[np.ndarray, "m j"], images: Float[np.ndarray, "m j"], most: int = 10
    ) -> Response:
        """K that takes the orthonormal basis to images, and elsewhere is as it was.

        It is remembered on at most so many vectors; nearly dependent ones say nothing new.
        """
        other = self.basis - basis @ (basis.T @ self.basis)
        left, singular, _ = np.linalg.svd(other, full_matrices=False)
        extra = left[:, singular > 1e-3][:, : max(0, most - basis.shape[1])]
        joint = np.column_stack([basis, extra])
        old = self.basis.T @ joint
        core = old.T @ self.core @ old
        new = joint.T @ images
        core[:, : basis.shape[1]] = new
        core[: basis.shape[1]] = new.T
        return Response(joint, 0.5 * (core + core.T))


def respond(
    family: Family,
    resolvent: Float[np.ndarray, "p p"],
    n: int,
    *,
    scale: Float[np.ndarray, " m"],
    right: Float[np.ndarray, " m"],
    near: Response,
    tolerance: float = 1e-5,
) -> tuple[Float[np.ndarray, " m"], Response]:
    """x with (1 - K) x = right, by Galerkin's method, and K on the basis it has built.

    ``scale`` -> c.  Each new vector is the residual, preconditioned by the response at a nearby
    point.  A relative residual of 1e-5 gives errors to 1e-6: linear functionals of Galerkin's
    solution are better than the solution.

    docs/derivations/equivalence.md, eq. (6).
    """
    basis, images = np.zeros((len(scale), 0)), np.zeros((len(scale), 0))
    x, residual = np.zeros_like(right), right
    while np.linalg.norm(residual) > tolerance * np.linalg.norm(right):
        if basis.shape[1] == len(scale):
            size = np.linalg.norm(residual) / np.linalg.norm(right)
            raise NotConvergedError(f"the response at n = {n} is off by {size:.1e}")
        vector = near.invert(residual)
        for _ in range(2):  # twice is enough for orthogonality
            vector -= basis @ (basis.T @ vector)
        vector /= np.linalg.norm(vector)
        # K v = c tr[S Q (sum c v S') Q]/n
        inner = resolvent @ family.combine(scale * vector) @ resolvent
        basis = np.column_stack([basis, vector])
        images = np.column_stack([images, scale * family.traces(inner) / n])
        core = basis.T @ images
        core = 0.5 * (core + core.T)
        coefficients = np.linalg.solve(np.eye(len(core)) - core, basis.T @ right)
        x = basis @ coefficients
        residual = right - x + images @ coefficients
    return x, near.update(basis, images)
