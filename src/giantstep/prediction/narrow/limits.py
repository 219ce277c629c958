"""Limits of the theory of narrow networks, p fixed as d grows."""

from __future__ import annotations

import math

from giantstep.prediction.limits import (
    PREDICTED_INPUTS,
    Covered,
    Limit,
    first_complaint,
    must_be,
    one_of,
    plain_step,
    when,
)
from giantstep.prediction.narrow import drawn_work
from giantstep.prediction.narrow.long_runs import FEW_STEPS, is_long
from giantstep.problem.batches import set_size
from giantstep.problem.setting import Setting

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
    name="neurons per input, p/d, where batches are small",
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
        most=2.0**18,
        sentence="too many neurons: theory draws random runs, and p times min(d, p + r) must be at "
        "most {most:.0f} for them, got {value:.0f}",
        # 2 MiB a run and step.  At d = p = 400 and n = 2 d a step of signs takes 0.4 s a run, as
        # the expected seconds say, by which runs are refused below this size.
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
    name="length that a step adds to normalised rows, per sample",
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

ONE_STEP_LAW: tuple[Limit, ...] = plain_step("the distribution after one step")
"""The limits of ``one_step_law`` and ``cosine_quantiles``."""
