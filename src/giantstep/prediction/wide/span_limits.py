"""Limits of the span of the rows of a wide network after one step."""

from __future__ import annotations

from giantstep.prediction.limits import Limit
from giantstep.prediction.wide.step import learned_step
from giantstep.problem.setting import Setting


def _noise_of_single_rows(setting: Setting) -> float | None:
    single = not setting.start.kind.paired and setting.p < setting.d
    return learned_step(setting).noise_square / setting.p if single and setting.steps == 1 else None


EVEN_NOISE = Limit(
    name="noise of a step in the span of the rows",
    quantity=_noise_of_single_rows,
    # The noise is larger along directions that the label depends on, and moves squared cosines by
    # 11 % at 0.24 and 29 % at 3.6 (d = 256, p = d/5).
    most=0.05,
    sentence="too few samples for the span of the rows. Use more samples or a smaller step. The "
    "noise of the step adds {value:.3g} to the squared length of a row, at most {most:g} is "
    "allowed",
    evidence="tests/prediction/wide/test_rows.py::test_the_span_of_noisy_rows_is_not_known",
    kind="measured",
)


def _paired_step(setting: Setting) -> bool:
    return setting.steps == 1 and setting.start.kind.paired


def _cosine(setting: Setting) -> float | None:
    return learned_step(setting).cosine if _paired_step(setting) else None


ONE_DIRECTION = Limit(
    name="target directions, symmetric start",
    quantity=lambda setting: float(setting.target.r) if _paired_step(setting) else None,
    most=1.0,
    # Noise is all that the second row of a pair has, larger along what the label depends on: even
    # only where that is the learned direction itself.
    sentence="to predict the span of the rows from a symmetric start, the target must depend on "
    "one direction, got {value:g}",
    evidence="tests/prediction/wide/test_runs.py"
    "::test_spans_of_pairs_are_known_along_the_learned_direction_alone",
    kind="derived",
)

ALONG = Limit(
    name="cosine of the learned direction with the target",
    quantity=_cosine,
    # From here on the noise beside the learned direction hardly counts along the target: squared
    # principal cosines agree at 0.75, and were 4 to 5 standard errors off at 0.
    least=0.5,
    sentence="to predict the span of the rows from a symmetric start, the learned direction must "
    "have cosine {least:g} or more with the target, got {value:.3g}",
    evidence=ONE_DIRECTION.evidence,
    kind="measured",
)
