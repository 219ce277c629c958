"""Is there more?  Peers on the same held-out rows, and tests of what is left of the label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.reports.interval import Interval, gained
from giantstep.reports.models import BY_NAME, GIANT_STEPS, MODELS
from giantstep.reports.resamples import HeldOut


@dataclass(frozen=True)
class Compared:
    """A model, its score on held-out rows, and what it gains over giant steps, in pairs."""

    name: str
    score: Interval
    gain: Interval | None


@dataclass(frozen=True)
class Left:
    """What boosting predicts of the residuals of held-out rows, as a share of the label."""

    share: Interval

    @property
    def something(self) -> bool:
        return self.share.above_zero

    @property
    def sentence(self) -> str:
        if self.something:
            return (
                f"Something is left: trees predict {self.share.percent} of the label from what the "
                "fit has missed, so that jumps or interactions of columns are likely."
            )
        return (
            "Nothing is left that trees could see at this number of rows: they predict "
            f"{self.share.percent} of the label from the residuals."
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
        if peer.gain is not None and peer.gain.value > errors * peer.gain.error
    ]
    return max(better, key=lambda peer: peer.score.value, default=None)


def what_is_better(peer: Compared) -> str:
    """What it says of a table that a peer predicts better."""
    return BY_NAME[peer.name].better


def residual_test(held: HeldOut, seed: int = 1) -> Left:
    """Boosting of the residuals, in folds of its own: what it explains of those held out.

    Residuals are those of rows that the fit has not seen.  Trees are small and few, so that they
    see a weak signal before they learn noise.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    problem = held.problem
    residual = problem.labels.scores - held.predictions()
    front = problem.prepared.front()
    x = front.fit_transform(problem.prepared.rows)
    side = (
        np.random.default_rng(seed).permutation(int(problem.groups.max()) + 1)[problem.groups] % 3
    )
    predicted = np.zeros_like(residual)
    # Of many classes the first ones suffice: shares sum to one.
    for output in range(min(residual.shape[1], 3)):
        for part in range(3):
            trees = HistGradientBoostingRegressor(
                max_iter=50, learning_rate=0.05, max_leaf_nodes=8, random_state=0
            )
            trees.fit(x[side != part], residual[side != part, output])
            predicted[side == part, output] = trees.predict(x[side == part])
    before, after = (np.sum(e**2, axis=1) for e in (residual, residual - predicted))
    return Left(gained(after, before, held.totals, problem.groups))
