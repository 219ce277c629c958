"""Limits of the inputs of a wide network: N(0, I), or normal in blocks or with a spike."""

from __future__ import annotations

from giantstep.prediction.limits import Limit, must_be
from giantstep.prediction.wide.quantities import (
    axes_beside_target,
    carrying_axes,
    fewest_axes,
)

WIDE = "the theory of wide networks"

KNOWN_COVARIANCE = must_be(
    "inputs",
    "gaussian, or for at most one step blocks, power or spiked,",
    WIDE,
    lambda s: s.inputs.taken_for_gaussian or (s.inputs.normal and s.steps <= 1),
)

CARRYING = Limit(
    name="axes that carry a step",
    quantity=lambda s: None if s.inputs.is_gaussian or not s.inputs.normal else carrying_axes(s),
    # Theory leaves out up to 4 over this number.  A few axes of large variance do not average:
    # power(1) has 2.5 of them at any d.  Gaussian rows with the covariance of digits have 5.7, and
    # errors within 6 %; power(0.5) at d = 239 has 22, and is 12 % off where the network's own
    # output is large.
    least=5.0,
    sentence="inputs are too uneven. Few axes of large variance carry the step: it is as that of "
    "{value:.3g} equal axes, at least {least:g} are needed",
    evidence="tests/prediction/wide/test_wide_blocks.py",
    kind="measured",
)

AXES_BESIDE_TARGET = Limit(
    name="axes of the block of a target direction",
    quantity=axes_beside_target,
    # The noise of a step in the block counts as orthogonal to the target.  Where the first axis is
    # a block by itself, power(0.5) at d = 313, test errors are 54 % off.
    least=10.0,
    sentence="a target direction along an axis must be in a block of at least {least:g} axes, its "
    "block has {value:g}. Use frame = random",
    evidence="tests/prediction/wide/test_wide_blocks.py::test_what_is_refused",
    kind="measured",
)

FEW_AXES = Limit(
    name="axes of the smallest block",
    quantity=fewest_axes,
    # Fewer axes of a large variance make outliers of their own, which theory takes for a bulk.
    least=10.0,
    sentence="every block of the inputs must have at least {least:g} axes for a spectrum of the "
    "features, the smallest has {value:g}",
    evidence="tests/prediction/wide/test_wide_blocks.py",
    kind="chosen",
)
