"""Limits of the parts of the record of narrow networks, which may be left open."""

from __future__ import annotations

from giantstep.prediction.limits import Limit, computed, must_be, one_of, when
from giantstep.prediction.narrow.batch import seen_share
from giantstep.prediction.narrow.covariance import entries
from giantstep.prediction.narrow.deviations import fewer_samples, told_by_runs
from giantstep.prediction.narrow.limits import FEW_INPUTS, SAMPLES_OF_A_LENGTH
from giantstep.prediction.narrow.long_runs import FEW_STEPS, is_long
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import deferred

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
    name="directions of rows and target, per sample of a batch whose label is deflated",
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
    "averages over runs that are not drawn": (
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
