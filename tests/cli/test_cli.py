"""The command line as a stranger meets it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from giantstep import Experiment, Setting, load, run_experiment, simulate
from giantstep.cli.main import main
from giantstep.store import prediction as prediction_module
from giantstep.store.folder import Store, prediction_bytes
from giantstep.store.identity import prediction_name, resolved


def run(
    *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "giantstep.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | (environment or {}),
    )


def refused(arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command stops with exit code 2 and one sentence that holds the piece."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert piece in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize(
    "statement",
    [
        "import giantstep",
        "from giantstep import analyze; analyze('staircase')",
        "from giantstep.cli.main import main; main(['analyze', 'staircase'])",
        "from giantstep.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_light_commands_stay_light(statement: str) -> None:
    check = "import sys; sys.exit(str({'jax', 'matplotlib'} & set(sys.modules) or 'light'))"
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{check}"], capture_output=True, text=True, check=False
    )
    # A slow machine is told that an analysis goes on.
    assert done.stderr.splitlines()[-1] == "light"


def test_json_has_the_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "x1 + x2 + x1^2 - x2^2", "--json"])
    record = json.loads(capsys.readouterr().out)
    for key in ("leap_index", "information_exponent", "generative_exponent", "one_step", "floors"):
        assert key in record
    assert record["directions"] == ["x1", "x2"]
    for name in ("fresh", "reused"):
        assert record["staircase"][name]["dimensions"] == [1, 2]
        bases = record["staircase"][name]["bases"]
        assert [len(basis) for basis in bases] == [1, 2]
        assert bases[0][0] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_table_speaks_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "staircase"])
    text = capsys.readouterr().out
    stairs = text.split("Staircase at n ~ d, fresh or reused batches\n")[1]
    words = [" ".join(line.split()) for line in stairs.splitlines()]
    assert words[1].startswith("1 1 x1 + x2 1")
    assert words[2].startswith("2 2 x1 - x2 2")
    main(["analyze", "hidden-by-oddness", "--activation", "tanh"])
    assert "Staircase at n ~ d, reused batches" in capsys.readouterr().out


def test_a_leading_minus_is_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "-x1 + x1*x2", "--json", "--activation", "-z + z^2"])
    assert json.loads(capsys.readouterr().out)["leap_index"] == 1


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["analyze", "x1 +"], "ends too early at position 5"),
        (["analyze", ""], "target is empty"),
        (["analyze", "7"], "constant, got '7'"),
        (["analyze", "x1", "--activation", "foo"], "'foo'"),
        (["analyze", "x1", "--label-degree", "99"], "label_degree must be in 1..8, got 99"),
        (["analyze", "x1", "--label-degree", "abc"], "abc"),
        (["analyze", "x1", "--bogus", "1"], "--bogus"),
        (["analyze"], "TARGET"),
        (["frobnicate"], "frobnicate"),
        (["analyze", "x1", "+", "x2"], "unexpected '+ x2': a target with spaces stands in quotat"),
        (["sweep", "--target", "x1"], "axes must name at least one field, got none"),
        (["analyze", "x1", "--d", "10.5"], "--d: a whole number is needed, got '10.5'"),
        (["needed", "x1", "--direction", "1.5"], "--direction: a whole number is needed, got"),
        (["activation", "relu", "--degree", "2.5"], "--degree: a whole number is needed, got"),
        (["report", "t.csv", "--label", "y", "--jobs", "1.5"], "--jobs: a whole number is needed"),
        (["report", "t.csv", "--label", "y", "--seed", ".5"], "--seed: a whole number is needed"),
        (["learn", "x1", "--out", ""], "--out: a folder needs a name, got ''"),
        (["claims", "one-step-line", "--out", " "], "--out: a folder needs a name, got ' '"),
        (["learn", "x1", "--memory", "1 KiB", "--engine", "dense"], "memory must be at least"),
        (["analyze", "9^9^9 + x1"], "387420489"),
        (["learn", "x1", "--d", "1000.5"], "d must be a whole number, got '1000.5'"),
        (["learn", "x1", "--steps", "1.9"], "steps must be a whole number, got '1.9'"),
        (["learn", "x1", "--runs", "2.9"], "runs must be a whole number, got '2.9'"),
        (["learn", "x1", "--seed", "0.5"], "seed must be a whole number, got '0.5'"),
        (["learn", "x1", "--d", "1e30"], f"d must be at most {2**53}, got '1e30'"),
        (["learn", "x1", "--steps", "1e30"], "steps must be at most 1000000, got '1e30'"),
        (["learn", "x1", "--n", "d^999"], "n must be finite, got 'd^999'"),
        (
            ["learn", "x1", "--start", "zero"],
            "start must be symmetric, sphere, gaussian, orthogonal or given",
        ),
        (["learn", "x1", "--inputs", "data(/no/such.csv)"], "inputs cannot read the data set"),
        (["learn", "column(price)"], "inputs must be a data set for the target column(price)"),
        (["analyze", "column(price)"], "target must be a function to be analyzed, got 'column("),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(arguments, piece, capsys)


def test_out_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "folder"
    main(["analyze", "staircase", "--out", str(folder), "--quiet"])
    written = (folder / "analysis.json").read_text()
    assert json.loads(written)["target"] == "staircase"
    with pytest.raises(SystemExit) as stopped:
        main(["analyze", "linear", "--out", str(folder)])
    assert stopped.value.code == 2
    assert "already holds analysis.json" in capsys.readouterr().err
    assert (folder / "analysis.json").read_text() == written


def test_catalog_lists_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    main(["catalog", "--json"])
    names = json.loads(capsys.readouterr().out)
    main(["catalog"])
    table = capsys.readouterr().out
    assert names
    assert all(name in table for name in names)


@pytest.mark.parametrize(("environment", "colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_left_out_on_request(environment: dict[str, str], colour: bool) -> None:
    """A terminal gets colours, unless it asks for none; FORCE_COLOR stands for the terminal."""
    done = run("analyze", "tanh(x1)", "--all", environment={"FORCE_COLOR": "1"} | environment)
    assert "note: The target is not a polynomial" in done.stdout
    assert ("\x1b[3" in done.stdout) == colour


def test_an_ascii_terminal_gets_ascii() -> None:
    done = run(*LEARN, "--runs", "2", environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "+-" in done.stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m giantstep.cli.main analyze five-regimes --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "{\n"
    assert done.stderr == ""


LEARN = ["learn", "staircase", "--d", "2000", "--test-n", "500", "--readout-n", "500"]


def test_learn_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    main([*LEARN, "--runs", "2"])
    text = capsys.readouterr().out
    assert "= x1 + x2 + x1^2 - x2^2\n" in text
    assert "d = 2,000, n = 8,000, p = 8, 2 steps of size 8 (giant)\n" in text
    assert "gaussian inputs, noise 0, symmetric start, fresh batches, seed 0\n" in text
    assert "x1 + x2 (step 1)" in text
    assert "x1 - x2 (step 2)" in text
    assert "floor" in text
    assert "nan" not in text


def test_learn_json_holds_what_the_tables_show(capsys: pytest.CaptureFixture[str]) -> None:
    main([*LEARN, "--json", "--runs", "3", "--steps", "1", "--step-size", "p^0.5"])
    record = json.loads(capsys.readouterr().out)
    simulation, prediction = record["simulation"], record["prediction"]
    assert simulation["runs"] == 3
    assert simulation["setting"]["step_size"] == pytest.approx([8**0.5])
    assert record["analysis"]["leap_index"] == 1
    # One entry a subspace of the staircase, one record a step.
    assert [entry["name"] for entry in record["subspaces"]] == [
        "x1 + x2 (step 1)",
        "x1 - x2 (step 2)",
    ]
    assert len(simulation["steps"]) == len(prediction["steps"]) == 2
    first, _ = simulation["steps"][1]["median_cosines"]
    assert first["mean"] > 0.1
    assert first["standard_error"] > 0
    assert simulation["steps"][1]["test_error"]["mean"] > record["floors"][1]
    assert record["comparison"]["runs"] == 3


def test_learn_writes_record_arrays_and_picture_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*LEARN, "--runs", "2", "--out", str(tmp_path), "--quiet"]
    main(command)
    record = json.loads((tmp_path / "learn.json").read_text())
    assert record["simulation"]["engine"] == "deferred"
    stored = load(tmp_path)
    [simulated], [predicted] = stored.trajectories, stored.predictions
    assert simulated.overlap.shape == (2, 3, 8, 2)
    assert predicted is not None
    assert predicted.test_error is not None
    assert predicted.test_error.shape == (1, 3)
    assert (tmp_path / "learn.png").read_bytes().startswith(b"\x89PNG")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    main([*LEARN, "--runs", "3", "--out", str(tmp_path), "--quiet"])  # the same, with more runs
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert before.items() <= after.items()
    again = json.loads((tmp_path / "learn.json").read_text())
    assert again["simulation"]["runs"] == 3
    [simulated] = load(tmp_path).trajectories
    plain = simulate(Setting(**again["simulation"]["setting"]))
    assert np.array_equal(simulated.overlap, plain.overlap)
    other = [*command, "--noise", "0.5"]
    refused(other, "out already holds learn.json of noise = 0.0, not 0.5", capsys)
    refused(other, "--overwrite replaces it", capsys)
    main([*other, "--overwrite"])
    assert json.loads((tmp_path / "learn.json").read_text())["simulation"]["runs"] == 2
    assert len(load(tmp_path).trajectories) == 2


def test_learn_takes_a_stored_prediction_and_refuses_that_of_another_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [*LEARN, "--steps", "1", "--runs", "2", "--out", str(tmp_path), "--quiet"]
    main(command)
    record = json.loads((tmp_path / "learn.json").read_text())
    setting = resolved(Setting(**record["simulation"]["setting"]))
    stored = tmp_path / "runs" / prediction_name(setting)
    content = stored.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(prediction_module, "predict", None)
        main(command)
    assert json.loads((tmp_path / "learn.json").read_text()) == record
    assert stored.read_bytes() == content
    foreign = prediction_bytes(setting.vary(noise=0.25), None, "no theory")
    stored.write_bytes(foreign)
    held = f"file must hold the result of noise = 0.0, got '{stored}' of noise = 0.25"
    refused(command, held, capsys)
    assert stored.read_bytes() == foreign
    assert json.loads((tmp_path / "learn.json").read_text()) == record


def test_learn_goes_on_after_an_interrupt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps the runs before it; the same command computes the others and replaces files."""
    command = [*LEARN, "--steps", "1", "--runs", "3", "--out", str(tmp_path)]
    write, calls = Store.write, []

    def interrupted(store: Store, name: str, content: bytes) -> None:
        calls.append(name)
        if len(calls) == 3:  # the prediction, the first run, the second
            raise KeyboardInterrupt
        write(store, name, content)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", interrupted)
        with pytest.raises(SystemExit) as stopped:
            main(command)
    assert stopped.value.code == 130
    assert "interrupted after 1 of 3 runs" in capsys.readouterr().out
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*.npz")}
    main(command)
    text = capsys.readouterr().out
    assert "interrupted" not in text
    assert "3 runs, deferred engine, simulation " in text
    assert " s, prediction " in text
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    [simulated] = load(tmp_path).trajectories
    assert np.array_equal(simulated.overlap, simulate(simulated.setting).overlap)


def test_a_run_of_hours_is_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("giantstep.cli.experiment.run_experiment", stop)
    for n, announced in (("1000d", False), ("10^9", True)):
        with pytest.raises(SystemExit):
            main(["learn", "x1", "--n", n, "--runs", "100", "--readout-n", "0", "--test-n", "0"])
        assert ("this will take about" in capsys.readouterr().err) == announced


def test_a_folder_that_cannot_be_written_is_found_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """/proc takes no files, from nobody; no simulation is begun."""

    def never(*arguments: object, **named: object) -> None:
        raise AssertionError("the simulation was begun")

    monkeypatch.setattr("giantstep.cli.experiment.run_experiment", never)
    refused([*LEARN, "--out", "/proc/giantstep"], "out cannot be written, got '/proc/gi", capsys)
    (tmp_path / "file").write_text("")
    refused([*LEARN, "--out", str(tmp_path / "file")], "out must be a folder", capsys)


@pytest.mark.slow
def test_spectrum_runs_to_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["spectrum", "x1 + He2(x1)/1.4", "--activation", "tanh", "--d", "60", "--runs", "2"]
    main([*command, "--test-n", "200", "--out", str(tmp_path)])
    text = capsys.readouterr().out
    # Its own defaults: n = 2d, p = 1.5d and one step.
    assert "d = 60, n = 120, p = 90, 1 step of size" in text
    assert "Outlying singular values" in text
    assert "Ridge readout, mean squared error" in text
    assert "theory: linear-width (n and p grow in proportion to d)" in text
    record = json.loads((tmp_path / "spectrum.json").read_text())
    assert len(record["simulation"]["steps"]) == 2
    assert record["prediction"]["steps"][1]["weights"]["edge"] > 0
    [simulated] = load(tmp_path).trajectories
    assert simulated.weights is not None
    assert simulated.weights.singular_values is not None
    assert simulated.weights.singular_values.shape == (2, 2, 60)
    assert (tmp_path / "spectrum.png").read_bytes().startswith(b"\x89PNG")


def test_spectrum_of_given_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = np.random.default_rng(0)
    weights = key.standard_normal((30, 20))
    weights[:, 3] += 4.0
    np.save(tmp_path / "layer.npy", weights)
    command = ["spectrum", "--weights", str(tmp_path / "layer.npy")]
    main([*command, "--out", str(tmp_path)])
    text = " ".join(capsys.readouterr().out.split())
    assert "30 neurons (rows) of 20 inputs (columns)" in text
    assert "1 outlier above the threshold" in text
    record = json.loads((tmp_path / "spectrum.json").read_text())
    assert record["outliers"][0]["inputs"] < 2
    with np.load(tmp_path / "spectrum.npz", allow_pickle=False) as arrays:
        assert abs(arrays["directions"][0, 3]) > 0.9
    assert (tmp_path / "spectrum.png").read_bytes().startswith(b"\x89PNG")
    main([*command, "--level", "0.001", "--json"])
    assert json.loads(capsys.readouterr().out)["level"] == 0.001
    np.save(tmp_path / "layer.npy", key.standard_normal((30, 20)))
    main(command)
    text = " ".join(capsys.readouterr().out.split())
    assert "No outliers: the largest singular value" in text
    assert "Outlying" not in text
    np.save(tmp_path / "layer.npy", np.eye(30))
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == 1
    assert "no bulk fits these weights" in capsys.readouterr().err


def test_weights_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "layer.npy"
    command = ["spectrum", "--weights", str(path)]
    refused(command, "weights cannot be read, got", capsys)
    np.savez(tmp_path / "layer.npz", a=np.ones((20, 20)))
    refused([*command[:2], str(tmp_path / "layer.npz")], "weights must be a .npy file", capsys)
    for array, piece in (
        (np.array([[{}]]), "Object arrays cannot be loaded"),
        (np.ones((20, 20), dtype=complex), "weights must be real numbers, got dtype complex128"),
        (np.full((20, 20), np.inf), "weights must be finite, got inf at row 0, column 0"),
        (np.ones((4, 4, 3, 3)), "reshape a kernel"),
        (np.ones((3, 40)), "at least 10 rows and columns"),
    ):
        np.save(path, array)
        refused(command, piece, capsys)
    path.write_bytes(path.read_bytes()[:-9])
    refused(command, "weights must be a .npy file", capsys)
    np.save(path, np.random.default_rng(0).standard_normal((12, 12)))
    refused([*command, "--level", "2"], "level must lie between 0 and 1, got 2", capsys)
    refused([*command[:1], "x1", *command[1:]], "of their own, got target as well", capsys)
    refused([*command, "--d", "30"], "weights are a matrix of their own, got d as well", capsys)
    refused(["spectrum", "x1", "--level", "0.1"], "level goes with weights, got 0.1", capsys)


def test_spectrum_says_what_it_cannot_count(capsys: pytest.CaptureFixture[str]) -> None:
    main(["spectrum", "x1", "--d", "30", "--inputs", "rademacher", "--test-n", "100"])
    text = " ".join(capsys.readouterr().out.split())
    assert "not counted" in text
    refused = (
        "inputs must be gaussian, spiked, shifted, clusters, blocks or power for a prediction, got "
    )
    assert f"{refused}'rademacher'" in text
    assert "none" not in text.split("Ridge readout")[0].split("Outlying")[1]


def test_help_shows_the_defaults_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    pieces = {
        "learn": ["8 by default", "4d (for labels of a data set all rows"],
        "spectrum": ["1.5d by", "2d by default"],
    }
    for command, expected in pieces.items():
        main([command, "--help"])
        text = " ".join(capsys.readouterr().out.replace("│", " ").split())
        for piece in expected:
            assert piece in text, (command, piece)


@pytest.mark.slow
def test_learn_takes_labels_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table with names: tests against noise, the fitted function, theory beside the steps."""
    key = np.random.default_rng(0)
    x = key.standard_normal((400, 6))
    y = np.tanh(x[:, 0] + x[:, 3]) + 0.3 * key.standard_normal(400)
    table = tmp_path / "table.csv"
    header = "a,b,c,d,e,f,price"
    np.savetxt(table, np.column_stack([x, y]), delimiter=",", header=header, comments="")
    arguments = ["learn", "column(price)", "--inputs", f"whitened({table})", "--p", "4"]
    arguments += ["--runs", "2", "--out", str(tmp_path)]
    main(arguments)
    text = " ".join(capsys.readouterr().out.split())
    for piece in ("Fitted function: ", "beyond noise", "cosine of two halves", "N(0, I)"):
        assert piece in text
    assert re.search(r"x1 = -?0\.\d\d [ad] [+-] 0\.\d\d [ad] ", text)
    record = json.loads((tmp_path / "learn.json").read_text())
    assert record["simulation"]["setting"]["target"] == "column(price)"
    assert record["labels"]["tests"][0]["beyond_noise"]
    assert record["prediction"]["theory"] == "narrow"
    assert len(record["labels"]["directions"][0]) == 6
    assert (tmp_path / "learn.png").read_bytes().startswith(b"\x89PNG")
    # Without the regressor there are the steps alone, and the reason.
    monkeypatch.setattr("giantstep.cli.experiment.find_spec", lambda name: None)
    main([*arguments, "--overwrite"])
    shown = capsys.readouterr()
    assert "tests of the labels against noise need scikit-learn" in shown.err
    text = " ".join(shown.out.split())
    assert "target must be a function for a prediction, got 'column(price)'" in text
    assert "Fitted function" not in text


def test_learn_reads_a_toml_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "setting.toml"
    path.write_text(
        'target = "x1 + x1*x2"\nd = 300\nn = "2d"\nactivation = "tanh"\nstep_size = [3, "p"]\n'
        "readout_n = 0\ntest_n = 0\n"
    )
    main(["learn", "--file", str(path), "--d", "400", "--json"])
    setting = json.loads(capsys.readouterr().out)["simulation"]["setting"]
    assert (setting["d"], setting["n"], setting["activation"]) == (400, 800, "tanh")
    assert setting["step_size"] == [3.0, 8.0]


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["learn"], "target is missing"),
        (["learn", "x1", "--n", "0"], "n must be at least 1, got '0'"),
        (["learn", "x1", "--p", "7"], "p must be even for the symmetric start, got 7; take 8, or"),
        (["learn", "x1", "--d", "50", "--p", "d/2"], "got 25; take 26, or the start sphere, which"),
        (["learn", "x1*x2*x3", "--d", "2"], "3 directions of the target, got 2"),
        (["learn", "x1", "--noise", "-1"], "noise must not be negative, got -1"),
        (["learn", "x1", "--step-size", "1e39"], "step_size overflows float32, got '1e39'"),
        (["learn", "x1", "--colour", "red"], "--colour"),
        (
            ["learn", "x1", "--memory", "lots"],
            "memory must be a size such as '512 MiB', got 'lots'",
        ),
        (["learn", "x1", "--file", "/nowhere.toml"], "'/nowhere.toml'"),
        (
            ["learn", "x1", "--engine", "deferred", "--inputs", "uniform"],
            "gaussian, spiked, shifted, clusters, blocks or power inputs",
        ),
    ],
)
def test_bad_settings_are_one_sentence_and_exit_2(
    arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(arguments, piece, capsys)


def test_a_file_in_another_encoding_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "setting.toml"
    path.write_bytes('target = "x1" # \xe9t\xe9\n'.encode("latin-1"))
    refused(["learn", "--file", str(path)], "file must be TOML in UTF-8, got", capsys)


def test_unknown_key_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "setting.toml"
    path.write_text('target = "x1"\nlr = 3\n')
    with pytest.raises(SystemExit) as stopped:
        main(["learn", "--file", str(path)])
    assert stopped.value.code == 2
    assert "unknown key 'lr'" in capsys.readouterr().err


def test_divergence_is_a_message_and_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*LEARN, "--activation", "He3", "--step-size", "1e12", "--steps", "4"])
    assert stopped.value.code == 1
    said = capsys.readouterr()
    assert "diverged" in said.err
    assert said.out == ""


def test_activation_lists_what_it_picks_up(capsys: pytest.CaptureFixture[str]) -> None:
    main(["activation", "tanh", "--degree", "4", "--json"])
    record = json.loads(capsys.readouterr().out)
    assert [entry["picks_up"] for entry in record["degrees"]] == [False, True, False, True, False]
    assert record["label_powers"] == [1, 3, 5, 7]
    main(["activation", "sign"])
    assert "yes" not in capsys.readouterr().out


def test_an_interrupted_command_shows_what_is_finished_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 130 after Ctrl-C, with the table of the runs that were finished; 0 without it."""

    def interrupted(setting: Setting, **options: object) -> Experiment:
        def stop(share: float, samples: int) -> None:
            if share > 0.5:
                raise KeyboardInterrupt

        return run_experiment(setting, progress=stop)

    command = [*LEARN, "--runs", "4", "--steps", "1"]
    main(command)
    assert "interrupted" not in capsys.readouterr().out
    monkeypatch.setattr("giantstep.cli.experiment.run_experiment", interrupted)
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == 130
    assert "interrupted after 2 of 4 runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["activation", "tanh", "x1 + x2"], "'x1 + x2': the command takes fewer arguments"),
        (["analyze", "x1", "+", "x2"], "a target with spaces stands in quotation marks"),
        (["activation", "max(z;-0.2)"], "';' at position 6, expected numbers, variables"),
        (
            ["activation", "clip(z, -0.2)"],
            "unknown name 'clip' at position 1, expected the variable",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong(
    arguments: list[str], piece: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert piece in capsys.readouterr().err


def test_no_warning_of_numpy_reaches_a_user(capfd: pytest.CaptureFixture[str]) -> None:
    """Steps that overflow: one sentence that says what helps, and no line of the package."""
    fields = ["--d", "40", "--n", "4d", "--p", "2", "--steps", "2", "--batches", "reused"]
    with pytest.raises(SystemExit) as stop:
        main(["learn", "x1", "--activation", "exp(z)", "--step-size", "1e6", *fields, "--quiet"])
    assert stop.value.code == 1
    said = capfd.readouterr().err
    assert "Warning" not in said
    assert said.strip().endswith("Use a smaller step")
