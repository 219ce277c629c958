"""Which neurons of a run the mean-field flow follows, and what that costs."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Int

from giantstep.prediction.mean_field.flow import LOG2_POINTS
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting

PARTICLES = 2000
"""Neurons that stand for all where following all would take too long: they tell a mean over neurons
to 1/sqrt(2000), 2.2 % (tests/prediction/mean_field/test_mean_field.py)."""

MOST_SECONDS = 60.0
"""Seconds that a prediction may take, chosen."""


def seconds(
    setting: Setting,
    neurons: int,
    *,
    groups: int = 30,
    stages: int = 3,
    numbers_a_second: float = 1e8,
) -> float:
    """Seconds that a prediction takes on one core, about, for so many neurons of each run.

    Runs whose steps are small take about 30 groups of steps.
    """
    evaluations = stages * min(groups, max(setting.steps, 1))
    return setting.runs * evaluations * neurons * 2**LOG2_POINTS / numbers_a_second


def followed(setting: Setting) -> int:
    """How many neurons of a run are followed: all of them, or a sample where that takes too long.

    A sample gives the output to a relative error of 1/sqrt(PARTICLES) where s_p is 1/p.  With
    another output scale the output at the start is a sum that the sample does not know.
    """
    mean = math.isclose(setting.scale * setting.p, 1.0)
    too_long = seconds(setting, setting.p) > MOST_SECONDS
    return PARTICLES if mean and too_long and setting.p > PARTICLES else setting.p


def sampled_neurons(setting: Setting, run: int) -> Int[np.ndarray, " k"]:
    """The neurons of a run that are followed, both of a pair."""
    copies, count = setting.start.kind.copies, followed(setting)
    if count == setting.p:
        return np.arange(setting.p)
    key = generator(setting.seed, run, Purpose.SUBSET, 0)
    first = np.sort(key.choice(setting.p // copies, count // copies, replace=False))
    return np.concatenate([first + k * (setting.p // copies) for k in range(copies)])
