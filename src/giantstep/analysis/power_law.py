"""One-pass SGD on power-law random features: its mean loss, and the exponents of its phases.

The model of arXiv 2405.15074: inputs x_j = j^-alpha z_j with z ~ N(0, I_v), labels <x, b> with
b_j = j^-beta, features W^T x with a fixed Gaussian matrix W, entries N(0, 1/d).  SGD trains the
weights theta of the features on fresh batches, from zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import SupportsFloat

import numpy as np
from jaxtyping import Float

from giantstep.errors import DivergenceError, InputError, shown
from giantstep.gaussian.accuracy import EPSILON


@dataclass(frozen=True)
class PowerLawFeatures:
    """The modes of one draw of W: eigenvalues of D^(1/2) W W^T D^(1/2), and the label in them.

    D = diag(j^-2alpha).  ``squares`` are the squared components of D^(1/2) b along the d
    eigenvectors, ``floor`` the rest: the loss that no theta goes below.  ``modes`` is how many
    modes each eigenvalue stands for: one in a draw, any positive number in a density.

    docs/derivations/scaling.md, section 3.
    """

    alpha: float
    beta: float
    eigenvalues: Float[np.ndarray, " d"]
    squares: Float[np.ndarray, " d"]
    floor: float
    modes: Float[np.ndarray, " d"]

    @property
    def d(self) -> int:
        return round(float(np.sum(self.modes)))

    def mean_losses(
        self,
        steps: Sequence[SupportsFloat] | Float[np.ndarray, " t"],
        step_size: float,
        batch: int = 1,
        noise: float = 0.0,
    ) -> Float[np.ndarray, " t"]:
        """Mean of E (<W^T x, theta> - <x, b>)^2 over the samples, after numbers of steps: exact.

        m_j' = (1 - 2 g B l_j + g^2 B (B + 1) l_j^2) m_j + g^2 B l_j^2 (sum m + floor + noise^2),
        docs/derivations/scaling.md, eq. (5).  step_size -> g, batch -> B, eigenvalues -> l, and m_j
        is the mean squared error along mode j.  The step adds up the gradients of a batch.
        """
        times = np.array(steps, dtype=float)[:, None]
        if not np.all(times >= 0.0):
            raise InputError(f"steps must be at least 0, got {np.min(times):g}")
        if not 0.0 < step_size < math.inf:
            raise InputError(f"step_size must be positive, got {step_size:g}")
        if batch < 1:
            raise InputError(f"batch must be at least 1, got {batch}")
        g, size, values = step_size, batch, self.eigenvalues
        kept = (1.0 - g * size * values) ** 2 + g**2 * size * values**2
        pushed = g**2 * size
        # In m_j / l_j, over the root of the modes at l_j, the recursion is a symmetric matrix, a
        # diagonal and one rank more.
        scale = values * np.sqrt(self.modes)
        matrix = np.diag(kept) + pushed * np.outer(scale, scale)
        factors, vectors = np.linalg.eigh(matrix)
        if factors[-1] >= 1.0 + self.d * EPSILON:
            raise DivergenceError(
                f"step_size {step_size:g} lets the mean loss grow: each step multiplies it by "
                f"{factors[-1]:.4g}"
            )
        if factors[-1] >= 1.0:
            raise InputError(
                "step_size must be so large that a step moves every mode by more than rounding, "
                f"got {step_size:g}"
            )
        constant = vectors.T @ (pushed * scale * (self.floor + noise**2)) / (1.0 - factors)
        moving = vectors.T @ (self.squares / scale) - constant
        along = vectors.T @ scale
        # Modes with a factor that rounding makes negative have died out after one step.
        powers = np.maximum(factors, 0.0) ** times
        return self.floor + (constant + powers * moving) @ along


def checked(alpha: float, beta: float, d: int, inputs: int) -> None:
    """Refuse exponents and sizes that the model of power-law random features does not have."""
    for name, size in (("d", d), ("inputs", inputs)):
        if isinstance(size, bool) or not isinstance(size, Integral):
            raise InputError(f"{name} must be a whole number, got {shown(size)}")
    if not 1 <= d < inputs:
        raise InputError(f"d must be between 1 and inputs - 1, got {shown(d)} of {shown(inputs)}")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not (isinstance(value, Real) and 0.0 <= value < math.inf):
            raise InputError(f"{name} must be at least 0, got {shown(value)}")


def power_law_features(
    alpha: float, beta: float, d: int, inputs: int, seed: int = 0
) -> PowerLawFeatures:
    """The modes of a draw of W with d features of ``inputs`` coordinates.

    Fewer features of as many inputs and the same seed are a part of more.  The model is that of
    arXiv 2405.15074, docs/derivations/scaling.md, section 3.

    >>> from giantstep import power_law_features
    >>> power_law_features(1.0, 0.8, d=20, inputs=100).d
    20
    """
    checked(alpha, beta, d, inputs)
    axis = np.arange(1.0, inputs + 1.0)
    variances = axis ** (-2.0 * alpha)
    weights = np.random.default_rng(seed).standard_normal((d, inputs)).T / math.sqrt(d)
    covariance = (weights.T * variances) @ weights
    eigenvalues, vectors = np.linalg.eigh(covariance)
    if eigenvalues[0] <= d * EPSILON * eigenvalues[-1]:
        raise InputError(
            f"alpha must be so small that {d} modes differ by less than rounding, got {alpha:g}"
        )
    label = weights.T @ (variances * axis**-beta)
    squares = (vectors.T @ label) ** 2 / eigenvalues
    power = float(np.sum(variances * axis ** (-2.0 * beta)))
    floor = power - float(squares.sum())
    return PowerLawFeatures(alpha, beta, eigenvalues, squares, floor, np.ones(d))


@dataclass(frozen=True)
class PowerLawPhase:
    """A phase of arXiv 2405.15074 above the line 2 alpha = 1: what the loss is made of, and when.

    ``early`` and ``late`` are exponents of the loss in the number of steps, before and after the
    steps reach d^``crossing``; ``late`` is None where the loss goes over into its floor there.
    ``floor`` is the exponent of the last loss in d.  At a compute of f = steps times d the best
    size grows as f^``size``, and the loss falls as f^``compute``.
    """

    name: str
    early: float
    late: float | None
    crossing: float
    floor: float

    @property
    def size(self) -> float:
        """Exponent of the best number of features in the compute: d^(1 + crossing) = f."""
        return 1.0 / (1.0 + self.crossing)

    @property
    def compute(self) -> float:
        """Exponent of the best loss in the compute: that of steps^early at the crossing."""
        return self.early * self.crossing * self.size


def power_law_phase(alpha: float, beta: float) -> PowerLawPhase:
    """The phase of the two exponents: Ia, II or III of arXiv 2405.15074, derived anew.

    The exponents balance the terms of the loss, docs/derivations/scaling.md, section 4.
    The loss is of the order of F_pp + F_ac + F_0 + K_pp/(g B), with t = g B steps:
    F_pp = t^-(1 + beta/alpha - 1/(2 alpha)), F_ac = t^-(1 - 1/(2 alpha))/d where 2 beta > 1,
    K_pp = t^-(2 - 1/(2 alpha)), F_0 = d^-(2 alpha - max(0, 1 - 2 beta)).

    >>> from giantstep import power_law_phase
    >>> power_law_phase(0.7, 1.2).name, round(power_law_phase(0.7, 1.2).compute, 3)
    ('III', -0.643)
    """
    if not 0.5 < alpha < math.inf or not 0.0 <= beta < math.inf or beta in (0.5, alpha):
        raise InputError(
            "alpha must be above 1/2, beta at least 0 and neither 1/2 nor alpha, "
            f"got {alpha:g} and {beta:g}"
        )
    embedded = -(1.0 - 0.5 / alpha)
    signal = embedded - beta / alpha
    floor = -2.0 * alpha + max(0.0, 1.0 - 2.0 * beta)
    if 2.0 * beta < 1.0:
        return PowerLawPhase("Ia", signal, None, 2.0 * alpha, floor)
    if beta < alpha:
        return PowerLawPhase("II", signal, embedded, alpha / beta, floor)
    return PowerLawPhase("III", embedded - 1.0, embedded, 1.0, floor)
