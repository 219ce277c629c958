"""Thousands of small steps: the recursion y' = y + f(y) over N steps at three evaluations of f.

A Runge-Kutta method whose order conditions are those of the recursion, not of its limit: with
e = 1/N, weights b, places c and the one inner weight a of the third stage,

    sum b = 1,  b.c = (1 - e)/2,  b.c^2 = (1 - e)(2 - e)/6,  b_3 a c_2 = (1 - e)(1 - 2 e)/6,

the sums over steps where a differential equation has integrals.  It is of third order in the
change of f over a group, whatever the change in one step, and becomes Bogacki and Shampine's method
as N grows (docs/derivations/long_runs.md, eq. (2); multirevolution methods: Calvo, Montijano,
Randez).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from jaxtyping import Float, Int

States = Float[np.ndarray, "k m"]
Increment = Callable[[States, int, int], States]
"""f(y, step, group): what step ``step`` adds to the states; a group has points of its own."""


@dataclass(frozen=True)
class Group:
    """Steps ``begin`` to ``end``: states and increments at either end.

    ``slope_after`` is None after a single step, which has nothing inside.
    """

    begin: int
    end: int
    before: States
    after: States
    slope: States
    slope_after: States | None

    def at(self, steps: Int[np.ndarray, " t"]) -> Float[np.ndarray, "t k m"]:
        """The states after so many steps: the cubic through both ends and the steps after them.

        y + j f + j (j - 1) (u + v (j - N)) at j = step - begin.
        """
        size = self.end - self.begin
        j = (steps - self.begin)[:, None, None]
        if self.slope_after is None:
            return np.where(j > 0, self.after, self.before)
        u = (self.after - self.before - size * self.slope) / (size * (size - 1))
        v = (self.slope_after - self.slope - 2 * size * u) / (size * (size + 1))
        return self.before + j * self.slope + j * (j - 1) * (u + v * (j - size))


def stage_weights(size: int) -> tuple[Float[np.ndarray, " s"], float, float, float]:
    """b, c_2, c_3 and a of a group of so many steps.

    docs/derivations/long_runs.md, eq. (2).
    """
    e = 1.0 / size
    second, third = 0.5 * (1.0 - e), 0.75 * (1.0 - e)
    # b_2/2 + 3 b_3/4 = 1/2 and b_2/4 + 9 b_3/16 = (2 - e)/(6 (1 - e)).
    last = ((2.0 - e) / (6.0 * (1.0 - e)) - 0.25) * 16.0 / 3.0
    middle = 1.0 - 1.5 * last
    return np.array([1.0 - middle - last, middle, last]), second, third, (1 - 2 * e) / (3 * last)


def groups(
    increment: Increment,
    state: States,
    step_sizes: tuple[float, ...],
    *,
    scale: Callable[[States], States],
    tolerance: float,
    fewest: int = 4,
    still: float = 1e-9,
) -> Iterator[Group]:
    """All steps in groups whose error is at most ``tolerance`` times ``scale(state)``, each entry.

    A group has steps of one size.  The error is the change from the method of second order.
    ``fewest`` -> steps of a group at least: fewer are taken one by one, exactly and at no more
    evaluations, and the next proposal is half as long again, until groups are tried again.
    ``still`` -> change in all the steps that are left, by their first, below which nothing moves
    any more: no start is so close to a state it leaves.

    docs/derivations/long_runs.md, eq. (2).
    """
    begin, number, proposal = 0, 0, float(fewest)
    for _, alike in groupby(step_sizes):
        end = begin + sum(1 for _ in alike)
        slope = increment(state, begin, number)
        while begin < end:
            left = end - begin
            size = int(min(proposal, left))
            if left > 1 and np.max(np.abs(slope) / scale(state)) * left < still:
                size, after = left, state
            elif size < fewest:
                size, after, proposal = 1, state + slope, max(1.5 * proposal, 1.0)
            else:
                after, error = _group(increment, state, slope, begin=begin, size=size, group=number)
                share = float(np.max(np.abs(error) / scale(state))) / tolerance
                proposal = size * _growth(share)
                if not share <= 1.0:
                    continue
            number += 1
            inside = size > 1
            last = begin + size == end
            following = increment(after, begin, number) if inside or not last else None
            yield Group(begin, begin + size, state, after, slope, following if inside else None)
            begin, state = begin + size, after
            if following is not None:
                slope = following


def _growth(share: float, *, safety: float = 0.85, least: float = 0.2, most: float = 4.0) -> float:
    """By how much the next group may be longer, if one had so much of the tolerated error.

    The usual prudence of a controller: the next comes close to the tolerance, by ``safety``, and is
    neither much longer nor much shorter.  NaN, from a stage outside the domain, is too long a group
    as well.
    """
    growth = safety * max(share, 1e-9) ** (-1 / 3) if share < np.inf else 0.0
    return min(max(growth, least), most)


def _group(
    increment: Increment, state: States, slope: States, *, begin: int, size: int, group: int
) -> tuple[States, States]:
    """The state after a group, and its change from the method of second order, y + N f(stage 2)."""
    weights, second, third, inner = stage_weights(size)
    two = increment(state + second * size * slope, begin, group)
    three = increment(state + size * ((third - inner) * slope + inner * two), begin, group)
    moved = size * (weights[0] * slope + weights[1] * two + weights[2] * three)
    return state + moved, moved - size * two
