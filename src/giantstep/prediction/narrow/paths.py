"""How the state (M, Q) of a narrow network is followed through the steps of a setting.

A path is a record in ``PATHS``; the first that serves a setting is taken.  Runs drawn from the law
of each step (drawn_runs.py) serve where no mean does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.prediction.narrow.committee import committee_of
from giantstep.prediction.narrow.drawn_runs import fresh_states
from giantstep.prediction.narrow.evolution import Evolution, Snapshot
from giantstep.prediction.narrow.fresh import state_evolution
from giantstep.prediction.narrow.long_runs import closed_forms, is_long, long_evolution
from giantstep.prediction.narrow.noise import Fluctuations
from giantstep.prediction.narrow.points import Quadrature, points_for
from giantstep.prediction.narrow.reused import (
    PathNormals,
    seen_again_evolution,
    seen_again_states,
)
from giantstep.prediction.narrow.state import State
from giantstep.problem.setting import Setting


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
    means: Callable[[Setting, Sequence[State], Any, float], list[Evolution]]
    drawn: Callable[[Setting, State, Any, Fluctuations], Iterator[Snapshot]] | None
    closed: Callable[[Setting], bool] = lambda setting: False
    by_rule: bool = True
    grouped: bool = False


def _single_steps(
    setting: Setting, starts: Sequence[State], quadrature: Quadrature, tolerance: float
) -> list[Evolution]:
    return [state_evolution(setting, start, quadrature) for start in starts]


def _groups_of_steps(
    setting: Setting, starts: Sequence[State], quadrature: Quadrature | None, tolerance: float
) -> list[Evolution]:
    committee = committee_of(setting)
    return long_evolution(
        setting, starts, committee=committee, quadrature=quadrature, tolerance=tolerance
    )


def _seen_again(
    setting: Setting, starts: Sequence[State], sets: PathNormals, tolerance: float
) -> list[Evolution]:
    return [seen_again_evolution(setting, start, sets) for start in starts]


PATHS = (
    Path(
        "samples seen again",
        serves=lambda setting: setting.seen_again,
        source=PathNormals.of,
        means=_seen_again,
        drawn=seen_again_states,
        by_rule=False,
    ),
    Path(
        "groups of steps",
        serves=is_long,
        source=points_for,
        means=_groups_of_steps,
        drawn=None,
        closed=lambda setting: closed_forms(setting) is not None,
        grouped=True,
    ),
    Path(
        "single steps",
        serves=lambda setting: True,
        source=points_for,
        means=_single_steps,
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
