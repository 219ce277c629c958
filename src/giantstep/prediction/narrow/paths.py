"""How the state (M, Q) of a narrow network is followed through the steps of a setting.

A path is a record in ``PATHS``; the first that serves a setting is taken.  Runs drawn from the law
of each step (drawn_runs.py) serve where no mean does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.prediction.narrow.axes import axes_evolution, axes_source, axes_states
from giantstep.prediction.narrow.drawn_runs import fresh_states
from giantstep.prediction.narrow.evolution import Evolution, Snapshot
from giantstep.prediction.narrow.fresh import state_evolution
from giantstep.prediction.narrow.long_runs import closed_forms, is_long, long_evolution
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.points import points_for
from giantstep.prediction.narrow.reused import (
    path_normals,
    seen_again_evolution,
    seen_again_states,
)
from giantstep.prediction.narrow.state import State
from giantstep.problem.setting import Setting

Means = Callable[[Setting, Sequence[State], Any, float], list[Evolution]]


@dataclass(frozen=True)
class Path:
    """One way through the steps.

    ``source(setting, seed, log2_points)`` -> one scramble of points for its expectations;
    ``means(setting, starts, source, tolerance)`` -> mean state after each step from every start;
    ``drawn(setting, start, source, noise)`` -> states of one run around the mean, None where no
    errors of a readout are predicted; ``closed(setting)`` -> whether the means need no points.
    ``by_rule`` -> whether an exact rule may take the place of points, ``grouped`` -> whether steps
    are taken many at once.
    """

    name: str
    serves: Callable[[Setting], bool]
    source: Callable[[Setting, int, int], Any]
    means: Means
    drawn: Callable[[Setting, State, Any, Fluctuations], Iterator[Snapshot]] | None
    closed: Callable[[Setting], bool] = lambda setting: False
    by_rule: bool = True
    grouped: bool = False


def _one_by_one(evolve: Callable[[Setting, State, Any], Evolution]) -> Means:
    """Each start by itself, without groups of steps whose tolerance would count."""
    return lambda setting, starts, source, tolerance: [
        evolve(setting, start, source) for start in starts
    ]


PATHS = (
    Path(
        "entries along axes",
        serves=lambda setting: setting.update.kind.entrywise,
        source=axes_source,
        means=_one_by_one(axes_evolution),
        drawn=axes_states,
        by_rule=False,
    ),
    Path(
        "reused samples",
        serves=lambda setting: setting.seen_again,
        source=path_normals,
        means=_one_by_one(seen_again_evolution),
        drawn=seen_again_states,
        by_rule=False,
    ),
    Path(
        "groups of steps",
        serves=is_long,
        source=points_for,
        means=long_evolution,
        drawn=None,
        closed=lambda setting: closed_forms(setting) is not None,
        grouped=True,
    ),
    Path(
        "single steps",
        serves=lambda setting: True,
        source=points_for,
        means=_one_by_one(state_evolution),
        drawn=fresh_states,
    ),
)


def path_of(setting: Setting) -> Path:
    """The first path that serves a setting."""
    return next(path for path in PATHS if path.serves(setting))


def means_on_points(
    setting: Setting,
    starts: Sequence[State],
    seed: int,
    log2_points: int,
    *,
    tolerance: float = 3e-4,
) -> list[Evolution]:
    """The mean states from any starts, on one scramble of low-discrepancy points.

    ``tolerance`` is the error of a group of steps in lengths of the rows; points err by more.
    """
    path = path_of(setting)
    return path.means(setting, starts, path.source(setting, seed, log2_points), tolerance)
