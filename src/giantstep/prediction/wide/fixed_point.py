"""The fixed point of ridge on the features after giant steps, and its derivatives: no W needed.

Given kappa = <v, x> along the learned direction and the radius of x outside it, features behave as
mu0 + parts mu_k of degree k = 1, 2, each in a space of its own dimension D_k, + noise of covariance
S; o = weight/(1 + V) on the nodes and the resolvent Q of each type of neuron solve

    Q^-1 = lambda + sum_m o_m S_m + sum_k mu_k^T D Z_k mu_k,   Z_k = (1 + A_k D)^-1,  D = diag(o),
    V_m  = sum_k (D_k/n) [Z_k A_k]_mm + (groups/n) sum_t p_t tr(Q_t S_tm),

A_k = (groups/D_k) sum_t p_t mu_k Q_t mu_k^T (giantstep.prediction.wide.blocks).
They are the stationary points of one function of (o, Q), whose Hessian serves Newton's method
here and every derivative later.  lambda = ridge / s_p^2 is the penalty for output scale one.  See
docs/derivations/closed_system.md and quadratic.md; arXiv 2310.07891 has the features in powers of
the step size, arXiv 2402.04980 and 2410.18938 the ridge on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Inexact

from giantstep.prediction.wide.blocks import Screen
from giantstep.prediction.wide.system import ClosedSystem

# On the positive axis for ridge, -z for the spectrum.
Penalty = float | complex


@dataclass(frozen=True)
class Point:
    """Values of o/weight = 1/(1+V) and Q, not necessarily a solution; complex off the axis.

    docs/derivations/closed_system.md, eqs. (11) and (12).
    """

    system: ClosedSystem
    penalty: Penalty
    damping: Inexact[np.ndarray, " m"]
    resolvent: Inexact[np.ndarray, "t b b"]
    iterations: int = 0

    @cached_property
    def weighted(self) -> Inexact[np.ndarray, " m"]:
        """o, the diagonal of D."""
        return self.system.weights * self.damping

    @cached_property
    def counted(self) -> Inexact[np.ndarray, "t b b"]:
        """Q of a type times its number of groups."""
        return self.system.neurons[:, None, None] * self.resolvent

    @cached_property
    def screen(self) -> Screen:
        """The blocks seen through o and Q."""
        return Screen(self.system.stack, self.weighted, self.counted)

    @cached_property
    def variance(self) -> Inexact[np.ndarray, " m"]:
        """V on the nodes."""
        noise = self.system.noise
        bulk = noise.reshape(len(noise), -1) @ self.counted.ravel()
        return (self.screen.variance + bulk) / self.system.n

    @cached_property
    def inverse(self) -> Inexact[np.ndarray, "t b b"]:
        """What Q^-1 should be."""
        system, o = self.system, self.weighted
        noise = (o @ system.noise.reshape(len(o), -1)).reshape(self.resolvent.shape)
        return noise + self.screen.inverse + self.penalty * np.eye(noise.shape[-1])

    @cached_property
    def gaps(self) -> tuple[Inexact[np.ndarray, " m"], Inexact[np.ndarray, "t b b"]]:
        """1 + V - 1/damping and Q^-1 as it should be less what it is: zero at a solution."""
        return 1.0 + self.variance - 1.0 / self.damping, self.inverse - np.linalg.inv(
            self.resolvent
        )

    @cached_property
    def residual(self) -> float:
        """Largest relative error of the equations."""
        first, second = self.gaps
        relative = np.abs(self.resolvent @ second)
        return float(max(np.max(np.abs(first * self.damping)), np.max(relative)))

    @cached_property
    def jacobian(self) -> Inexact[np.ndarray, "x x"]:
        """Derivatives of the gaps with respect to (damping, coordinates of Q).

        The gaps are the derivatives of one function of (o, Q), up to the factors n w_m and the
        number of groups of a type: both mixed blocks hold ``_mixed``.
        """
        system, mixed = self.system, self._mixed
        nodes, count = len(mixed), mixed[0].size
        right = mixed * system.neurons[:, None] / system.n
        left = mixed * system.weights[:, None, None]
        lower = self._resolvent_by_resolvent
        return np.block(
            [
                [self._damping_by_damping, right.reshape(nodes, count)],
                [left.reshape(nodes, count).T, lower.reshape(count, count)],
            ]
        )

    @property
    def _damping_by_damping(self) -> Inexact[np.ndarray, "m m"]:
        """d(1 + V_m - 1/damping_m)/d damping_m'."""
        system = self.system
        seen = self.screen.variance_by_weight
        return np.diag(1.0 / self.damping**2) - seen * system.weights / system.n

    @property
    def _mixed(self) -> Inexact[np.ndarray, "m t e"]:
        """d(Q_t^-1)/do_m = S_tm + the blocks' parts, along each symmetric matrix."""
        seen = self.screen.inverse_by_weight + self.system.noise
        return np.einsum("mtbc,ecb->mte", seen, self.system.symmetric)

    @property
    def _resolvent_by_resolvent(self) -> Inexact[np.ndarray, "t e u f"]:
        """d(Q_t^-1 as it should be, less as it is)/dQ_u along pairs of symmetric matrices.

        What should be comes from the blocks; what is, tr(Q^-1 E Q^-1 F), is of each type alone.
        """
        system, basis = self.system, self.system.symmetric
        derivative = -self.screen.inverse_by_resolvent(basis) * system.neurons[:, None]
        inverted = basis @ np.linalg.inv(self.resolvent)[:, None]
        each = np.arange(len(system.neurons))
        derivative[each, :, each, :] += np.einsum("tebp,tfpb->tef", inverted, inverted)
        return derivative

    def direction(
        self, first: Inexact[np.ndarray, " m"], second: Inexact[np.ndarray, "t b b"]
    ) -> tuple[Inexact[np.ndarray, " m"], Inexact[np.ndarray, "t b b"]]:
        """(d damping, dQ) for which the gaps change by (first, second)."""
        basis = self.system.symmetric
        right = np.concatenate([first, np.einsum("tbc,ecb->te", second, basis).ravel()])
        # Solved for relative changes: near interpolation damping and Q differ by powers of ten.
        sizes = np.max(np.abs(self.resolvent), axis=(1, 2))
        scale = np.concatenate([np.abs(self.damping), np.repeat(sizes, len(basis))])
        change = scale * np.linalg.solve(scale[:, None] * self.jacobian * scale, scale * right)
        nodes = len(self.damping)
        entries = change[nodes:].reshape(-1, len(basis))
        return change[:nodes], np.einsum("te,ebc->tbc", entries, basis)

    def moved(
        self,
        damping: Inexact[np.ndarray, " m"],
        resolvent: Inexact[np.ndarray, "t b b"],
        largest: float = 3.0,
    ) -> Point:
        """The point after small changes, taken as factors exp(change/value): signs are kept.

        Damping c and Q/c solve the equations for any c in the limit lambda = 0, n = p; factors
        follow that curve where sums would leave it.  No factor is beyond exp(+-``largest``):
        tangents reach no farther.
        """
        first = damping / self.damping
        second = np.linalg.solve(self.resolvent, resolvent)
        size = max(float(np.max(np.abs(first))), float(np.max(np.abs(second))))
        share = min(1.0, largest / size) if size > 0 else 1.0
        return replace(
            self,
            damping=self.damping * np.exp(share * first),
            resolvent=self.resolvent @ exponential(share * second),
            iterations=self.iterations + 1,
        )

    def toward(self, system: ClosedSystem, penalty: Penalty) -> Point:
        """A first guess at another penalty: powers of the penalty with their exponents here."""
        change = np.log(penalty / self.penalty) * self.penalty
        damping, resolvent = self.per_penalty
        guess = self.moved(change * damping, change * resolvent)
        return Point(system, penalty, guess.damping, resolvent=guess.resolvent)

    @cached_property
    def per_penalty(self) -> tuple[Inexact[np.ndarray, " m"], Inexact[np.ndarray, "t b b"]]:
        """d(damping, Q)/d lambda at a solution."""
        unit = np.broadcast_to(np.eye(self.resolvent.shape[-1]), self.resolvent.shape)
        return self.direction(np.zeros_like(self.damping), -unit)


def exponential(matrix: Inexact[np.ndarray, "t b b"]) -> Inexact[np.ndarray, "t b b"]:
    """exp of matrices of size 1 or 2: e^m (cosh r + (sinh r / r) N), M = m + N, N^2 = r^2."""
    size = matrix.shape[-1]
    middle = np.trace(matrix, axis1=1, axis2=2)[:, None, None] / size
    traceless = matrix - middle * np.eye(size)
    square = 0.5 * np.trace(traceless @ traceless, axis1=1, axis2=2)[:, None, None]
    # Real only for products of symmetric matrices, where r^2 >= 0 up to rounding.
    root = np.sqrt(square if np.iscomplexobj(square) else np.maximum(square, 0.0))
    safe = np.where(root == 0, 1.0, root)
    ratio = np.where(root == 0, 1.0, np.sinh(safe) / safe)
    return np.exp(middle) * (np.cosh(root) * np.eye(size) + ratio * traceless)
