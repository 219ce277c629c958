"""Limits of the mean-field theory: p grows at fixed d, and the steps are small."""

from __future__ import annotations

from giantstep.prediction.limits import (
    PREDICTED_INPUTS,
    Limit,
    computed,
    must_be,
    one_of,
    plain_step,
)
from giantstep.prediction.mean_field.particles import MOST_SECONDS, followed, seconds

MEAN_FIELD = "the mean-field theory"


LIMITS: tuple[Limit, ...] = (
    PREDICTED_INPUTS,
    must_be("inputs", "gaussian", MEAN_FIELD, lambda setting: setting.inputs.is_gaussian),
    one_of("deflate", (-1,), MEAN_FIELD),
    one_of("batches", ("fresh",), MEAN_FIELD),
    *plain_step(
        MEAN_FIELD,
        dict.fromkeys(("batches", "bias", "decay", "inputs", "label_transform", "loss", "rows")),
    ),
    Limit(
        name="dimension of the mean field",
        quantity=lambda setting: float(setting.d),
        most=20.0,
        sentence="d must be at most {most:.0f} for the mean-field theory, got {value:.0f}",
        # Averages over R^d on 2^11 points; more coordinates would need more of them.
        evidence="tests/prediction/mean_field/test_mean_field.py",
        kind="chosen",
    ),
    Limit(
        name="neurons of the mean field",
        quantity=lambda setting: setting.p / setting.d,
        least=20.0,
        sentence="p must be at least {least:.0f} d for the mean-field theory, got {value:.3g} d",
        # Rows that are fewer are served by the theory of narrow networks.
        evidence="tests/prediction/mean_field/test_mean_field.py",
        kind="chosen",
    ),
    Limit(
        name="seconds of the mean field",
        quantity=lambda setting: seconds(setting, followed(setting)),
        most=MOST_SECONDS,
        sentence="the mean-field theory would take about {value:.0f} seconds, at most {most:.0f} "
        "are allowed. Use fewer runs, or fewer neurons unless output_scale = 1/p",
        evidence="benchmarks/mean_field.py",
        kind="chosen",
    ),
)

NOISE: Limit = Limit(
    name="noise of the batches in the mean field",
    quantity=computed,
    most=0.05,
    sentence="the batches are too small or the steps too large. Their noise adds {value:.2g} "
    "to the squared length of a row, 1 at the end; at most {most:.2g} is allowed",
    # Rows then are off by some per cent: the mean of a function is not the function of the mean.
    evidence="tests/prediction/mean_field/test_mean_field.py::test_noise_of_batches_is_refused",
    kind="measured",
)

READOUT: Limit = must_be(
    "readout_n",
    "0",
    "the mean-field theory, which predicts the network's own error alone",
    lambda setting: setting.readout_n == 0,
)
