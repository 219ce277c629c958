"""``giantstep --version``, and ``python -m giantstep``."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import giantstep
from giantstep.cli.main import main
from giantstep.simulation.threads import cores


@pytest.mark.parametrize("arguments", [["--version"], ["learn", "--version"]])
def test_the_version_stands_alone(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(arguments)
    assert capsys.readouterr().out == f"{giantstep.__version__}\n"


def test_verbose_says_what_a_report_of_a_problem_needs(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version", "--verbose"])
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    for name in ("numpy", "scipy", "jax"):
        assert lines[name] == version(name)
    assert lines["giantstep"] == giantstep.__version__
    assert lines["python"] == sys.version.split()[0]
    assert lines["threads"] == str(cores())
    assert lines["device"]
    assert lines["platform"]


def test_what_it_does_not_know_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version", "--loud"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "giantstep: Unknown option: --loud.\n"


def test_python_runs_the_package() -> None:
    command = [sys.executable, "-m", "giantstep", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{giantstep.__version__}\n")
