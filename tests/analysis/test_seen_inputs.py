"""Targets under other laws of the inputs: leaps, and the effective dimension against runs.

Runs are those of the deferred engine.  Tolerances are 4 standard errors of the mean over runs; the
wrong variant, d in the place of the effective dimension, is at least 8 away.
"""

import math
from typing import Any

import numpy as np
import pytest

from giantstep import InputError, Setting, analyze, simulate
from giantstep.analysis.answer import answer

STEP: dict[str, Any] = {
    "steps": 1, "p": 2, "start": "sphere", "readout_start": "signs", "residual": "labels",
    "activation": "relu", "readout_n": 0, "test_n": 0,
}  # fmt: skip
LAWS = {
    "blocks": ("blocks(0.1, 8, 0.9, 0.2)", "random"),
    "a block": ("blocks(0.1, 8, 0.9, 0.2)", "block(2)"),
    "shares": ("blocks(0.1, 8, 0.9, 0.2)", "shares(0.7, 0.3)"),
    "power": ("power(0.4)", "random"),
    "spiked": ("spiked(4, 0.8)", "random"),
}


def moments(inputs: str, frame: str, d: int) -> tuple[float, float, float]:
    """S, M and tr Sigma of a law, by hand."""
    if inputs.startswith("spiked"):
        return 1.0 + 4.0 * 0.64, 1.0 + 24.0 * 0.64, d + 4.0
    if inputs.startswith("power"):
        v = np.arange(1.0, d + 1.0) ** -0.4
        v /= v.mean()
        return 1.0, float(np.mean(v**2)), float(d)
    share = {"random": 0.1, "block(2)": 0.0, "shares(0.7, 0.3)": 0.7}[frame]
    first, second = (share * 8.0**k + (1.0 - share) * 0.2**k for k in (1, 2))
    return first, second, 0.98 * d


@pytest.mark.parametrize("name", LAWS)
def test_moments_along_the_target(name: str) -> None:
    """Blocks of a power law are off by less than 1 %."""
    inputs, frame = LAWS[name]
    first, second, trace = moments(inputs, frame, 5000)
    found = analyze("x1", inputs=inputs, frame=frame, d=5000).inputs
    assert found.variances == pytest.approx([first])
    assert found.dimension == pytest.approx(trace * first / second, rel=0.01)


def test_leaps() -> None:
    """A shift or a spike along the target ends a leap, as far as parity allows it."""
    for target, inputs, leap in (
        ("He3(x1)", "gaussian", 3),
        ("He3(x1)", "shifted(1, 0.5)", 1),
        ("He3(x1)", "shifted(1, 0)", 3),
        ("He2(x1)", "shifted(1, -0.5)", 1),
        ("He2(x1)", "spiked(3, 0.5)", 2),
        ("He3(x1)", "spiked(3, 0.5)", 1),
        ("He3(x1)", "blocks(0.5, 2, 0.5, 1)", 1),
        ("He4(x1)", "blocks(0.5, 2, 0.5, 1)", 2),
        # f is orthogonal to lines at variance 2, not at variance 1.
        ("x1^3 - 6*x1", "blocks(1, 2)", 3),
        ("x1^3 - 6*x1", "gaussian", 1),
    ):
        assert analyze(target, inputs=inputs).leap_index == leap, (target, inputs)


def test_a_power_law_grows_slower() -> None:
    """D ~ d^(2 - 2a) for variances k^-a, 1/2 < a < 1, slowly reached; d for a < 1/2."""
    for exponent, growth in ((0.75, 0.5), (0.2, 1.0)):
        found = analyze("x1", inputs=f"power({exponent})", d=10**9).inputs
        assert found.growth == pytest.approx(growth, abs=0.01)


def cosine_squares(setting: Setting) -> np.ndarray:
    """Mean over neurons of the squared cosine of the gradient with the target, run by run."""
    found = simulate(setting)
    assert found.gradient_cosine is not None
    return np.mean(found.gradient_cosine[:, 0, :, 0] ** 2, axis=1)


def distance(measured: np.ndarray, expected: float) -> float:
    """In standard errors of the mean."""
    return abs(np.mean(measured) - expected) / (np.std(measured, ddof=1) / math.sqrt(len(measured)))


@pytest.mark.law(sentinel="shares-30000")
@pytest.mark.parametrize("d", [3000, 30_000, 100_000])
@pytest.mark.parametrize("name", LAWS)
def test_one_step_on_a_line(name: str, d: int) -> None:
    """docs/derivations/structured_inputs.md, eq. (7): relu has E[sigma'^2]/E[sigma']^2 = 2."""
    inputs, frame = LAWS[name]
    law = analyze("x1", inputs=inputs, frame=frame, d=d).inputs
    first, second, _ = moments(inputs, frame, d)
    setting = Setting("x1", d=d, n="d", inputs=inputs, frame=frame, runs=24, seed=d, **STEP)
    measured = cosine_squares(setting)
    most = first**2 / second
    assert distance(measured, most / (1.0 + 2.0 * law.dimension / d)) < 4.0
    assert distance(measured, most / (1.0 + 2.0)) > 8.0


@pytest.mark.law
def test_one_step_of_leap_two() -> None:
    """Blocks of mean variance one: He2 is learned as from N(0, I) in D inputs, not in d."""
    inputs, d = "blocks(0.1, 5.5, 0.9, 0.5)", 2000
    law = analyze("He2(x1)", inputs=inputs, d=d).inputs
    assert law.variances == pytest.approx([1.0])
    n, fields = round(law.dimension**2 / 4.0), STEP | {"p": 20, "runs": 60}
    blocks = cosine_squares(Setting("He2(x1)", d=d, n=n, inputs=inputs, seed=1, **fields)) * 3.25
    for inputs_of_equal, low, high in ((round(law.dimension), 0.0, 4.0), (d, 8.0, math.inf)):
        equal = cosine_squares(Setting("He2(x1)", d=inputs_of_equal, n=n, seed=2, **fields))
        error = math.hypot(*(np.std(each, ddof=1) / math.sqrt(60) for each in (blocks, equal)))
        assert low <= abs(np.mean(blocks) - np.mean(equal)) / error <= high


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"inputs": "clusters(2, 0.5)"}, "inputs must be normal about one mean"),
        ({"frame": "block(1)"}, "frame must be random or axes for gaussian inputs"),
        ({"frame": "nowhere"}, "frame must be random, axes"),
        ({"inputs": "blocks(0.5, 2, 0.5, 1)", "frame": "block(3)"}, "a block from 1 to 2"),
        ({"inputs": "blocks(0.5, 2, 0.5, 1)", "frame": "block(x)"}, "numbers in its brackets"),
        ({"inputs": "blocks(0.5, 2, 0.5, 1)", "frame": "shares(1)"}, "must have 2 shares"),
        ({"inputs": "blocks(0.5, 2, 0.5, 1)", "frame": "shares(0.5, 0.6)"}, "that sum to 1"),
        ({"inputs": "blocks(0.5, 2, 0.5, 1)", "frame": "shares(-1, 2)"}, "from 0 to 1"),
        ({"inputs": "blocks(0.5, 2, 0.5, 1)", "frame": "block(1)", "d": 2}, "have 2 axes each"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], sentence: str) -> None:
    """By ``analyze``, and all but clusters by a setting too, in the same words."""
    with pytest.raises(InputError, match=sentence):
        analyze("x1*x2", **fields)
    if "clusters" not in sentence + fields.get("inputs", ""):
        with pytest.raises(InputError, match=sentence):
            Setting("x1*x2", **{"d": 40, "n": 40, "p": 2} | fields)


MOVED = {"spiked(2, 0.5)": "x1 + x2", "shifted(1, 0.5)": "x1 + x2 + x1^2"}


@pytest.mark.parametrize("law", MOVED)
def test_the_first_step_moves_neurons_along_the_mean_gradient(law: str) -> None:
    """Two overlaps of the mean update over 200 runs; T_1 of the unit normals has another ratio."""
    analysis = analyze(MOVED[law], inputs=law)
    fields = STEP | {"readout_start": "ones", "activation": "He1", "step_size": 3.0}
    setting = Setting(MOVED[law], d=1000, n="16d", inputs=law, runs=200, seed=4, **fields)
    overlap = simulate(setting).overlap
    first, second = np.moveaxis(overlap[:, 1, 0] - overlap[:, 0, 0], -1, 0)

    def sigmas(direction: np.ndarray) -> float:
        across = first * direction[1] - second * direction[0]
        return float(abs(across.mean()) / across.std(ddof=1) * math.sqrt(len(across)))

    assert sigmas(analysis.inputs.mean_gradient(analysis.series)) < 4.0
    assert sigmas(analysis.series.tensor(1)) > 8.0
    told = "In the inputs themselves, the first step moves neurons along"
    assert told in " ".join(answer(analysis))
    assert told not in " ".join(answer(analyze("x1 + x2")))
