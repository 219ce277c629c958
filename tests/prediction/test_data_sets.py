"""Theory beside the rows of a data set: where Gaussian inputs stand for them, and where not."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.errors import InputError, NoTheoryError
from giantstep.prediction.narrow.state import start_of_run
from giantstep.prediction.predict import predict
from giantstep.prediction.theories import choose_theory
from giantstep.problem.setting import Setting
from giantstep.records.comparison import Comparison, compare
from giantstep.simulation.simulate import simulate


@pytest.fixture(scope="module")
def exponential(tmp_path_factory: pytest.TempPathFactory) -> str:
    """6000 rows of 100 skewed columns of kurtosis 9."""
    path = tmp_path_factory.mktemp("rows") / "exponential.npy"
    np.save(path, np.random.default_rng(0).standard_exponential((6000, 100)))
    return str(path)


def compared(setting: Setting) -> tuple[str | None, Comparison]:
    predicted = predict(setting)
    return predicted.theory, compare(predicted, simulate(setting))


@pytest.mark.law
def test_random_directions_of_white_rows_are_as_good_as_gaussian_ones(exponential: str) -> None:
    """The level is 1e-3, one comparison; a single column in their place is 5 sigma off."""
    setting = Setting(
        "x1 + He2(x1)/2",
        inputs=f"whitened({exponential})",
        p=4,
        steps=1,
        n=300,
        test_n=2000,
        runs=20,
    )
    theory, random = compared(setting)
    assert (theory, setting.d, random.agrees) == ("narrow", 100, True)
    _, column = compared(setting.vary(frame="columns(x3)"))
    assert not column.agrees
    assert column.sigmas > 5
    assert np.nanmax(np.abs(column.deviations["test_error"])) > 5


@pytest.mark.law
@pytest.mark.parametrize(
    ("serving", "changes"),
    [("narrow", {}), ("gaussian-runs", {"readout_between": "ridge"})],
    ids=["narrow", "gaussian-runs"],
)
def test_rows_are_taken_for_gaussian_ones(
    tmp_path: Path, serving: str, changes: dict[str, Any]
) -> None:
    """Six Gaussian columns agree (level 1e-3, one comparison), six exponential ones do not.

    Runs are drawn at d = 6 by the theory of narrow networks; where it refuses the rows of a data
    set, Gaussian runs serve.  A note says how far the columns are from Gaussian ones.
    """
    key = np.random.default_rng(1)
    np.save(tmp_path / "gaussian.npy", key.standard_normal((4000, 6)))
    np.save(tmp_path / "exponential.npy", key.standard_exponential((4000, 6)))
    fields = {"p": 4, "n": 60, "test_n": 1000, "runs": 24, "batches": "reused"}
    verdicts = {}
    for name in ("gaussian", "exponential"):
        inputs = f"whitened({tmp_path / name}.npy)"
        setting = Setting("x1 + He2(x1)/2", inputs=inputs, frame="axes", **(fields | changes))
        predicted = predict(setting)
        verdicts[name] = compare(predicted, simulate(setting))
        assert predicted.theory == serving
        assert f"takes the rows of {name}.npy for N(0, I)" in predicted.notes[-1]
    assert verdicts["gaussian"].agrees
    assert not verdicts["exponential"].agrees


@pytest.mark.law
def test_gaussian_runs_are_whitened_and_dealt_out_alike(tmp_path: Path) -> None:
    """Whitening takes noise off a batch of n = 0.4 N rows: theory without it is 5 sigma off.

    Level 1e-3, one comparison of each.
    """
    np.save(tmp_path / "gaussian.npy", np.random.default_rng(2).standard_normal((1000, 100)))
    inputs = f"whitened({tmp_path / 'gaussian.npy'})"
    sizes = {"n": 400, "readout_n": 200, "test_n": 300}
    setting = Setting("x1", inputs=inputs, p=4, steps=1, runs=30, **sizes)
    theory, verdict = compared(setting)
    assert (theory, verdict.agrees) == ("gaussian-runs", True)
    narrow = predict(setting, theory="narrow", deviations=False)
    without = compare(narrow, simulate(setting))
    assert not without.agrees
    assert without.sigmas > 5


@pytest.mark.law
def test_gaussian_runs_have_the_readouts_of_the_runs(exponential: str) -> None:
    setting = Setting(
        "x1", inputs=f"whitened({exponential})", p=4, n=100, runs=2, readout_start="gaussian"
    )
    found, measured = predict(setting, theory="gaussian-runs"), simulate(setting)
    assert found.readout is not None
    np.testing.assert_array_equal(found.readout[:2], measured.readout)
    assert found.runs == 24
    assert "kurtosis of the columns" in found.notes[-1]
    assert not np.allclose(found.overlap[:2], measured.overlap)


def test_which_theory_serves_the_rows_of_a_data_set(exponential: str) -> None:
    setting = Setting("x1", inputs=f"whitened({exponential})", p=4, n=200, steps=1)
    assert choose_theory(setting).name == "narrow"
    assert choose_theory(setting.vary(n=400)).name == "gaussian-runs"
    assert choose_theory(setting.vary(n=400, inputs=f"data({exponential})")).name == "narrow"
    assert choose_theory(setting.vary(p=60)).name == "narrow"
    several = setting.vary(p=20, steps=2, batches="reused")
    assert choose_theory(several).name == "narrow"
    assert choose_theory(several.vary(readout_between="ridge")).name == "gaussian-runs"
    # Theories of spectra are not replaced, nor one that is asked for.
    assert choose_theory(setting.vary(p=20, spectra=4)).name == "linear-width"
    assert choose_theory(setting.vary(p=20), "linear-width").name == "linear-width"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"readout_between": "ridge"},
            "theory narrow: readout_between must be frozen or gradient(size) for the rows of a "
            "data set, got 'ridge'",
        ),
        (
            {"update": "sign"},
            "theory narrow: update must be gradient, normalised or orthogonal for the rows of a "
            "data set, got 'sign'",
        ),
        (
            {"deflate": 2},
            "theory narrow: deflate must be at most 1 for the rows of a data set, got 2",
        ),
        (
            {"start": "given", "start_rows": np.eye(4, 100)},
            "frame must be axes for a prediction from start_rows, got 'random'",
        ),
    ],
)
def test_gaussian_runs_cover_the_words_that_theories_refuse(
    exponential: str, changes: dict[str, Any], sentence: str
) -> None:
    setting = Setting("x1", inputs=f"whitened({exponential})", p=4, n=200, steps=1)
    assert choose_theory(setting).name == "narrow"
    setting = setting.vary(**changes)
    assert choose_theory(setting).name == "gaussian-runs"
    with pytest.raises(NoTheoryError, match=f"^no prediction: {re.escape(sentence)}"):
        choose_theory(setting, "narrow")


def test_given_rows_on_axes_have_a_theory(exponential: str) -> None:
    given = {"start": "given", "start_rows": np.eye(4, 100), "frame": "axes"}
    setting = Setting("x1", inputs=f"whitened({exponential})", p=4, n=200, steps=1, **given)
    assert choose_theory(setting).name == "narrow"
    assert predict(setting).overlap[0, 0, :, 0].tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.law
def test_gaussian_runs_record_the_steps_of_the_setting_along_its_columns(tmp_path: Path) -> None:
    np.savetxt(
        tmp_path / "a.csv",
        np.random.default_rng(4).standard_normal((400, 6)),
        delimiter=",",
        header="a,b,c,d,e,f",
        comments="",
    )
    rows = np.arange(24.0).reshape(4, 6) / 24
    setting = Setting(
        "x1*x2",
        inputs=f"whitened({tmp_path / 'a.csv'})",
        frame="columns(e, b)",
        start="given",
        start_rows=rows,
        readout_start="alternating",
        p=4,
        n=20,
        steps=7,
        record="every(3)",
        batches="minibatch(40)",
    )
    found = predict(setting)
    assert found.theory == "gaussian-runs"
    assert found.overlap.shape == (24, 4, 4, 2)
    assert found.gradient_cosine is not None
    assert found.gradient_cosine.shape == (24, 3, 4, 2)
    np.testing.assert_allclose(found.overlap[0, 0], rows[:, [4, 1]], atol=1e-6)


@pytest.mark.law(sentinel="columns(x7)")
@pytest.mark.parametrize("frame", ["random", "columns(x7)"])
def test_a_run_is_predicted_from_its_own_start(exponential: str, frame: str) -> None:
    setting = Setting("x1", inputs=f"whitened({exponential})", p=4, runs=2, frame=frame, n=100)
    measured = simulate(setting.vary(steps=0, step_size=1.0))
    for run in range(2):
        rows = start_of_run(setting, run).rows
        np.testing.assert_allclose(rows[:, 0], measured.overlap[run, 0, :, 0], atol=1e-6)
        other = start_of_run(setting.vary(frame="axes"), run).rows
        assert not np.allclose(other[:, 0], measured.overlap[run, 0, :, 0], atol=1e-3)


def test_labels_without_a_function_have_no_theory(exponential: str) -> None:
    setting = Setting("column(x1)", inputs=f"data({exponential})", p=4)
    with pytest.raises(NoTheoryError, match=r"target must be a function .* 'column\(x1\)'"):
        predict(setting)
    with pytest.raises(InputError, match="gaussian-runs, got 'none'"):
        predict(setting, theory="none")
