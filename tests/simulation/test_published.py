"""Numbers that others published, from the same settings.

A published number is one run's: it must lie within 4 standard deviations of our runs (16 of each),
26 comparisons.  Beside each stands a wrong setting, which is rejected.
"""

from typing import Any

import numpy as np
import pytest
from benchmarks.stored_runs import STEPS, STORED, converted, setting

from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate


def farthest(values: np.ndarray, published: list[float]) -> float:
    """The largest distance of a published number, in standard deviations of a run."""
    distance = np.abs(values.mean(axis=0) - published)
    # Numbers are published to four digits.
    return float(np.max(distance / (values.std(axis=0, ddof=1) + 5e-4 * np.abs(published))))


@pytest.mark.law
def test_a_linear_neuron_with_decay_on_one_batch() -> None:
    """Overlaps after 0, 1, 2, 4, 9, 19, 49 steps (data of dynamical mean-field theory)."""
    published = [0.1993, 0.4281, 0.5534, 0.6774, 0.7738, 0.8073, 0.8133]
    fields: dict[str, Any] = {"d": 1000, "n": "3d", "p": 1, "steps": 49, "step_size": 0.3}
    fields |= {"batches": "reused", "output_scale": "1", "readout_start": "ones", "runs": 16}
    fields |= {"start": "orthogonal", "start_overlaps": [[0.2]], "readout_n": 0, "test_n": 0}

    def overlaps(**changes: Any) -> np.ndarray:
        setting = Setting("x1", activation="z", **(fields | {"decay": 0.05} | changes))
        # The start is given, and published as it was drawn.
        return simulate(setting).overlap[:, [1, 2, 4, 9, 19, 49], 0, 0]

    assert farthest(overlaps(), published[1:]) < 4
    assert farthest(overlaps(decay=0.0), published[1:]) > 4
    assert farthest(overlaps(batches="fresh"), published[1:]) > 4


COMMITTEES = [0.0716, 0.0470, 0.0283, 0.0173, 0.0110, 0.0082, 0.00374, 0.00320]
"""Half the error against clean labels after 0, 100, .. 500, 1000, 2000 steps (arXiv 2202.00293)."""


def errors_of_committees(step_size: float, steps: int, momentum: float = 0.0) -> np.ndarray:
    """What is published, of our runs up to so many steps."""
    noise = 0.0316
    target = " + ".join(f"erf(x{k}/sqrt(2))/4" for k in range(1, 5))
    fields: dict[str, Any] = {"activation": "erf", "d": 100, "n": 1, "p": 8, "momentum": momentum}
    fields |= {"readout_start": "ones", "start": "sphere", "noise": noise, "runs": 16}
    fields |= {"record": "every(100)", "readout_n": 100, "test_n": 8000}
    error = simulate(Setting(target, steps=steps, step_size=step_size, **fields)).network_error
    assert error is not None
    places = [place for place in (0, 1, 2, 3, 4, 5, 10, 20) if 100 * place <= steps]
    return 0.5 * (error[:, places] - noise**2)


@pytest.mark.law
def test_one_pass_descent_of_soft_committees() -> None:
    assert farthest(errors_of_committees(0.08, 2000), COMMITTEES) < 4
    assert farthest(errors_of_committees(0.16, 2000), COMMITTEES) > 4


@pytest.mark.law
def test_one_pass_descent_of_soft_committees_with_momentum() -> None:
    """With momentum 1/2 half the step has the same limit (arXiv 2511.03952, abstract).

    The step of plain descent is rejected: there momentum adds to the noise, as that abstract says.
    """
    published = COMMITTEES[:6]
    assert farthest(errors_of_committees(0.04, 500, momentum=0.5), published) < 4
    assert farthest(errors_of_committees(0.08, 500, momentum=0.5), published) > 4


@pytest.mark.law(sentinel="10-0.09487")
@pytest.mark.parametrize(("n", "step_size"), STORED)
def test_committees_of_two_with_normalised_rows(n: int, step_size: float) -> None:
    """A converted error after 10 and 100 steps, stored with arXiv 2406.02157."""
    published = [STORED[n, step_size][STEPS.index(step)] for step in (10, 100)]

    def errors(size: float) -> np.ndarray:
        found = simulate(setting(n, size, steps=100, runs=16).vary(record="every(10)"))
        return converted(found)[:, [1, 10]]

    assert farthest(errors(step_size), published) < 4
    assert farthest(errors(2 * step_size), published) > 4
