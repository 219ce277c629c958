"""Limits of the theory of narrow networks, p fixed as d grows, and of the parts of its record."""

from __future__ import annotations

import math

from giantstep.prediction.limits import (
    PREDICTED_INPUTS,
    Covered,
    Limit,
    computed,
    first_complaint,
    must_be,
    one_of,
    plain_step,
    when,
)
from giantstep.prediction.narrow import drawn_work
from giantstep.prediction.narrow.batch import seen_share
from giantstep.prediction.narrow.covariance import entries
from giantstep.prediction.narrow.deviations import fewer_samples, told_by_runs
from giantstep.prediction.narrow.long_runs import FEW_STEPS, is_long
from giantstep.problem.batches import set_size
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import deferred

# -- neurons against inputs ----------------------------------------------------------------------

FEW_NEURONS = Limit(
    name="neurons over inputs",
    quantity=lambda s: s.p / s.d,
    most=0.05,
    sentence="too many neurons: p must be at most {most:g} d, got p = {setting.p} at d = "
    "{setting.d}",
    # Beyond, the p(p + 1)/2 inner products of the rows fluctuate by more than a small part.
    evidence="tests/prediction/narrow/test_one_pass.py",
    kind="measured",
)


def small_batches(setting: Setting) -> bool:
    """Whether a batch adds little to the inner products of the rows: fresh ones of n <= d/20.

    Velocities add up what many batches have, and the noise of gradients that are tangent or taken
    ahead is another one.
    """
    apart = setting.plain_gradient and not setting.seen_again
    return apart and setting.n <= FEW_NEURONS.most * setting.d


ONE_PASS_NEURONS = Limit(
    name="neurons over inputs, small batches",
    quantity=lambda s: s.p / s.d if small_batches(s) else None,
    most=0.5,
    sentence="p must be at most {most:g} d for batches of at most d/20 samples, got p = "
    "{setting.p} at d = {setting.d}",
    # The inner products of the start are given, run by run, and a batch adds little to them.
    evidence="tests/prediction/narrow/test_one_pass.py",
    kind="measured",
)

LONG_RUN_NEURONS = Limit(
    name="neurons over inputs, steps in groups",
    quantity=lambda s: s.p / s.d if is_long(s) and not small_batches(s) else None,
    most=FEW_NEURONS.most,
    sentence=f"p must be at most {{most:g}} d for more than {FEW_STEPS} steps, got p = "
    "{setting.p} at d = {setting.d}",
    evidence=FEW_NEURONS.evidence,
    kind="measured",
)

# -- runs that are drawn from the law of each step -------------------------------------------------


def _share_drawn(setting: Setting) -> float | None:
    """Samples of a set over those that can be drawn, where no points stand for more."""
    if drawn_work.points_serve(setting):
        return None
    return set_size(setting.batches, setting.n) / drawn_work.most_samples(setting)


DRAWN_RUNS = (
    Limit(
        name="steps of a drawn run",
        quantity=lambda s: float(s.steps),
        most=float(FEW_STEPS),
        sentence="too many steps: theory draws random runs of at most {most:g} steps, got "
        "{setting.steps}",
        evidence="benchmarks/drawn_runs.py",
        kind="chosen",
    ),
    Limit(
        name="weights of a random run",
        quantity=lambda s: float(s.p * drawn_work.row_coordinates(s)),
        most=2.0**16,
        sentence="too many neurons: theory draws random runs, and p times min(d, p + r) must be at "
        "most {most:.0f} for them, got {value:.0f}",
        # Tens of seconds for tens of runs.
        evidence="benchmarks/drawn_runs.py",
        kind="chosen",
    ),
    Limit(
        name="neurons of a random run",
        quantity=lambda s: float(s.p),
        most=2.0**9,
        sentence="too many neurons: theory draws random runs, and p must be at most {most:.0f} "
        "for them, got {value:.0f}",
        evidence="benchmarks/drawn_runs.py",
        kind="chosen",
    ),
    Limit(
        name="seconds in which theory draws random runs",
        quantity=drawn_work.expected_seconds,
        most=30.0,
        sentence="theory would draw random runs for about {value:.0f} seconds, at most {most:.0f} "
        "are allowed. Use fewer neurons, steps or runs",
        evidence="benchmarks/drawn_runs.py",
        kind="chosen",
    ),
    Limit(
        name="samples that no points stand for",
        quantity=_share_drawn,
        most=1.0,
        # The mean gradient of points has noise along all coordinates, above that of the samples.
        sentence="too many samples for this loss, these inputs, deflated labels or the last batch: "
        "n = {setting.n} with batches = {setting.batches} is {value:.3g} times what theory can "
        "draw",
        evidence="docs/derivations/drawn_runs.md",
        kind="derived",
    ),
    Limit(
        name="features of a readout that is drawn",
        quantity=lambda s: float(s.readout_n * s.p) if drawn_work.needs_samples(s) else None,
        most=2.0**23,
        sentence="readout_n times p must be at most {most:.0f} for a readout that is fitted "
        "between steps, on the last batch or to labels deflated by degree 2, got {value:.0f}",
        # Some seconds.
        evidence="benchmarks/drawn_runs.py",
        kind="chosen",
    ),
    Limit(
        name="coordinates of the samples of a readout that is drawn",
        quantity=lambda s: float(s.readout_n * s.d) if drawn_work.fits_all_coordinates(s) else None,
        most=2.0**25,
        sentence="readout_n times d must be at most {most:.0f} for labels deflated by degree 2 and "
        "for a fitted readout of samples with all coordinates, got {value:.0f}",
        # 128 MiB.
        evidence="docs/derivations/blocks.md",
        kind="chosen",
    ),
)


def drawable(setting: Setting) -> bool:
    """Whether runs can be drawn from the law of their steps."""
    return first_complaint(DRAWN_RUNS, setting) is None


def drawn_for_width(setting: Setting) -> bool:
    """Whether runs must be drawn because the rows are many."""
    return not (FEW_NEURONS.holds(setting) or small_batches(setting) or is_long(setting))


def must_be_drawn(setting: Setting) -> bool:
    """Whether no mean serves: rows are many, readouts are drawn, or inputs come in blocks."""
    wide = drawn_for_width(setting)
    drawn = setting.inputs.in_blocks or setting.deflate == 2
    return wide or drawn or drawn_work.needs_samples(setting)


# -- lengths that are divided by -------------------------------------------------------------------

FEW_INPUTS = Limit(
    name="inputs of samples that are seen again",
    quantity=lambda s: float(s.d) if s.seen_again else None,
    least=500.0,
    sentence="d must be at least {least:g} for the limit of samples that are used again, got "
    "{setting.d}: runs are drawn",
    # The limit leaves out the share 1/d of each of some ten known directions: 2 % at this size.
    evidence="tests/prediction/narrow/test_drawn_runs.py",
    kind="chosen",
)

SAMPLES_OF_A_LENGTH = Limit(
    name="samples of a gradient's length",
    quantity=lambda s: float(s.n),
    least=100.0,
    sentence="too few samples to predict the length of a gradient: n must be at least {least:g}, "
    "got {setting.n}",
    # The length of a gradient deviates by a tenth at 100 samples, which shifts the mean of what is
    # divided by it by the square.
    evidence="tests/prediction/test_words.py::test_lengths_need_samples",
    kind="derived",
)

NORMALISED_UPDATE = Limit(
    name="samples of a normalised update",
    quantity=lambda s: float(s.n) if s.update.kind.rowwise else None,
    least=SAMPLES_OF_A_LENGTH.least,
    sentence="n must be at least {least:g} for update = normalised, got {setting.n}",
    evidence=SAMPLES_OF_A_LENGTH.evidence,
    kind="derived",
)


def added_length(setting: Setting) -> float:
    """mu = eta^2 d A/n, what the longest step adds to the squared length of a row, from the start.

    A = s_p^2 a^2 E sigma'^2 E y^2; infinite for losses and labels whose residual is another.
    """
    if not setting.loss.kind.plain or not setting.label_transform.is_plain:
        return math.inf
    size = max(setting.step_size, default=0.0) * setting.scale
    size *= setting.readout_law.rms(setting.p)
    labels = setting.label_noise.mean_square(setting.target.series.square)
    slopes = setting.activation.moments.slope_square
    return size**2 * setting.d / setting.n * slopes * labels


def _added_over_samples(setting: Setting) -> float | None:
    if not setting.normalises_rows or SAMPLES_OF_A_LENGTH.holds(setting):
        return None
    return added_length(setting) / setting.n


NORMALISED_ROWS = Limit(
    name="length added to normalised rows, over samples",
    quantity=_added_over_samples,
    most=0.02,
    sentence="n must be at least 100 for rows = normalised, unless the steps are small, got "
    "{setting.n}",
    # The length strays by its share kappa mu/n, kappa the variance of g^2 over its squared mean, 2
    # to 5, and the drift is off by 3/4 of that.
    evidence="docs/derivations/long_runs.md",
    kind="derived",
)

ORTHOGONAL_ROWS = must_be(
    "rows",
    "free",
    "a prediction with update = orthogonal",
    # The product of paired rows has no noise before they are divided by lengths that have, and its
    # shift by 1/d was 7 standard errors of 80 runs.
    lambda s: not (s.update.kind.polar and s.normalises_rows),
)

SPIKE_SAMPLES = Limit(
    name="samples over squared variance of a known direction",
    quantity=lambda s: (
        s.n / s.inputs.largest_square**2 if s.deflate == 1 and s.inputs.known_directions else None
    ),
    least=300.0,
    sentence="n must be at least {least:g} E[x^2]^2 for deflate = 1 with inputs "
    "{setting.inputs.text}, x being the component along the spike or the shift, got {setting.n}",
    # The noise of the fitted linear part along the spike adds E[y^2 x^2] E[x^2]/n to the labels'
    # square, for labels of degree 2 15 (1 + strength)^2/n of it, 5 % at so many.  At an eighth of
    # them Gram matrices were off by 6 standard errors of 160 runs.
    evidence="tests/prediction/test_words.py::test_deflating_along_a_spike_needs_samples",
    kind="measured",
)

SINGLE_STEPS = Limit(
    name="steps that are taken one by one",
    quantity=lambda s: None if is_long(s) else float(s.steps),
    most=1000.0,
    sentence="steps must be at most {most:g} where batches are reused, inputs are spiked or "
    "shifted, the readout moves, gradients are tangent or taken ahead, or there is momentum, got "
    "{setting.steps}",
    # Some seconds.
    evidence="tests/prediction/test_limits.py",
    kind="chosen",
)

COVERED_SEEN_AGAIN: Covered = {
    "batches": None,
    "bias": None,
    "decay": None,
    "gradient": None,
    "label_kind": None,
    "label_transform": None,
    "lookahead": None,
    "loss": None,
    "momentum": None,
    "rows": None,
    "update": ("gradient", "normalised"),
}
"""Fields in which steps on samples that are seen again may go beyond the plain one."""

SPREAD_OVER_AXES = (
    Limit(
        name="inputs of an update that depends on the axes",
        quantity=lambda s: float(s.d),
        least=2000.0,
        sentence="d must be at least {least:g} for the limit of update = {setting.update}, got "
        "{setting.d}",
        # Entries are taken for normal, which shifts means by the share 1/d of each direction.
        evidence="tests/prediction/narrow/test_axes.py",
        kind="chosen",
    ),
    Limit(
        name="samples of an update that depends on the axes",
        quantity=lambda s: float(s.n),
        least=SAMPLES_OF_A_LENGTH.least,
        sentence="n must be at least {least:g} for the limit of update = {setting.update}, got "
        "{setting.n}",
        evidence=SAMPLES_OF_A_LENGTH.evidence,
        kind="derived",
    ),
    Limit(
        name="normals of an axis",
        quantity=lambda s: float(s.p * s.steps),
        most=512.0,
        sentence="p times steps must be at most {most:g} for the limit of update = "
        "{setting.update}, got {value:g}",
        # Some seconds, and 64 MiB of normals.
        evidence="tests/prediction/narrow/test_axes.py",
        kind="chosen",
    ),
    Limit(
        name="largest entry of an update",
        quantity=lambda s: s.update.largest_entry(s.steps),
        most=5.0,
        sentence="a few entries make the step of update = {setting.update}: they may be "
        "{value:.3g} times as large as the first ones, at most {most:g} is allowed",
        # 2^14 axes tell a mean square to 1 %, if no entry has a square of more than 2^14/100.
        evidence="docs/derivations/signs.md",
        kind="chosen",
    ),
    must_be("frame", "random", "the limit of many inputs", lambda s: s.frame == "random"),
    must_be("inputs", "gaussian", "the limit of many inputs", lambda s: s.inputs.is_gaussian),
    one_of("start_rows", (None,), "the limit of many inputs"),
)
"""The limits of updates of single entries: no direction has to do with the axes."""

MEANS: tuple[Limit, ...] = (
    NORMALISED_ROWS,
    NORMALISED_UPDATE,
    ORTHOGONAL_ROWS,
    SPIKE_SAMPLES,
    SINGLE_STEPS,
    must_be(
        "update",
        "gradient, normalised, orthogonal, sign or adam(b1, b2)",
        "means",
        # Where a gradient is as long as it may be, the mean clipped one is not that of the mean.
        lambda s: not s.update.kind.clips,
    ),
    *when(lambda s: s.update.kind.entrywise, SPREAD_OVER_AXES),
    *when(
        lambda s: s.seen_again, plain_step("a prediction with reused batches", COVERED_SEEN_AGAIN)
    ),
)
"""The limits of means over runs; beyond them runs are drawn where they can be."""

ROWS_OF_DATA = (
    one_of("readout_batch", ("fresh",), "the rows of a data set"),
    must_be("deflate", "at most 1", "the rows of a data set", lambda s: s.deflate < 2),
    must_be(
        "readout_between",
        "frozen or gradient(size)",
        "the rows of a data set",
        lambda s: not s.readout_between.kind.fitted,
    ),
    must_be(
        "update",
        "gradient, normalised or orthogonal",
        "the rows of a data set",
        lambda s: s.update.kind.turns,
    ),
)
"""The limits of rows that are dealt out from a data set: Gaussian runs deal theirs out too."""

NARROW: tuple[Limit, ...] = (
    PREDICTED_INPUTS,
    *when(lambda s: s.data is not None, ROWS_OF_DATA),
    ONE_PASS_NEURONS,
    LONG_RUN_NEURONS,
    *when(must_be_drawn, DRAWN_RUNS),
    *when(lambda s: not drawable(s), MEANS),
)
"""The limits of the theory."""

# -- parts that may be left open -------------------------------------------------------------------

READOUT = (
    Limit(
        name="number of steps",
        quantity=lambda s: float(s.steps) if s.steps <= FEW_STEPS or is_long(s) else None,
        most=float(FEW_STEPS),
        sentence="steps must be at most {most:g}, got {setting.steps}",
        evidence="tests/prediction/narrow/test_long_runs.py::test_only_recorded_steps_are_held",
        kind="chosen",
    ),
    Limit(
        name="samples of the readout over neurons",
        quantity=lambda s: s.readout_n / s.p,
        # Below, order 1/readout_n is not enough: its square is 1 % of the error.
        least=10.0,
        sentence="readout_n must be at least {least:g} p, got {setting.readout_n} for p = "
        "{setting.p}",
        evidence="tests/prediction/narrow/test_readout.py::test_few_samples_of_the_readout",
        kind="derived",
    ),
    Limit(
        name="samples of a deflated readout over inputs",
        quantity=lambda s: s.readout_n / s.d if s.deflate == 1 else None,
        # From here on the readout's fit of the labels' linear part is exact.
        least=1000.0,
        sentence="readout_n must be at least {least:g} d for deflate = 1, got "
        "{setting.readout_n} at d = {setting.d}",
        evidence="tests/prediction/narrow/test_readout.py",
        kind="chosen",
    ),
)

NEAR_MEAN = Limit(
    name="deviation of a run from its mean",
    quantity=computed,
    # Of the Gram matrix of a run, as a share of the rows' squared length, where n or d/p is small:
    # the square, 1/100, is what the mean of the next step is shifted by (at .16 squared lengths are
    # off by 2 %, at .42 by 5 %: erf, p = 4, d = 1000, n = 1).
    most=0.1,
    sentence="too few samples: runs differ too much for one prediction. Use more samples or a "
    "smaller step. At n = {setting.n} and step_size = {setting.step_size[0]:g} runs differ by "
    "{value:.0%} of the length of a row, at most {most:.0%} is allowed",
    evidence="docs/derivations/fluctuations.md",
    kind="measured",
)

NEAR_SHIFTED_MEAN = Limit(
    name="deviation of a run from its mean, shift computed",
    quantity=computed,
    # The square of the shift itself, 1/25 of it, is left out.
    most=0.2,
    sentence=NEAR_MEAN.sentence,
    evidence="tests/prediction/narrow/test_long_runs.py::test_runs_that_stray_are_refused",
    kind="measured",
)

SMALL_START = Limit(
    name="change of overlaps by a random start, in lengths of a row",
    quantity=computed,
    # What is left out of the mean over starts is of the order of the square, 1/400.
    most=0.05,
    sentence="the random start changes overlaps by {value:.0%} of the length of a row, so every "
    "run is predicted from its own start",
    evidence="tests/prediction/narrow/test_deviations.py::test_where_the_start_decides",
    kind="chosen",
)


def fitted_share(setting: Setting) -> float:
    """Directions that rows and target span over the samples that labels are deflated with."""
    return (setting.p + setting.known) / setting.n if setting.deflate == 1 else 0.0


LEARNED_SPAN = Limit(
    name="what random rows hold of a target direction, over what mean rows hold of it",
    quantity=computed,
    # p random rows hold p/d of a squared direction, which adds a tenth to the cosine at this share.
    # How the rows of a run hold it together is no part of the means: where it counted, at 1 to 2,
    # principal cosines were off by a fifth to a half.
    most=0.2,
    sentence="the rows hold so little of a target direction that p/d of random rows is {value:.0%} "
    "of it, at most {most:.0%} is allowed for one mean. Theory draws random runs instead",
    evidence="tests/prediction/narrow/test_drawn_runs.py::"
    "test_principal_cosines_that_are_not_learned_are_drawn",
    kind="chosen",
)

PAIRED_SPAN = Limit(
    name="what random rows hold of a target direction, over what rows of pairs hold of it",
    quantity=computed,
    # Rows that start in pairs hold it by their differences too, which add 3 to 4 p/d to a squared
    # cosine where the deviations of single rows say p/d: at this share 12 % are missing.
    most=0.1,
    sentence="rows that start in pairs hold so little of a target direction that p/d of random "
    "rows is {value:.0%} of it, at most {most:.0%} is allowed for one mean. Theory draws random "
    "runs instead",
    evidence="tests/prediction/narrow/test_pairs.py",
    kind="measured",
)

POINTS_OF_ROWS = Limit(
    name="errors of the points of many rows, over what rows hold of a target direction",
    quantity=computed,
    # N points err by n/N of the squared noise of n samples, which adds a tenth to a cosine at this
    # share.  At 0.5 to 3 cosines were too high by a fifth to three times themselves.
    most=0.2,
    sentence="{value:.0%} of a squared cosine is the error of the points that means of many rows "
    "are computed on, at most {most:.0%} is allowed. Theory draws random runs instead",
    evidence="tests/prediction/narrow/test_drawn_runs.py::"
    "test_errors_of_points_are_no_part_of_a_cosine",
    kind="chosen",
)

FITTED_PART = Limit(
    name="directions of rows and target over samples that deflate",
    quantity=fitted_share,
    # The recursion of the means leaves out the noise that the fitted linear part has along them.
    most=0.005,
    sentence="p + r must be at most {most:g} n for one mean with deflate = 1, got {value:.3g} n. "
    "Theory draws random runs instead",
    evidence="tests/prediction/narrow/test_drawn_runs.py::"
    "test_the_fit_that_labels_are_deflated_by_has_noise_along_the_rows",
    kind="measured",
)

FEW_PAIRED = Limit(
    name="neurons of a symmetric start",
    quantity=lambda s: float(s.p) if s.start.kind.paired else None,
    # A second or two.
    most=32.0,
    sentence="p must be at most {most:g} for random runs from a symmetric start, got {setting.p}",
    evidence="tests/prediction/narrow/test_drawn_runs.py::"
    "test_rows_of_a_pair_part_by_their_common_noise",
    kind="chosen",
)

FEW_ENTRIES = Limit(
    name="entries of overlaps and Gram matrix",
    quantity=lambda s: float(entries(s)),
    # p near 128: beyond, the deviations would take longer than the means.
    most=2.0**13,
    sentence="too many neurons to predict how runs differ: overlaps and Gram matrix may have "
    "{most:.0f} entries together, got {value:.0f}",
    evidence="tests/prediction/narrow/test_deviations.py",
    kind="chosen",
)

TELLING_RUNS = (
    FEW_ENTRIES,
    must_be(
        "update",
        "gradient, normalised or orthogonal",
        "how runs differ",
        lambda s: s.update.kind.turns,
    ),
    must_be(
        "lookahead",
        "none or batch(rho)",
        "how runs differ on samples that are seen again or have their labels deflated",
        lambda s: (
            not (s.lookahead.kind.on_sample and (deferred.holds_batches(s) or s.deflate == 1))
        ),
    ),
    Limit(
        name="directions of a run over inputs",
        quantity=lambda s: deferred.dimensions_needed(s) / s.d,
        most=1.0,
        sentence="to predict how runs differ, neurons and samples must span at most d directions, "
        "got {value:.3g} d",
        evidence="docs/derivations/fluctuations.md",
        kind="derived",
    ),
    Limit(
        name="samples of the simulations that show how runs differ",
        quantity=lambda s: fewer_samples(s) / seen_share(s),
        most=2.0**16,
        sentence="theory uses small simulations to predict how runs differ. They may have at most "
        "{most:.0f} samples, got {value:.0f}",
        # Beyond, the runs would take minutes.
        evidence="tests/prediction/narrow/test_deviations.py",
        kind="chosen",
    ),
    Limit(
        name="steps of the simulations that show how runs differ",
        quantity=lambda s: float(s.steps),
        most=2.0**6,
        sentence="to predict how runs differ, steps must be at most {most:.0f}, got "
        "{setting.steps}",
        evidence="tests/prediction/narrow/test_deviations.py",
        kind="chosen",
    ),
)
"""Deviations of runs that see samples again, deflate labels or have other updates."""

LONG_FLUCTUATIONS = (
    Limit(
        name="entries of overlaps and Gram matrix of a long run",
        quantity=lambda s: float(entries(s)),
        # p = 8 with r = 5: a derivative takes two evaluations for each of them, some hundredths of
        # a second.
        most=80.0,
        sentence="too many neurons to predict how runs of so many steps differ: overlaps and Gram "
        "matrix may have {most:.0f} entries together, got {value:.0f}",
        evidence="tests/prediction/narrow/test_long_runs.py",
        kind="chosen",
    ),
    one_of("update", ("gradient",), "a prediction of how long runs differ"),
)


PARTS: dict[str, tuple[Limit, ...]] = {
    "readout errors": when(lambda s: s.readout_n > 0, READOUT),
    "gradient cosines": (SAMPLES_OF_A_LENGTH,),
    "one mean for all runs": (
        FEW_INPUTS,
        NEAR_MEAN,
        NEAR_SHIFTED_MEAN,
        SMALL_START,
        FITTED_PART,
        LEARNED_SPAN,
        PAIRED_SPAN,
        POINTS_OF_ROWS,
    ),
    "random runs from a symmetric start": (FEW_PAIRED,),
    "deviations": (
        *when(lambda s: not (is_long(s) or told_by_runs(s)), (FEW_ENTRIES,)),
        *when(lambda s: not is_long(s) and told_by_runs(s), TELLING_RUNS),
        *when(is_long, LONG_FLUCTUATIONS),
    ),
}
"""The limits of parts of the record, by their names."""

ONE_STEP_LAW: tuple[Limit, ...] = plain_step("the distribution after one step")
"""The limits of ``one_step_law`` and ``cosine_quantiles``."""
