"""Linear width for inputs in blocks: one block, random features, and one step against runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from giantstep import NoTheoryError, Setting, predict, simulate
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.quantities import left_out
from giantstep.prediction.wide.seen_inputs import few_nodes, seen_inputs
from giantstep.prediction.wide.weight_outliers import weight_outliers

SIZES: dict[str, Any] = {
    "d": 200, "n": "2d", "p": "1.5d", "readout_n": 500, "test_n": 2000, "ridge": 0.1, "steps": 1,
    "start": "sphere",
}  # fmt: skip
STEP = SIZES | {"step_size": "0.3*giant"}


def numbers(setting: Setting) -> Any:
    """Errors, the edge and the outliers of features and weights."""
    errors, features = losses(setting), feature_outliers(setting)
    weights = weight_outliers(setting)[-1]
    values = [errors.train, errors.test, features.edge, *features.values, *features.left.ravel()]
    return np.array([*values, *weights.singular_values, *weights.overlap.ravel()])


# Exact.


@pytest.mark.parametrize("start", ["sphere", "symmetric"])
def test_equal_blocks_are_one(start: str) -> None:
    """Blocks of variance one give the numbers of N(0, I) to 1e-8, other variances do not."""
    setting = Setting.linear_width(
        "x1 + He2(x1)/2", activation="relu", **STEP | {"start": start, "readout_start": "signs"}
    )
    expected = numbers(setting)
    assert numbers(setting.vary(inputs="blocks(0.5, 1, 0.5, 1)")) == pytest.approx(
        expected, abs=1e-8
    )
    uneven = numbers(setting.vary(inputs="blocks(0.5, 1.5, 0.5, 0.5)"))
    assert abs(uneven[1] - expected[1]) > 0.03 * expected[1]


def test_the_scale_of_all_inputs() -> None:
    """Inputs of variance 4 are those of variance one, of which label and neurons see twice."""
    setting = Setting.linear_width("x1", activation="tanh", inputs="blocks(1, 4)", **STEP)
    twice = setting.vary(target="2*x1", activation="tanh(2*z)", inputs="gaussian")
    assert numbers(setting) == pytest.approx(numbers(twice), abs=1e-8)


def random_features(setting: Setting, penalty: float) -> tuple[float, float]:
    """(train, test) before any step, linear label, odd neurons: the equations as one writes them.

    o = 1/(1 + V), A_b = (p/d) v_b c_1^2 Q; the objective is o (|T|^2 sum_b q_b v_b/(1 + A_b o)),
    and further samples of weight tau have o + tau in its place: derivatives by differences.
    """
    d, n, p = setting.d, setting.readout_n, setting.p
    inputs, moments = seen_inputs(setting), seen_inputs(setting).activation.moments
    share, v, c = inputs.shares, inputs.variances, moments.linear**2
    profile = inputs.profiles[0] * v / inputs.along_target(1)[0]
    power = inputs.target.series.square

    def objective(ridge: float, tau: float) -> float:
        damping, resolvent = 0.5, 1.0
        for _ in range(4000):
            o = damping + tau
            screened = 1.0 / (1.0 + p / d * v * c * resolvent * o)
            noise = moments.rest
            resolvent = 1.0 / (ridge + o * noise + c * o * float(share @ (v * screened)))
            leverage = p / n * resolvent * noise
            leverage += p / n * c * resolvent * float(share @ (v * screened))
            damping = 0.5 * damping + 0.5 / (1.0 + leverage)
        screened = 1.0 / (1.0 + p / d * v * c * resolvent * (damping + tau))
        return power * (damping + tau) * float(profile @ screened)

    h = 1e-5
    slope = (objective(penalty + h, 0.0) - objective(penalty - h, 0.0)) / (2 * h)
    test = (objective(penalty, h) - objective(penalty, -h)) / (2 * h)
    return objective(penalty, 0.0) - penalty * slope, test


@pytest.mark.parametrize(
    ("inputs", "frame"),
    [
        ("blocks(0.3, 2.5, 0.7, 0.357)", "random"),
        ("blocks(0.3, 2.5, 0.7, 0.357)", "axes"),
        ("power(0.5)", "random"),
    ],
)
def test_before_a_step_it_is_random_features(inputs: str, frame: str) -> None:
    """Errors at d = 10^6, where terms of order 1/d are gone, to 1e-3 of a second implementation.

    Those of one block of the same trace are more than 3 % away where directions are random.
    """
    sizes = {"d": 10**6, "n": "2d", "p": "1.5d", "readout_n": "2d", "test_n": 10, "steps": 0}
    setting = Setting.linear_width(
        "x1", activation="tanh", inputs=inputs, frame=frame, start="sphere", ridge=0.1, **sizes
    )
    found = losses(setting)
    expected = random_features(setting, 0.1 / setting.scale**2)
    assert (found.train, found.test) == pytest.approx(expected, rel=1e-3)
    if frame == "random":
        even = losses(setting.vary(inputs="gaussian"))
        assert abs(even.test / found.test - 1.0) > 0.03


def test_few_nodes_have_the_means() -> None:
    """Five nodes have three moments of 40 atoms and means of 1/(1 + v) exactly; three are atoms."""
    rng = np.random.default_rng(0)
    places, masses = np.exp(rng.uniform(-3.0, 4.0, 40)), rng.uniform(0.1, 1.0, 40)
    share = masses / masses.sum()
    nodes, weights = few_nodes(places, masses)
    assert len(nodes) == 5
    for k in range(4):
        assert weights @ nodes**k == pytest.approx(share @ places**k, rel=1e-9)
    assert weights @ (1 / (1 + nodes)) == pytest.approx(share @ (1 / (1 + places)), rel=1e-9)
    between = share @ (1 / (1 + 3 * places))
    assert weights @ (1 / (1 + 3 * nodes)) == pytest.approx(between, rel=1e-3)
    nodes, weights = few_nodes(places[:3], masses[:3])
    assert np.sort(nodes) == pytest.approx(np.sort(places[:3]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": "power(1)"}, "Few axes of large variance"),
        ({"inputs": "power(0.5)", "frame": "axes"}, "its block has 1"),
        ({"inputs": "shifted(1, 0.5)"}, "inputs must be gaussian"),
        ({"inputs": "power(0.5)", "steps": 2, "step_size": 1.0}, "inputs must be gaussian"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(NoTheoryError, match=words):
        predict(Setting.linear_width("x1", **STEP | changes), theory="linear-width")


def test_few_axes_have_no_spectrum_of_the_features() -> None:
    found = predict(Setting.linear_width("x1", inputs="power(0.5)", spectra=4, **STEP))
    assert found.features is None
    assert found.weights is not None
    assert np.all(np.isfinite(found.test_error))
    assert any("at least 10 axes" in note for note in found.notes)


# Against runs.

CASES: dict[str, dict[str, Any]] = {
    "two blocks": {
        "target": "x1 + He2(x1)/2",
        "activation": "relu",
        "inputs": "blocks(0.3, 2.5, 0.7, 0.357)",
    },
    "pairs": {
        "target": "tanh(x1)",
        "activation": "tanh",
        "inputs": "blocks(0.2, 3, 0.3, 1, 0.5, 0.2)",
        "start": "symmetric",
    },
    "two directions": {
        "target": "tanh(x1) + x1*x2",
        "activation": "gelu",
        "inputs": "blocks(0.2, 3, 0.3, 1, 0.5, 0.2)",
        "start": "gaussian",
    },
    "along an axis": {
        "target": "x1 + He2(x1)/4",
        "activation": "relu",
        "inputs": "blocks(0.5, 1.6, 0.3, 0.5, 0.2, 0.2)",
        "frame": "axes",
    },
    "power law": {"target": "x1", "activation": "relu", "inputs": "power(0.5)"},
    "spike": {"target": "x1", "activation": "relu", "inputs": "spiked(4, 0.6)"},
}


def measured(found: Any) -> list[Any]:
    """Per run: errors before and after the step, squared length and overlap of the rows."""
    aligned = found.readout[:, :, None] * found.overlap[:, 1]
    lengths = np.mean(found.norms[:, 1] ** 2, axis=1) - 1.0
    errors = [*found.train_error.T, *found.test_error.T]
    values = [*errors, lengths, np.mean(aligned[..., 0], axis=1)]
    outlier = found.weights.singular_values if found.weights.outliers is None else None
    place = found.weights.outliers[:, -1, 0] if outlier is None else outlier[:, -1, 0]
    return [*values, place, np.abs(found.weights.overlap[:, -1, 0, 0])]


def gaps(setting: Setting, runs: list[Any]) -> Any:
    """Theory less the mean of the runs, in standard errors with what the theory leaves out."""
    theory = [
        float(np.mean(values)) for values in measured(predict(setting, theory="linear-width"))
    ]
    means = np.array([np.mean(values) for values in runs])
    errors = np.array([np.std(values, ddof=1) / math.sqrt(len(values)) for values in runs])
    return (np.array(theory) - means) / np.hypot(errors, left_out(setting) * means)


@pytest.mark.law(sentinel="two blocks")
@pytest.mark.parametrize("case", CASES)
def test_one_step_against_dense_runs(case: str) -> None:
    """Errors, lengths, overlaps, outlier of W: 16 runs at d = 200 within 4 standard errors.

    Eight comparisons a case.  The isotropic theory of the same trace is more than 6 off in one.
    """
    changes = STEP | {"runs": 16, "spectra": 4, "engine": "dense", "seed": 11} | CASES[case]
    setting = Setting.linear_width(**changes)
    runs = measured(simulate(setting))
    assert np.all(np.abs(gaps(setting, runs)) < 4)
    even = setting.vary(inputs=f"blocks(1, {seen_inputs(setting).scale ** 2})")
    assert np.any(np.abs(gaps(even, runs)) > 6)
