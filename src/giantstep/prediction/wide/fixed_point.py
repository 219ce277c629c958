"""Ridge on the features of one giant step at linear width, in closed form: no W is needed.

Given kappa = <v, x> along the learned direction, features behave as mu0 + mu1 <omega, x> + noise
of covariance S; o = weight(kappa)/(1 + V(kappa)) and the resolvent Q of each type of neuron solve

    Q^-1 = lambda + sum_m o_m S_m + sum_j mu1_j^T D Z mu1_j,     Z = (1 + A D)^-1,  D = diag(o),
    V_m  = (d/n) [Z A]_mm + (groups/n) sum_t p_t tr(Q_t S_tm),   A = (groups/d) sum p mu1 Q mu1^T.

They are the stationary points of one function of (o, Q), whose Hessian serves Newton's method
here and every derivative later.  lambda = ridge / s_p^2 is the penalty for output scale one.  See
docs/derivations/closed_system.md; arXiv 2310.07891 has the features in powers of the step size,
arXiv 2402.04980 and 2410.18938 the ridge on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Inexact

from giantstep.prediction.wide.system import ClosedSystem

# On the positive axis for ridge, -z for the spectrum.
Penalty = float | complex

LARGEST_FACTOR = 3.0
"""Damping and Q change at most by exp of this in one step: tangents reach no farther."""


@dataclass(frozen=True)
class Point:
    """Values of o/weight = 1/(1+V) and Q, not necessarily a solution; complex off the axis."""

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
    def linear(self) -> Inexact[np.ndarray, "m m"]:
        """A = (groups/d) sum_t p_t sum_j mu1_j Q mu1_j^T."""
        return spread_over(self.system.slopes, self.counted) / self.system.d

    @cached_property
    def screen(self) -> Inexact[np.ndarray, "m m"]:
        """Z = (1 + A D)^-1."""
        return np.linalg.inv(np.eye(len(self.weighted)) + self.linear * self.weighted)

    @cached_property
    def screened(self) -> Inexact[np.ndarray, "m t j b"]:
        """Z mu1."""
        slopes = self.system.slopes
        return (self.screen @ slopes.reshape(len(slopes), -1)).reshape(slopes.shape)

    @cached_property
    def variance(self) -> Inexact[np.ndarray, " m"]:
        """V on the nodes."""
        rest = self.system.rest
        bulk = rest.reshape(len(rest), -1) @ self.counted.ravel()
        own = np.einsum("mk,km->m", self.screen, self.linear)
        return (self.system.d * own + bulk) / self.system.n

    @cached_property
    def inverse(self) -> Inexact[np.ndarray, "t b b"]:
        """What Q^-1 should be."""
        system, o = self.system, self.weighted
        own = (o @ system.rest.reshape(len(o), -1)).reshape(self.resolvent.shape)
        drawn = o[:, None, None, None] * system.slopes
        linear = np.einsum("mtjb,mtjc->tbc", drawn, self.screened)
        return own + linear + self.penalty * np.eye(own.shape[-1])

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
        """Derivatives of the gaps with respect to (damping, coordinates of Q)."""
        system, basis = self.system, self.system.symmetric
        moved = np.einsum("mtjb,mtjc->mtbc", self.screened, self.screened) + system.rest
        cross = np.einsum("mtbc,ecb->mte", moved, basis)
        nodes, types, kinds = cross.shape
        total = self.screen @ self.linear
        upper = np.diag(1.0 / self.damping**2) - system.d / system.n * total**2 * system.weights
        right = cross * system.neurons[:, None] / system.n
        left = cross * system.weights[:, None, None]
        flat = system.slopes.reshape(nodes, -1)
        gram = (flat * self.weighted[:, None]).T @ self.screened.reshape(nodes, -1)
        gram = gram.reshape(2 * system.slopes.shape[1:])
        if kinds == 1:
            lower = -np.sum(gram**2, axis=(1, 2, 4, 5))[:, None, :, None]
        else:
            turned = np.einsum("ebc,tjculp->tuejblp", basis, gram)
            back = np.einsum("tjbulq,fpq->tufjblp", gram, basis)
            shape = (types, types, kinds, -1)
            lower = -turned.reshape(shape) @ back.reshape(shape).swapaxes(2, 3)
            lower = lower.swapaxes(1, 2)
        lower = lower * system.neurons[:, None] / system.d
        own = np.linalg.inv(self.resolvent)
        turned = basis @ own[:, None]
        each = np.einsum("tebp,tfpb->tef", turned, turned)
        index = np.arange(types)
        lower[index, :, index, :] += each
        count = types * kinds
        return np.block(
            [
                [upper, right.reshape(nodes, count)],
                [left.reshape(nodes, count).T, lower.reshape(count, count)],
            ]
        )

    def direction(
        self, first: Inexact[np.ndarray, " m"], second: Inexact[np.ndarray, "t b b"]
    ) -> tuple[Inexact[np.ndarray, " m"], Inexact[np.ndarray, "t b b"]]:
        """(d damping, dQ) for which the gaps change by (first, second)."""
        basis = self.system.symmetric
        right = np.concatenate([first, np.einsum("tbc,ecb->te", second, basis).ravel()])
        # Solved for relative changes: near interpolation damping and Q differ by powers of ten.
        sizes = np.max(np.abs(self.resolvent), axis=(1, 2))
        scale = np.concatenate([np.abs(self.damping), np.repeat(sizes, len(basis))])
        found = scale * np.linalg.solve(scale[:, None] * self.jacobian * scale, scale * right)
        nodes = len(self.damping)
        entries = found[nodes:].reshape(-1, len(basis))
        return found[:nodes], np.einsum("te,ebc->tbc", entries, basis)

    def moved(
        self, damping: Inexact[np.ndarray, " m"], resolvent: Inexact[np.ndarray, "t b b"]
    ) -> Point:
        """The point after small changes, taken as factors exp(change/value): signs are kept.

        Damping c and Q/c solve the equations for any c in the limit lambda = 0, n = p; factors
        follow that curve where sums would leave it.
        """
        first = damping / self.damping
        second = np.linalg.solve(self.resolvent, resolvent)
        size = max(float(np.max(np.abs(first))), float(np.max(np.abs(second))))
        share = min(1.0, LARGEST_FACTOR / size) if size > 0 else 1.0
        return replace(
            self,
            damping=self.damping * np.exp(share * first),
            resolvent=self.resolvent @ exponential(share * second),
            iterations=self.iterations + 1,
        )

    def toward(self, system: ClosedSystem, penalty: Penalty) -> Point:
        """A first guess at another penalty: powers of the penalty with their exponents here."""
        change = np.log(penalty / self.penalty) * self.penalty
        damping, resolvent = self.per_penalty()
        found = self.moved(change * damping, change * resolvent)
        return Point(system, penalty, found.damping, found.resolvent)

    def per_penalty(self) -> tuple[Inexact[np.ndarray, " m"], Inexact[np.ndarray, "t b b"]]:
        """d(damping, Q)/d lambda at a solution."""
        unit = np.broadcast_to(np.eye(self.resolvent.shape[-1]), self.resolvent.shape)
        return self.direction(np.zeros_like(self.damping), -unit)


def exponential(matrix: Inexact[np.ndarray, "t b b"]) -> Inexact[np.ndarray, "t b b"]:
    """exp of matrices of size 1 or 2: e^m (cosh r + (sinh r / r) N), M = m + N, N^2 = r^2."""
    size = matrix.shape[-1]
    middle = np.trace(matrix, axis1=1, axis2=2)[:, None, None] / size
    rest = matrix - middle * np.eye(size)
    square = 0.5 * np.trace(rest @ rest, axis1=1, axis2=2)[:, None, None]
    # Real only for products of symmetric matrices, where r^2 >= 0 up to rounding.
    root = np.sqrt(square if np.iscomplexobj(square) else np.maximum(square, 0.0))
    safe = np.where(root == 0, 1.0, root)
    ratio = np.where(root == 0, 1.0, np.sinh(safe) / safe)
    return np.exp(middle) * (np.cosh(root) * np.eye(size) + ratio * rest)


def spread_over(
    moments: Float[np.ndarray, "m t *j b"], counted: Inexact[np.ndarray, "t b b"]
) -> Inexact[np.ndarray, "m m"]:
    """sum_t sum_j mu_tj Q_t mu_tj^T over the types, on pairs of nodes."""
    full = moments if moments.ndim == 4 else moments[:, :, None, :]
    turned = np.einsum("mtjb,tbc->mtjc", full, counted)
    return turned.reshape(len(full), -1) @ full.reshape(len(full), -1).T
