"""Is there more?  Peers on the same held-out rows, and tests of what is left of the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int
from sklearn.base import clone

from giantstep.reports.interval import Folds, Interval, gained
from giantstep.reports.models import BY_NAME, GIANT_STEPS, MODELS
from giantstep.reports.resamples import HeldOut

LEAST = 0.005
"""Share of the label's variance below which a gain is not worth a word: it is rounded to none."""


@dataclass(frozen=True)
class Compared:
    """A model, its score on held-out rows, and what it gains over giant steps, in pairs."""

    name: str
    score: Interval
    gain: Interval | None

    @property
    def explains(self) -> str:
        """Its score in words."""
        return "0 %, it predicts the mean" if self.score.nothing else self.score.percent


@dataclass(frozen=True)
class Left:
    """What boosting predicts of the residuals of held-out rows, as a share of the label."""

    share: Interval

    @property
    def something(self) -> bool:
        """Whether it is beyond its error, and worth a word."""
        return self.share.above_zero and self.share.value > LEAST

    @property
    def sentence(self) -> str:
        if self.something:
            return (
                f"Something is left: trees predict {self.share.percent} of the label from what the "
                "fit has missed, so that jumps or interactions of columns are likely."
            )
        if self.share.above_zero:
            return f"Next to nothing is left: trees predict {self.share.percent} of the label more."
        return (
            "Nothing is left that trees could see at this number of rows: they predict "
            f"{self.share.percent} of the label from the residuals. Below zero they fit noise."
        )


def compare_models(held: HeldOut) -> tuple[Compared, ...]:
    """All models that predicted every fold, giant steps first."""
    return tuple(
        Compared(
            model.name,
            held.score(model.name),
            None if model.name == GIANT_STEPS else held.gain(model.name, GIANT_STEPS),
        )
        for model in MODELS
        if held.complete(model.name)
    )


def best_peer(compared: tuple[Compared, ...], errors: float = 2.4) -> Compared | None:
    """The peer that predicts best, if it is beyond doubt better than giant steps.

    errors -> standard errors that the gain must exceed: 2.4 in place of 1.96 gives three peers 5 %
    of false alarms together.
    """
    better = [
        peer
        for peer in compared
        if peer.gain is not None and peer.gain.value > max(errors * peer.gain.error, LEAST)
    ]
    return max(better, key=lambda peer: peer.score.value, default=None)


def what_is_better(peer: Compared) -> str:
    """What it says of a table that a peer predicts better."""
    return BY_NAME[peer.name].better


def residual_trees(
    held: HeldOut, seed: int = 1, parts: int = 3
) -> tuple[Int[np.ndarray, " n"], Any, list[list[Any]]]:
    """Trees that are fitted to residuals of held-out rows, for each part of the rows without it.

    The part of every row, the preprocessing, and the trees of each part and output.  They are small
    and few, so that they see a weak signal before they learn noise.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    problem = held.problem
    residual = problem.labels.scores - held.predictions()
    front = problem.prepared.front()
    x = front.fit_transform(problem.prepared.rows)
    order = np.random.default_rng(seed).permutation(int(problem.groups.max()) + 1)
    part_of = order[problem.groups] % parts
    trees = HistGradientBoostingRegressor(
        max_iter=50, learning_rate=0.05, max_leaf_nodes=8, random_state=0
    )
    # Of many classes the first ones suffice: shares sum to one.
    outputs = range(min(residual.shape[1], 3))
    fitted = [
        [clone(trees).fit(x[part_of != part], residual[part_of != part, k]) for k in outputs]
        for part in range(parts)
    ]
    return part_of, front, fitted


def residual_test(held: HeldOut) -> Left:
    """What boosting explains of the residuals of rows that neither the fit nor it has seen."""
    problem = held.problem
    part_of, front, fitted = residual_trees(held)
    residual = problem.labels.scores - held.predictions()
    x, after = front.transform(problem.prepared.rows), residual.copy()
    for part, trees in enumerate(fitted):
        for k, each in enumerate(trees):
            after[part_of == part, k] -= each.predict(x[part_of == part])
    losses, others = (np.sum(e**2, axis=1) for e in (after, residual))
    return Left(gained(losses, others, held.totals, problem.groups, Folds(len(fitted))))
