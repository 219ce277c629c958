"""How many points a prediction of narrow networks takes: seconds of work, shared by its rows."""

from __future__ import annotations

import math
from dataclasses import replace

from giantstep.gaussian.points import LOG2_POINTS, Accuracy
from giantstep.prediction.narrow.batch import seen_share
from giantstep.prediction.narrow.long_runs import is_long
from giantstep.prediction.narrow.reused import path_dimensions
from giantstep.problem.setting import Setting


def log2_points(
    setting: Setting,
    recursions: int,
    share: float = 1.0,
    *,
    work: int = 2**23,
    fewest: tuple[int, int] = (8, 10),
    resolving: int = 8,
    paths_a_column: int = 32,
    evaluations_of_groups: int = 2**6,
) -> int:
    """Points of each of so many recursions, as a power of two, that a share of the work allows.

    ``work`` -> points times neurons times steps, of all scrambles of all rows: half a second on a
    core.  A point that is seen again counts twice, for the coordinates it gains at every step, and
    groups of steps take so many evaluations, about.
    ``fewest`` -> points, as a power of two, for a batch of one sample and for one of four or more,
    however many the steps: new ones at every step, of a sixteenth of the noise of a run.
    ``resolving`` -> points over p n/d, where four times the work allows: N of them have noise of
    p/N in the span of the rows, n samples d/n outside it, which decides what directions 64 rows
    together hold: with N = 2 p n/d their principal cosine with a direction not yet learned was 0.40
    in place of 0.27.
    ``paths_a_column`` -> paths that a step sees for each coordinate they come to have: with fewer
    the noise along known directions, which is taken off the others, is no longer small against
    them: with 16 the squared lengths of 29 rows were 1.3 % too short after two steps.
    """
    evaluations = evaluations_of_groups if is_long(setting) else setting.steps + 1
    a_point = recursions * setting.p * evaluations * (1 + setting.seen_again)
    most = round(math.log2(share * work / a_point))
    least = min(fewest[0] + math.ceil(math.log2(setting.n)), fewest[1])
    if setting.seen_again:
        paths = paths_a_column * path_dimensions(setting) / seen_share(setting)
        least = max(least, math.ceil(math.log2(paths)))
    else:
        resolved = math.ceil(math.log2(resolving * setting.p * setting.n / setting.d))
        reachable = math.floor(math.log2(4 * share * work / a_point))
        least = max(least, min(resolved, reachable))
    return min(max(most, least), LOG2_POINTS)


def affordable(setting: Setting, accuracy: Accuracy, rows: int) -> Accuracy:
    """Scrambles and points of each row; many rows share the work: their errors average out."""
    scrambles = accuracy.scrambles if rows == 1 else 2
    most = log2_points(setting, scrambles * rows)
    given = accuracy.log2_points
    if given is not None:
        most = given if rows == 1 else min(given, most)
    return replace(accuracy, scrambles=scrambles, log2_points=most)
