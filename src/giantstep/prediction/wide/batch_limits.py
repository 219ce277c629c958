"""Limits of a readout that is fitted on the samples of the last step of a wide network."""

from __future__ import annotations

from dataclasses import replace

from giantstep.prediction.limits import Limit, gaussian_inputs, must_be, when
from giantstep.prediction.wide.quantities import (
    directions_before,
    fitted_on_batch,
    noise_of_steps,
    own_output_share,
    own_pull,
)

SECOND_BATCH = "a readout on the last batch of two steps"

BATCH_STEPS = Limit(
    name="steps before a readout on their last batch",
    quantity=lambda setting: float(setting.steps) if fitted_on_batch(setting) else None,
    most=2.0,
    sentence="steps must be at most {most:g} for a readout on the last batch of a wide network, "
    "got {setting.steps}",
    evidence="docs/derivations/own_batch.md",
    kind="derived",
)

ON_SECOND_BATCH = (
    must_be("batches", "fresh", SECOND_BATCH, lambda setting: setting.batches.kind.fresh),
    Limit(
        name="own output in the residual before a second step",
        quantity=own_output_share,
        # The output shortens rows and samples along the readout, which is derived for one step.  In
        # the settings of the benchmark the share is below .005, or above .15 and errors far off.
        most=0.01,
        sentence="the network's own output makes up {value:.2g} of the squared residual of the "
        "first step, at most {most:g} is allowed for "
        f"{SECOND_BATCH}. Use a symmetric start or residual = labels",
        evidence="benchmarks/own_batch.py",
        kind="measured",
    ),
    Limit(
        name="direction of the first step",
        quantity=directions_before,
        # A sample's echo is derived for one direction beta; an even activation has none.
        least=1.0,
        most=1.0,
        sentence="the first step must move rows along one direction for a readout on the batch of "
        "the second, got {value:g}",
        evidence="docs/derivations/own_batch.md",
        kind="derived",
    ),
)
"""Of two steps."""

OWN_PULL = Limit(
    name="pull of the network's own output on its batch",
    quantity=own_pull,
    # Of rows along the readout, which have length 1 at the start.  Up to here it is left out; 0
    # where it can be counted.
    most=0.05,
    sentence="the step is too small beside the network's own output. The output shortens rows "
    "along the readout by {value:.3g}, at most {most:g} is allowed on the last batch",
    evidence="docs/derivations/own_batch.md",
    kind="measured",
)

BATCH_NOISE = Limit(
    name="noise of the step in the rows, for a readout on its batch",
    quantity=lambda s: noise_of_steps(s) if fitted_on_batch(s) else None,
    # Rows hold their noise from the samples that the readout is fitted on.  Test errors are 1.5 %
    # off, root mean square, at 0.1 to here, 3 % after two steps, with 7 % at the end.
    most=0.5,
    sentence="too few samples for a readout on the last batch. Use more samples or a smaller step. "
    "The noise adds {value:.3g} to the squared length of a row, at most {most:g} is allowed",
    evidence="benchmarks/own_batch.py",
    kind="measured",
)

BATCH_TRAIN_NOISE = replace(
    BATCH_NOISE,
    name="noise of the step in the rows, for train errors on its batch",
    # Train errors are 5 to 18 % too high at 0.1 to 0.5, after two steps up to 12 %.
    most=0.1,
)

ON_BATCH = (
    BATCH_STEPS,
    *when(fitted_on_batch, (gaussian_inputs("a readout on the last batch of a wide network"),)),
    *when(lambda s: fitted_on_batch(s) and s.steps == 2, ON_SECOND_BATCH),
    OWN_PULL,
)
