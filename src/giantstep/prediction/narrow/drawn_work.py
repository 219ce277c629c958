"""What drawn runs cost: their samples or points, and the seconds they are expected to take."""

from __future__ import annotations

import math
from dataclasses import dataclass

from giantstep.prediction.narrow.mean_gradient import stein_applies
from giantstep.problem.batches import set_size
from giantstep.problem.penalties import penalties_of
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.deferred import directions_revealed

ROWS = (24, 96)
"""Drawn runs, at least and at most: the mean of 24 is off by a fifth of what one run differs by,
that of 96 by a tenth."""

ERROR_POINTS = 2**11
"""Points that errors of a network are averaged over: a run is off by one or two per cent, the mean
of 24 by less than a third of that."""


def log2_points_of_step(
    setting: Setting, *, a_neuron: int = 16, least: int = 11, most: int = 15, spared: int = 8
) -> int:
    """Points of a step, as a power of two; the p x p matrix A has relative noise sqrt(p/N).

    Points in place of fresh samples err along the target, which counts in principal cosines: they
    are ``spared`` times fewer than the samples, or as many as two seconds allow.
    Points that are held in place of samples are as many as are affordable: what was seen of them, m
    coordinates, has the share m/N, not m/n, and later steps amplify it.  Where steps
    and readout take samples as they are, points serve the network's error alone, and the least will
    do.
    """
    fits = set_size(setting.batches, setting.n) <= most_samples(setting)
    if setting.readout_on_last and needs_samples(setting) and fits and all_known(setting):
        return least
    if held(setting) and not fits:
        return int(math.log2(most_samples(setting)))
    enough = max(math.ceil(math.log2(a_neuron * setting.p)), least)
    if not (fits or held(setting)):
        wanted = min(setting.n // spared, _affordable_samples(setting))
        enough = max(enough, int(math.log2(max(wanted, 1))))
    return min(enough, most)


def row_coordinates(setting: Setting) -> int:
    """Coordinates of a row in the span of rows, velocities and known directions, or along axes."""
    if not setting.update.kind.turns or dense_blocks(setting):
        return setting.d
    return min(setting.d, setting.moving + setting.known)


def dense_blocks(setting: Setting) -> bool:
    """Whether samples of inputs in blocks are drawn with all d coordinates.

    Velocities, linear parts of labels, lengths of samples and single entries are not held by
    the coordinates in each block (docs/derivations/blocks.md).
    """
    plain = setting.update.kind.turns and not setting.lookahead.kind.on_sample
    plain = plain and not setting.momentum and setting.deflate < 1 and setting.start_rows is None
    return setting.inputs.in_blocks and not plain


def points_serve(setting: Setting) -> bool:
    """Whether points may stand for samples: their mean gradient is replaced by the true one."""
    plain = setting.deflate < 1 and not setting.readout_on_last and not dense_blocks(setting)
    return stein_applies(setting) and plain


def held(setting: Setting) -> bool:
    """Whether samples are held: to be seen again, to deflate their labels, or for the readout."""
    again = setting.seen_again or setting.readout_on_last
    return again or setting.deflate >= 1 or dense_blocks(setting)


@dataclass(frozen=True)
class Cost:
    """Products that a step of one run takes for each sample, and the coordinates it holds."""

    products: int
    columns: int


OF_SAMPLE, OF_NORMAL = 128, 8
"""Products that take as long as the label of a sample with its passes over memory (32 ns), and as a
coordinate, a random number that several steps may share."""


def _cost(setting: Setting, columns: int, *, of_activation: int = 32) -> Cost:
    """The cost of samples that are known by so many coordinates from the start.

    A neuron takes its coordinates twice, a row of A, and its nonlinear function.
    """
    a_neuron = 2 * columns + setting.p + of_activation
    fit = (setting.deflate == 2) * setting.d**2 // 2  # made and taken, by products of matrices
    return Cost(OF_SAMPLE + setting.p * a_neuron + OF_NORMAL * columns + fit, columns)


def _deferred_cost(setting: Setting, *, of_orthogonal: int = 12) -> Cost:
    """The cost of held samples that gain coordinates, and are made orthogonal to what was used."""
    revealed = directions_revealed(setting)
    plain = _cost(setting, min(setting.d, row_coordinates(setting) + revealed))
    orthogonal = of_orthogonal * setting.p * (setting.p + revealed)
    return Cost(plain.products + orthogonal, plain.columns + revealed)


def all_known(setting: Setting) -> bool:
    """Whether held samples have all d coordinates from the start, which is cheaper or asked for."""
    if setting.lookahead.kind.on_sample or not setting.update.kind.turns:
        return True
    if dense_blocks(setting) or setting.deflate == 2:
        return True
    return _cost(setting, setting.d).products <= _deferred_cost(setting).products


def cost_of_samples(setting: Setting) -> Cost:
    """The cost of the samples of a step as a drawn run takes them."""
    if not held(setting):
        return _cost(setting, row_coordinates(setting))
    return _cost(setting, setting.d) if all_known(setting) else _deferred_cost(setting)


def _affordable_samples(setting: Setting, *, work: int = 2**33, seen_again: int = 4) -> int:
    """Samples of a step for which all steps of the least number of runs take so many products.

    These are two seconds on one core, and ``seen_again`` times more for samples that are held: with
    8192 points for 33,523 samples, cosines after four steps with momentum were 8 standard errors
    off.
    """
    runs, steps = max(ROWS[0], setting.runs), max(setting.steps, 1)
    work *= seen_again if held(setting) else 1
    return work // (cost_of_samples(setting).products * steps * runs)


def most_samples(setting: Setting, *, numbers: int = 2**24, resolving: int = 512) -> int:
    """Samples of a step that a drawn run takes as they are: points stand for more.

    They take some seconds on one core, and ``numbers`` are their coordinates at once.  Up to
    ``resolving`` times their coordinates samples are taken at any cost.  Where no points can stand
    for them, all are taken that fit.
    """
    cost = cost_of_samples(setting)
    fitting = max(numbers // cost.columns, 2**11)
    if not points_serve(setting):
        return fitting
    return min(max(_affordable_samples(setting), resolving * cost.columns, 2**11), fitting)


def needs_samples(setting: Setting) -> bool:
    """Whether a readout is fitted on drawn samples: between steps, or on those of the last step."""
    between = setting.readout_between.kind.fitted
    last = setting.readout_on_last and setting.steps > 0
    return between or (setting.readout_n > 0 and (last or setting.deflate == 2))


def fits_all_coordinates(setting: Setting) -> bool:
    """Whether a readout is fitted on samples that have all d coordinates."""
    return needs_samples(setting) and (setting.deflate == 2 or dense_blocks(setting))


def expected_seconds(
    setting: Setting, *, fits: bool | None = None, products_a_second: float = 4e9
) -> float:
    """Seconds that the least number of drawn runs take on one core, about.

    ``fits``: whether their readouts are fitted on drawn samples; None where only they tell.
    """
    fitted = needs_samples(setting) if fits is None else fits
    of_readout = _products_of_fits(setting) if fitted else _products_of_errors(setting)
    products = products_of_run(setting) + of_readout
    return max(ROWS[0], setting.runs) * products / products_a_second


def products_of_run(setting: Setting) -> int:
    """Products that a drawn run takes: its steps, and the network's error after each."""
    samples = set_size(setting.batches, setting.n)
    if samples > most_samples(setting):
        samples = 2 ** log2_points_of_step(setting)
    measured = ERROR_POINTS * _cost(setting, row_coordinates(setting)).products // 2
    steps = setting.steps * samples * cost_of_samples(setting).products
    return steps + (setting.steps + 1) * measured


def _products_of_errors(setting: Setting, *, matrices: int = 3, quicker: int = 4) -> int:
    """Products that the readout's expected errors take: p x p ``matrices`` on the points of a step.

    Products of matrices on all points at once are so much ``quicker`` than those of single samples.
    """
    if setting.readout_n == 0:
        return 0
    a_feature = (row_coordinates(setting) + matrices * setting.p) // quicker
    return (setting.steps + 1) * 2 ** log2_points_of_step(setting) * setting.p * a_feature


def _products_of_fits(setting: Setting, *, a_penalty: int = 2) -> int:
    """Products that the readouts of a drawn run take, leave-one-out errors included."""
    penalties = len(penalties_of(setting.ridge))
    coordinates = setting.d if setting.deflate == 2 else row_coordinates(setting)
    a_feature = coordinates + setting.p + a_penalty * penalties * (penalties > 1)
    a_sample = OF_SAMPLE + OF_NORMAL * coordinates + setting.p * a_feature
    return (setting.steps + 1) * setting.readout_n * a_sample


def row_count(
    setting: Setting, *, by_fits: bool = False, draws: int | None = None, work: int = 3 * 2**31
) -> int:
    """Runs that are drawn: ROWS at least and at most, or ``draws``, in whole sets of the runs.

    ``work`` are products in all of them, fitted readouts included: a second and a half.
    """
    products = products_of_run(setting) + by_fits * _products_of_fits(setting)
    least, most = (math.ceil((draws or rows) / setting.runs) for rows in ROWS)
    return setting.runs * min(max(work // (products * setting.runs), least), most)
