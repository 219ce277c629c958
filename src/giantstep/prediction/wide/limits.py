"""Limits of the theories of wide networks, p from d to d^2, and of the parts of their record.

Numbers that are computed from a setting, and not read off it, are in quantities.py.
"""

from __future__ import annotations

import math

from giantstep.gaussian.accuracy import VANISHING
from giantstep.prediction.limits import (
    PREDICTED_INPUTS,
    WHITENED,
    Limit,
    Quantity,
    gaussian_inputs,
    must_be,
    one_of,
    plain_step,
    when,
)
from giantstep.prediction.wide.batch_limits import ON_BATCH
from giantstep.prediction.wide.input_limits import (
    AXES_BESIDE_TARGET,
    CARRYING,
    KNOWN_COVARIANCE,
    WIDE,
)
from giantstep.prediction.wide.quantities import (
    MOST_STEPS,
    fitted_on_batch,
    left_out,
    left_out_of_errors,
    linear_part,
    size_of_second_direction,
    turn,
)

# -- steps from random rows ------------------------------------------------------------------------

BALANCED = ("signs", "alternating", "gaussian", "uniform")
"""Readouts whose entries cancel but for fluctuations; those of paired rows always do."""

RANDOM_ROWS = (
    KNOWN_COVARIANCE,
    one_of("deflate", (-1,), WIDE),
    must_be(
        "start",
        "sphere, gaussian or symmetric",
        WIDE,
        lambda setting: not setting.start.kind.framed,
    ),
    must_be(
        "readout_start",
        f"one of {', '.join(BALANCED)}",
        WIDE,
        lambda s: s.start.kind.paired or s.readout_start in BALANCED,
    ),
    CARRYING,
    AXES_BESIDE_TARGET,
    *plain_step(WIDE, {"inputs": None}),
)
"""Plain steps from rows and a readout that are random."""


def _steps(least: int, most: int, words: str, evidence: str) -> Limit:
    return Limit(
        name="steps",
        quantity=lambda setting: float(setting.steps),
        least=float(least),
        most=float(most),
        sentence=f"steps must be {words}, got {{setting.steps}}",
        evidence=f"docs/derivations/{evidence}.md",
        kind="derived",
    )


FRESH_BEYOND_TWO = must_be(
    "batches",
    "fresh",
    "three steps and more of wide networks",
    lambda setting: setting.steps <= 2 or setting.batches.kind.fresh,
)

AT_MOST_FOUR = (
    _steps(0, MOST_STEPS, f"at most {MOST_STEPS}", "many_steps"),
    FRESH_BEYOND_TWO,
    *RANDOM_ROWS,
)
AT_MOST_ONE = (_steps(0, 1, "0 or 1", "closed_system"), *RANDOM_ROWS)
ONE_TO_FOUR: tuple[Limit, ...] = (
    _steps(1, MOST_STEPS, f"from 1 to {MOST_STEPS}", "many_steps"),
    FRESH_BEYOND_TWO,
    *RANDOM_ROWS,
)
ONE_OR_TWO: tuple[Limit, ...] = (
    _steps(1, 2, "1 or 2", "two_step"),
    gaussian_inputs("two steps of wide networks"),
    *RANDOM_ROWS,
)

HAS_READOUT = Limit(
    name="samples of the readout",
    quantity=lambda setting: float(setting.readout_n),
    least=1.0,
    sentence="readout_n must be positive for errors of a readout, got {setting.readout_n}",
    evidence="docs/derivations/closed_system.md",
    kind="derived",
)

FRESH_READOUT = must_be(
    "readout_batch", "fresh", WIDE, lambda setting: not fitted_on_batch(setting)
)

READOUT = (
    Limit(
        name="dimensions of the inputs",
        quantity=lambda setting: float(setting.d),
        # Two coordinates have two harmonics of degree 2: outside the learned direction one is left
        # over only from here on.
        least=3.0,
        sentence="d must be at least {least:g} for errors of a readout, got {setting.d}",
        evidence="docs/derivations/quadratic.md",
        kind="derived",
    ),
)

LOSSES: tuple[Limit, ...] = (*AT_MOST_FOUR, HAS_READOUT, *READOUT, *ON_BATCH)
"""Errors of the readout (docs/derivations/closed_system.md and own_batch.md)."""

CLOSED_SYSTEM: tuple[Limit, ...] = (*AT_MOST_FOUR, HAS_READOUT, *READOUT, FRESH_READOUT)
"""Spectra of the features, and errors of a readout on fresh samples (closed_system.md)."""

STRONG_SPIKES: tuple[Limit, ...] = (gaussian_inputs("limits of strong spikes"), *CLOSED_SYSTEM)
"""Errors with infinitely strong spikes."""

# -- widths ----------------------------------------------------------------------------------------


def _ratio(field: str, *, least: float, most: float = math.inf) -> Limit:
    bounds = "between {least:g} d and {most:g} d" if most < math.inf else "at least {least:g} d"
    return Limit(
        name=f"{field}/d",
        quantity=lambda setting: getattr(setting, field) / setting.d,
        least=float(least),
        most=float(most),
        sentence=f"{field} must be {bounds}, got {{value:.3g}} d",
        evidence="benchmarks/finite_size.py",
        kind="measured",
    )


LINEAR_WIDTH: tuple[Limit, ...] = (
    PREDICTED_INPUTS,
    _ratio("p", least=0.05, most=20.0),
    _ratio("n", least=0.05, most=20.0),
    *AT_MOST_FOUR,
    *when(lambda setting: setting.readout_n > 0, READOUT),
)
"""The limits of the theory of linear width."""


TURN = Limit(
    name="turn by the target's degree 2",
    quantity=turn,
    # The errors of relu on x1 + He2(x2)/2 at n = d^2, p = d^2/2, readout_n = d^2, d = 30 are 4 %
    # off beside what they are before the step at .19, 25 % at .57 and 40 % at 1.1.
    most=0.2,
    sentence="the step is too large. The quadratic part of the target changes rows outside the "
    "learned direction by {value:.3g} of what they were, at most {most:g} is allowed",
    evidence="docs/derivations/quadratic.md",
    kind="measured",
)

SQUARES = Limit(
    name="neurons and readout samples over d^2",
    quantity=lambda s: min(s.p, s.readout_n) / s.d**2,
    # Degree 3, which has d^3/6 dimensions, counts as noise.  Both at 4 d^2 the errors at d = 16 are
    # 6 % (tanh) and 16 % (relu) off, 2.6/d.
    most=4.0,
    sentence="the smaller of p and readout_n must be at most {most:g} d^2, got {value:.3g} d^2",
    evidence="benchmarks/quadratic.py",
    kind="measured",
)

QUADRATIC_WIDTH: tuple[Limit, ...] = (
    PREDICTED_INPUTS,
    AT_MOST_ONE[0],
    _ratio("p", least=0.05),
    _ratio("n", least=0.05),
    SQUARES,
    gaussian_inputs("quadratic width"),
    *RANDOM_ROWS,
    *when(lambda setting: setting.readout_n > 0, (*READOUT, FRESH_READOUT)),
    TURN,
)
"""The limits of the theory of quadratic width."""

# -- what the leading order leaves out -------------------------------------------------------------


def _precision(name: str, most: float, what: str, quantity: Quantity = left_out) -> Limit:
    return Limit(
        name=f"relative terms of order 1/d and 1/p, {name}",
        quantity=quantity,
        most=float(most),
        sentence=f"the theory of wide networks is exact for large sizes only. Here it leaves out "
        f"about {{value:.0%}} {what}, at most {{most:.0%}} is allowed",
        evidence="benchmarks/finite_size.py",
        kind="chosen",
    )


# d = 200 and p = 100: where both theories serve, that of narrow networks takes longer.
INSTEAD_OF_NARROW = (_precision("where the narrow theory serves too", 0.02, "of the rows"),)

# d = 20 and p = 10, after two steps d = 60.
BESIDE_OTHER_ROWS = (
    _precision(
        "readout errors beside narrow rows", 0.2, "of the readout's errors", left_out_of_errors
    ),
    TURN,
)

# Some tens of runs see as much.
OF_DATA = (WHITENED, _precision("rows of a data set", 0.05, "of the rows of a data set"))

# -- alignment of the second direction -------------------------------------------------------------


ALIGNMENT: tuple[Limit, ...] = (
    *ONE_OR_TWO,
    Limit(
        name="linear part of the target",
        quantity=linear_part,
        # Overlaps below this share of the label's deviation are quadrature error of a label with
        # jumps.
        most=3e-3,
        sentence="target must have no linear part for the limit of the second direction, got "
        "|E[y z]| = {value:.3g} of the root mean square label",
        evidence="tests/prediction/wide/test_two_step.py"
        "::test_no_alignment_without_a_linear_part_of_the_squared_label",
        kind="chosen",
    ),
    Limit(
        name="size of the second direction",
        quantity=size_of_second_direction,
        # Rounding of coefficients that are zero.
        least=math.nextafter(VANISHING**2, math.inf),
        sentence="activation must be such that a second direction exists, got {given[activation]}",
        evidence="tests/prediction/wide/test_two_step.py"
        "::test_no_alignment_without_a_linear_part_of_the_squared_label",
        kind="chosen",
    ),
)
"""The limits of ``second_alignment``."""
