"""What reused batches hand on: transforms of the label, as Hermite series.

From the second step on a sample has felt its own label, and transforms T(y) take the place of y.
All functions of y are limits of sums of its odd and even bounded transforms

    sign(y) cos(pi k F(|y|)), k = 0, 1, ..  and  cos(pi k F(|y|)), k = 1, 2, ..,

F the distribution function of |y|: E[. | y] vanishes if all their means vanish.  Powers of the
label are exact where it is a polynomial, and come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.sampling import (
    hermite_averages,
    sampled_exponents,
    sampled_values,
)
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.symmetry import Symmetry, symmetrise
from giantstep.gaussian.tensors import rank_tolerance, standard_deviation
from giantstep.language.expression import Sum
from giantstep.problem.target import Target

ODD, EVEN = -1, -2
"""Keys of the bounded transforms; a positive key is a power of the label."""

# {1: [f], 2: [f^2], .., ODD: [...], EVEN: [...]}; constant transforms (sign squared) left out.
Labels = Mapping[int, Sequence[HermiteSeries]]


class LabelSource:
    """The label of a target in natural coordinates: its symmetries, series, values, transforms.

    ``highest`` is the highest power of a polynomial label that is tried exactly.  Bounded
    transforms are cosines of the rank up to the frequency ``frequencies``, of each parity.
    """

    def __init__(self, target: Target, highest: int, frequencies: int = 4) -> None:
        self.target, self.highest, self.frequencies = target, highest, frequencies

    @cached_property
    def sample(self) -> tuple[Float[np.ndarray, "s n q"], Float[np.ndarray, "s n"]]:
        """Points and the label there."""
        return sampled_values(self.target, self.target.r)

    @cached_property
    def powers(self) -> dict[int, list[HermiteSeries]]:
        """The label, and its powers where they are exact."""
        listed = {1: [self.target.series]}
        for power in range(2, self.highest + 1):
            series = self.target.label_power(power)
            if series is not None and standard_deviation(series) > rank_tolerance(series):
                listed[power] = [series]
        return listed

    @cached_property
    def is_binary(self) -> bool:
        """Whether the label has two values only: then every transform is affine in it."""
        values = self.sample[1]
        scale = VANISHING * (1e-300 + float(np.ptp(values)))
        steps = np.round((values - values.min()) / scale)
        return bool(np.all((steps == 0.0) | (steps == steps.max())))

    @cached_property
    def transforms(self) -> dict[int, list[HermiteSeries]]:
        """The powers and the bounded transforms; only the label itself where that is all."""
        # Beyond 12 directions a sampled series has degree 1 only: no transforms are sampled.
        if self.highest == 1 or self.target.r > 12 or self.is_binary:
            return dict(self.powers)
        listed = self.powers | _bounded_transforms(self.target, self.frequencies)
        return {key: series for key, series in listed.items() if series}

    def possible(
        self, basis: Float[np.ndarray, "_ r"], transformed: bool
    ) -> Float[np.ndarray, "_ r"]:
        """Directions outside a subspace U that symmetry does not rule out for the next step.

        v(x_U) = E[y x_perp | x_U] satisfies v = chi g v for every symmetry g that fixes U; a
        transform of the label keeps only those with chi = 1.  Polynomial terms of the label itself
        are exact and need no symmetry: they are left out.
        """
        r = self.target.r
        if len(basis) == r:
            return np.zeros((0, r))
        left = _unbroken(self.target.symmetries, basis, transformed)
        if transformed or self._summands is None:
            return left
        # v is the sum of those of the summands, each with symmetries of its own.
        parts = [_unbroken(symmetries, basis, False) for symmetries in self._summands]
        joined = np.concatenate([np.zeros((1, r)), *parts])
        _, sizes, rows = np.linalg.svd(joined, full_matrices=False)
        together = rows[sizes > VANISHING]
        missing = 2.0 * np.eye(r) - left.T @ left - together.T @ together
        values, vectors = np.linalg.eigh(missing)
        return vectors[:, values < VANISHING].T

    @cached_property
    def _summands(self) -> list[tuple[Symmetry, ...]] | None:
        """The symmetries of each term of a sum that is no polynomial; None without such a sum."""
        node, r = self.target.expression, self.target.r
        # They are looked for term by term, some milliseconds each.
        most = 16
        if not isinstance(node, Sum) or len(node.terms) > most:
            return None
        terms = [Target("", r, term) for term in node.terms]
        return [term.symmetries for term in terms if not term.is_polynomial]


@lru_cache(maxsize=2)
def _bounded_transforms(target: Target, frequencies: int) -> dict[int, list[HermiteSeries]]:
    """Cosines of the rank, odd and even; kept, for the staircase and the exponents ask for them."""
    points, y = sampled_values(target, target.r)
    ranks = _ranks(y)
    waves = [np.cos(np.pi * k * ranks) for k in range(frequencies + 1)]
    odd, even = [np.sign(y) * wave for wave in waves[:frequencies]], waves[1:]
    symmetries = target.symmetries
    exponents = sampled_exponents(target.r, [s for s in symmetries if s.chi == 1])
    averages = hermite_averages(points, np.array([*odd, *even]), exponents)
    unsigned = [replace(symmetry, chi=1) for symmetry in symmetries]
    return {
        key: [
            _series(transformed, HermiteSeries(exponents, mean.mean(axis=0), replicates=mean), kept)
            for transformed, mean in zip(values, means, strict=True)
            if np.std(transformed) > VANISHING
        ]
        for key, values, means, kept in (
            (ODD, odd, averages[: len(odd)], symmetries),
            (EVEN, even, averages[len(odd) :], unsigned),
        )
    }


def _ranks(y: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "s n"]:
    """F(|y|) at every point: mid-ranks of |y|, equal values sharing theirs."""
    size = np.abs(y)
    _, at, count = np.unique(
        np.round(size / (VANISHING * size.max())), return_inverse=True, return_counts=True
    )
    middle = (np.cumsum(count) - 0.5 * count) / y.size
    return middle[at].reshape(y.shape)


def _series(
    values: Float[np.ndarray, "s n"], series: HermiteSeries, symmetries: Sequence[Symmetry]
) -> HermiteSeries:
    """The sampled series of a transform, with its symmetries and what it leaves of the square."""
    symmetric = symmetrise(series, symmetries)
    held = float(np.sum(symmetric.coefficients**2))
    return replace(symmetric, tail=max(0.0, float(np.mean(values**2)) - held))


def _unbroken(
    symmetries: Sequence[Symmetry], basis: Float[np.ndarray, "_ r"], transformed: bool
) -> Float[np.ndarray, "_ r"]:
    """Directions v outside U with v = chi g v for every symmetry g that fixes U."""
    r = basis.shape[1]
    chosen = [each for each in symmetries if each.chi == 1 or not transformed]
    orders = np.array([each.order for each in chosen], dtype=int).reshape(-1, r)
    signs = np.array([each.flips for each in chosen], dtype=float).reshape(-1, r)
    chi = np.array([float(each.chi) for each in chosen])
    # (g u)_j = flips_j u_(order_j) for every u of the basis, one symmetry after the other.
    fixes = np.array(
        [
            np.all(np.abs(basis[:, order] * sign - basis) < VANISHING)
            for order, sign in zip(orders, signs, strict=True)
        ],
        dtype=bool,
    )
    # The kernel of every chi g - 1 is that of the sum of their squares, 2 - chi (g + g^T).
    conditions = basis.T @ basis + 2.0 * np.sum(fixes) * np.eye(r)
    rows = np.broadcast_to(np.arange(r), orders.shape)[fixes]
    turned = np.zeros((r, r))
    np.add.at(turned, (rows, orders[fixes]), chi[fixes, None] * signs[fixes])
    values, vectors = np.linalg.eigh(conditions - turned - turned.T)
    return vectors[:, values < VANISHING].T
