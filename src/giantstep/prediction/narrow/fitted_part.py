"""The part of labels that deflation fits and removes, by its coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class FittedPart:
    """The polynomial mean + <beta, x> + (<x, A x> - tr A)/2 in the first coordinates of a sample.

    ``outside`` is the length of beta along directions that are no coordinates.
    """

    mean: float
    beta: Float[np.ndarray, " q"]
    outside: float = 0.0
    quadratic: Float[np.ndarray, "q q"] | None = None

    @classmethod
    def of(
        cls, labels: Float[np.ndarray, " n"], x: Float[np.ndarray, "n q"], degree: int
    ) -> FittedPart:
        """The fit of a degree to labels: mean, mean of (y - mean) x, mean of (y - mean) x x^T."""
        mean = float(labels.mean()) if degree >= 0 else 0.0
        centred = (labels - mean).astype(x.dtype)
        beta = centred @ x / len(x) if degree >= 1 else np.zeros(x.shape[1], dtype=x.dtype)
        quadratic = (x * centred[:, None]).T @ x / len(x) if degree == 2 else None
        return cls(mean, beta, quadratic=quadratic)

    def at(self, x: Float[np.ndarray, "n q"]) -> Float[np.ndarray, " n"]:
        """Its values on samples, whose first coordinates are those of the fit."""
        known = x[:, : len(self.beta)]
        values = self.mean + known @ self.beta
        if self.quadratic is None:
            return values
        squares = np.einsum("nk,nk->n", known @ self.quadratic, known)
        return values + 0.5 * (squares - np.trace(self.quadratic))
