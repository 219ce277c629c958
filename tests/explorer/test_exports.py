"""The TOML file and the Python lines give the experiment that the page shows."""

import json
import subprocess
import sys
import tomllib

import pytest

from giantstep import __version__
from giantstep.cli.main import main
from giantstep.experiment import run_experiment
from giantstep.problem.setting import Setting

NARROW = {
    "target": "x1 + x2 + x1^2 - x2^2",
    "activation": "tanh",
    "d": "300",
    "n": "2.5d",
    "p": "4",
    "steps": "2",
    "step_size": "giant",
    "batches": "fresh",
    "update": "gradient",
    "bias": "0",
    "bias_at": "start",
    "noise": "0.1",
    "runs": "2",
    "seed": "3",
    "test_n": "400",
}
"""As the page sends it: everything is a text."""


def exported(client, kind: str, setting: dict, command: str = "learn") -> dict:
    answer = client.post(f"/api/export/{kind}", json={"command": command, "setting": setting})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("task", "request_"),
    [
        *(
            (task, {"command": command, "setting": {"target": "x1", "activation": "erf"}})
            for task in ("toml", "python")
            for command in ("learn", "spectrum", "analyze")
        ),
        ("sweep-toml", {"setting": {"target": "x1"}, "axes": [{"field": "d", "values": "9, 20"}]}),
        (
            "sweep-python",
            {"setting": {"target": "x1"}, "axes": [{"field": "d", "values": "9, 20"}]},
        ),
        ("claim-python", {"id": "pair-stays"}),
    ],
)
def test_every_file_says_which_version_wrote_it(client, task: str, request_: dict) -> None:
    made = client.post(f"/api/export/{task}", json=request_).json()
    assert made["text"].startswith(f"# written by giantstep {__version__}\n")
    if made["name"].endswith(".toml"):
        tomllib.loads(made["text"])
    else:
        compile(made["text"], made["name"], "exec")


@pytest.mark.slow
def test_the_file_is_the_setting(client, tmp_path, capsys) -> None:
    made = exported(client, "toml", NARROW)
    fields = tomllib.loads(made["text"])
    assert "bias" not in fields  # at its default
    assert Setting(**fields) == Setting(**NARROW)
    path = tmp_path / made["name"]
    path.write_text(made["text"], encoding="utf-8")
    main(["learn", "--file", str(path), "--json", "--quiet"])
    printed = json.loads(capsys.readouterr().out)
    steps = [step.as_dict() for step in run_experiment(Setting(**NARROW)).steps]
    assert printed["simulation"]["steps"] == steps


@pytest.mark.slow
def test_the_lines_run_and_print_the_same(client, tmp_path) -> None:
    made = exported(client, "python", NARROW)
    path = tmp_path / made["name"]
    path.write_text(made["text"], encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    steps = run_experiment(Setting(**NARROW)).steps
    assert done.stdout.splitlines()[: len(steps)] == [str(step.as_dict()) for step in steps]


def test_linear_width_has_its_own_defaults(client) -> None:
    setting = {"target": "x1", "d": "100", "step_size": ["n^0.3", "n^0.2"], "p": "1.5d"}
    fields = tomllib.loads(exported(client, "toml", setting, "spectrum")["text"])
    assert set(fields) == {"target", "d", "step_size"}
    assert Setting.linear_width(**fields) == Setting.linear_width(**setting)
    lines = exported(client, "python", setting, "spectrum")["text"]
    found: dict = {}
    exec(lines.split("experiment =")[0], found)
    assert found["setting"] == Setting.linear_width(**setting)


@pytest.mark.parametrize("target", ['x1"\nimport os\n"', "x1 + __import__('os')", "x1\\"])
def test_nothing_but_an_expression_gets_into_the_lines(client, target) -> None:
    body = {"command": "analyze", "setting": {"target": target, "activation": "relu"}}
    assert client.post("/api/export/python", json=body).status_code == 422


def test_the_analysis_has_lines_too(client) -> None:
    setting = {"target": "x1 + He2(x1)*x2", "activation": "relu"}
    found: dict = {}
    exec(exported(client, "python", setting, "analyze")["text"], found)
    assert found["analysis"].leap_index == 1


def test_an_unknown_command_is_refused(client) -> None:
    body = {"command": "rm", "setting": {"target": "x1"}}
    assert client.post("/api/export/toml", json=body).status_code == 422
