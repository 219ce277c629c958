"""Labels of one's own: what is fitted to them, its tests, and theory beside the steps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.estimator.labels import KINDS, fit_labels, step_tests
from giantstep.experiment import run_experiment
from giantstep.problem.setting import Setting
from giantstep.problem.target import make_target
from giantstep.records.labels import FittedLabels
from giantstep.simulation.simulate import simulate

ROWS, COLUMNS = 3000, 12
LINEAR, QUADRATIC, NOISE = 0.7, 0.5, 0.26**0.5
TURN = np.eye(COLUMNS) + 0.6 * np.random.default_rng(7).standard_normal((COLUMNS, COLUMNS))


def planted() -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """White rows and labels 0.7 z1 + 0.5 h2(z2) + noise, variance 1."""
    key = np.random.default_rng(3)
    z = key.standard_normal((ROWS, COLUMNS))
    curved = (z[:, 1] ** 2 - 1.0) / 2**0.5
    y = LINEAR * z[:, 0] + QUADRATIC * curved + NOISE * key.standard_normal(ROWS)
    return z, y


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Correlated columns x = z TURN with these labels among them."""
    z, y = planted()
    columns = np.insert(z @ TURN, 4, 10.0 + 3.0 * y, axis=1)
    path = tmp_path_factory.mktemp("labels") / "table.csv"
    names = [f"c{k}" for k in range(COLUMNS)]
    names.insert(4, "price")
    np.savetxt(path, columns, delimiter=",", header=",".join(names), comments="")
    return str(path)


@pytest.fixture(scope="module")
def setting(table: str) -> Setting:
    return Setting("column(price)", inputs=f"whitened({table})", n=200, p=4, test_n=1500, runs=12)


@pytest.fixture(scope="module")
def labels(setting: Setting) -> FittedLabels:
    return fit_labels(setting)


def along(rows: Float[np.ndarray, "n d"], directions: Float[np.ndarray, "k d"]) -> float:
    """Mean squared correlation of z1, z2 with projections on the directions."""
    z, _ = planted()
    u = np.linalg.qr(rows @ directions.T)[0]
    return float(np.mean(np.sum((np.linalg.qr(z[:, :2])[0].T @ u) ** 2, axis=1)))


def test_function_and_directions_are_those_planted(setting: Setting, labels: FittedLabels) -> None:
    assert labels.function is not None
    assert labels.function.r == 2
    series = labels.function.series
    powers = [float(np.sum(series.coefficients[series.degrees == k] ** 2)) for k in (1, 2)]
    # Shares of the variance; a coefficient has the standard error sqrt(1/3000), 0.02.
    assert powers == pytest.approx([0.49, 0.25], abs=0.08)
    model = labels.model(setting)
    assert model is not None
    assert model.noise**2 + series.variance == pytest.approx(1.0)
    assert (model.d, model.n, model.step_size) == (COLUMNS, 200, setting.step_size)


def test_directions_are_written_in_the_names_of_the_columns(labels: FittedLabels) -> None:
    turned = replace(
        labels,
        directions=np.array([[0.6, 0.0, -0.8], [-0.8, 0.0, -0.6]]),
        names=("age", "bmi", "price"),
    )
    assert turned.written_directions == [
        "x1 = -0.80 price + 0.60 age + 0.00 bmi",
        "x2 = -0.80 age - 0.60 price + 0.00 bmi",
    ]
    assert len(labels.names) == COLUMNS
    assert all(line.endswith(" + ...") for line in labels.written_directions)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["whitened", "data"])
def test_directions_are_in_the_coordinates_of_the_inputs(
    setting: Setting, labels: FittedLabels, law: str
) -> None:
    """In those of the other law they are elsewhere."""
    other = setting.vary(inputs=f"{law}({setting.inputs.path})")
    found = labels if law == "whitened" else fit_labels(other)
    gram = found.directions @ found.directions.T
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-10)
    assert other.data is not None
    assert along(other.data.rows, found.directions) > 0.97
    swapped = (
        setting.data if law == "data" else setting.vary(inputs=f"data({setting.inputs.path})").data
    )
    assert swapped is not None
    assert along(swapped.rows, found.directions) < 0.9


def test_directions_are_measured_and_change_nothing(setting: Setting, labels: FittedLabels) -> None:
    one = setting.vary(runs=1)
    plain, measured = simulate(one), simulate(one, directions=labels.directions)
    assert plain.overlap.shape == (1, 3, 4, 0)
    assert measured.overlap.shape == (1, 3, 4, 2)
    np.testing.assert_array_equal(plain.gram, measured.gram)
    np.testing.assert_array_equal(plain.test_error, measured.test_error)
    with pytest.raises(InputError, match="directions are those of the target 'x1'"):
        simulate(Setting("x1", d=12), directions=labels.directions)


def test_theory_stands_beside_the_steps_on_labels(setting: Setting, labels: FittedLabels) -> None:
    """Gaussian columns agree with the fitted function (level 1e-3); one without a line fails."""
    found = run_experiment(setting, labels=labels)
    assert found.predicted is not None
    assert found.predicted.theory == "narrow"
    assert found.comparison is not None
    assert found.comparison.agrees
    assert "kurtosis of the columns" in found.predicted.notes[-2]
    assert "a batch has 7% of the rows" in found.predicted.notes[-1]
    assert found.analysis is not None
    assert found.analysis.leap_index == 1
    assert found.floors[0] is not None
    assert labels.function is not None
    assert found.as_dict()["labels"]["function"] == labels.function.name
    wrong = run_experiment(
        setting, labels=replace(labels, function=make_target("0.7*He2(x1) + 0.7*He2(x2)"))
    )
    assert wrong.comparison is not None
    assert not wrong.comparison.agrees
    # The readout explains more with every step, and not what no readout can.
    test = found.simulated.test_error
    assert test is not None
    errors = test.mean(axis=0)
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] > 0.2


def test_labels_without_a_fit_are_simulated_alone(setting: Setting) -> None:
    found = run_experiment(setting.vary(runs=2))
    assert (found.analysis, found.predicted, found.comparison) == (None, None, None)
    assert found.complaint is not None
    assert "target must be a function for a prediction" in found.complaint
    assert found.subspaces == []
    assert found.as_dict()["analysis"] is None


def test_noise_has_no_function(tmp_path: Path) -> None:
    """Level 2 % for each of three tests, one draw."""
    key = np.random.default_rng(5)
    np.save(tmp_path / "noise.npy", key.standard_normal((300, 9)))
    setting = Setting("column(x9)", inputs=f"whitened({tmp_path / 'noise.npy'})", p=4, runs=2)
    found = fit_labels(setting)
    assert found.function is None
    assert found.directions.shape == (0, 8)
    assert not any(test.beyond_noise for test in found.tests)
    experiment = run_experiment(setting, labels=found)
    assert experiment.complaint == "no prediction: no function of a few directions fits the labels"
    assert experiment.simulated.overlap.shape[-1] == 0


def test_labels_of_which_one_is_wild_have_no_function(tmp_path: Path) -> None:
    """The steps see it as it is; a function of the others would not be that of the labels."""
    key = np.random.default_rng(3)
    x = key.standard_normal((200, 3))
    y = 2.0 * x[:, 0] + 0.1 * key.standard_normal(200)
    y[7] = 1e5
    path = tmp_path / "wild.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b,c,y", comments="")
    found = fit_labels(Setting("column(y)", inputs=f"data({path})", d=3))
    assert found.function is None


def test_two_halves_have_the_cosine_of_the_linear_part() -> None:
    """200 draws of 200 rows, 20 columns: within 3 standard errors; that of whole tables is not."""
    strength, series = 0.3, make_target("0.5477226*x1").series
    cosines, expected = [], 0.0
    for run in range(200):
        key = np.random.default_rng([9, run])
        z = key.standard_normal((200, 20))
        y = strength**0.5 * z[:, 0] + (1 - strength) ** 0.5 * key.standard_normal(200)
        first, *_ = step_tests(z, y, series, kinds=("first order",))
        assert first.expected is not None
        cosines.append(first.cosine)
        expected = first.expected
    error = np.std(cosines) / 200**0.5
    assert expected == pytest.approx(100 * strength / (100 * strength + 20))
    assert abs(np.mean(cosines) - expected) < 3 * error
    assert abs(np.mean(cosines) - 200 * strength / (200 * strength + 20)) > 3 * error


def test_halves_are_compared_by_spans_where_directions_are_tied() -> None:
    """The two directions of a saddle have the same strength: in each half either may lead.

    40 draws, far beyond noise.  In a quarter of them or more the leading ones are perpendicular.
    """
    spans, single = [], []
    for run in range(40):
        z = np.random.default_rng([12, run]).standard_normal((2000, 8))
        y = z[:, 0] * z[:, 1]
        [saddle] = step_tests(z, y, None, kinds=("second order",))
        assert saddle.beyond_noise
        assert saddle.count == 2
        spans.append(saddle.cosine)
        halves = np.array_split(np.random.default_rng(0).permutation(2000), 2)
        one, other = (KINDS["second order"](z[k], y[k], 0.02) for k in halves)
        single.append(abs(float(one.directions[:, 0] @ other.directions[:, 0])))
    assert min(spans) > 0.95
    assert np.sum(np.array(single) < 0.2) >= 10
    z = np.random.default_rng(13).standard_normal((2000, 8))
    [one_direction] = step_tests(z, z[:, 0] ** 2 - 1, None, kinds=("second order",))
    assert one_direction.count == 1
    assert one_direction.cosine > 0.95


def test_each_kind_of_step_sees_its_own() -> None:
    """A line, a cubic without a linear part, a saddle: level 2 %, strengths far beyond it."""
    z = np.random.default_rng(11).standard_normal((2000, 10))
    parts = {
        "first order": z[:, 0],
        "label slices": (z[:, 0] ** 3 - 3 * z[:, 0]) / 6**0.5,
        "second order": (z[:, 0] ** 2 - z[:, 1] ** 2) / 2,
    }
    seen = {
        kind: [test.kind for test in step_tests(z, y, None) if test.beyond_noise]
        for kind, y in parts.items()
    }
    assert "first order" in seen["first order"]
    assert "label slices" in seen["label slices"]
    assert seen["second order"] == ["second order"]
