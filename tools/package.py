"""Build wheel and sdist, and try them in empty environments: ``python tools/package.py``.

The wheel with the newest allowed versions (requirements.txt and requirements-dev.txt) and with the
lowest ones (requirements-lowest.txt), the sdist with the newest; each in its own environment,
outside the repository.  There the commands of a newcomer run, stored numbers, the page's files and
the marker of types are looked for, and tests of every room are run with the lowest versions.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]

EXTRAS = "app,cluster,report,sklearn,sympy"
"""Extras that a lock holds; cuda needs its own machine, docs has a lock of its own."""

COMMANDS = (
    ("giantstep", "--version", "--verbose"),
    ("python", "-m", "giantstep", "analyze", "x1"),
    ("giantstep", "analyze", "x1 + x2 + x1^2 - x2^2"),
    ("giantstep", "learn", "x1 + x2 + x1^2 - x2^2", "--d", "1000", "--runs", "2"),
    ("giantstep", "spectrum", "x1 + He2(x1)", "--d", "60", "--runs", "2"),
    ("giantstep", "reproduce", "spikes", "--out", "figures"),
    ("giantstep", "sweep", "--target", "He2(x1)", "--vary", "d=50,100", "--out", "sweep"),
    ("python", "-c", "import giantstep as g; [getattr(g, name) for name in g.__all__]"),
    (
        "python",
        "-c",
        "import dask.distributed, pyarrow, skops, sklearn, sympy, giantstep.explorer.server",
    ),
)

FILES = """
from importlib.resources import files
package = files("giantstep")
assert (package / "py.typed").is_file()
figures = [f.name for f in (package / "papers/figures/data").iterdir() if f.name.endswith(".json")]
assert figures, "no stored figures"
for name in ("papers/claims/data/quick.json", "explorer/static/index.html"):
    assert (package / name).is_file(), name
"""

NEWEST = ("requirements.txt", "requirements-dev.txt")
LOWEST = ("requirements-lowest.txt",)
"""The locks, by the versions they hold."""

TOOLS = ("beartype", "hypothesis", "pytest", "xarray")

SMOKE = (
    "tests/language",
    "tests/cli/test_cli.py",
    "tests/gaussian/test_hermite.py",
    "tests/analysis/test_staircase.py",
    "tests/problem/test_setting.py",
    "tests/records",
    "tests/store",
    "tests/simulation/test_published.py",
    "tests/estimator/test_names.py",
)
"""Tests of every room that take a few minutes together."""


def run(*command: str | Path, cwd: Path, **variables: str) -> None:
    """Run a command, and stop with its output where it fails."""
    print("$", *command, flush=True)
    plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=plain | variables,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\nexit {done.returncode}")


def install(commands: Path, locks: Iterable[str], *packages: str) -> None:
    """Install packages into an environment, at the versions of locks."""
    kept = [word for lock in locks for word in ("-c", str(ROOT / lock))]
    run(commands / "pip", "install", "--quiet", *kept, *packages, cwd=commands.parent)


def environment(folder: Path, archive: Path, locks: Iterable[str]) -> Path:
    """An empty environment with the archive and what locks allow it; the folder of commands."""
    venv.create(folder, with_pip=True, clear=True)
    commands = folder / "bin"
    package = f"giantstep[{EXTRAS}] @ {archive.as_uri()}"
    install(commands, locks, package)
    return commands


def attempt(archive: Path, locks: Iterable[str], smoke: bool) -> None:
    """Install the archive under locks and use it as a newcomer would."""
    print(f"\n{archive.name} with {', '.join(locks)}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = environment(folder / "venv", archive, locks)
        path = f"{commands}{os.pathsep}{os.environ['PATH']}"
        for command, *words in COMMANDS:
            run(commands / command, *words, cwd=folder, PATH=path)
        run(commands / "python", "-c", FILES, cwd=folder)
        if smoke:
            install(commands, locks, *TOOLS)
            # Old versions of others warn of what newer ones deprecate: that is not ours to mend.
            quiet = ("-W", "ignore::DeprecationWarning")
            run(commands / "python", "-m", "pytest", *quiet, *SMOKE, cwd=ROOT, PATH=path)


def main() -> None:
    """Build, then every archive with every lock that is due."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-smoke", action="store_true", help="leave the tests out")
    given = parser.parse_args()
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, cwd=ROOT)
    [wheel], [sdist] = list(dist.glob("*.whl")), list(dist.glob("*.tar.gz"))
    attempt(wheel, NEWEST, smoke=False)
    attempt(sdist, NEWEST, smoke=False)
    attempt(wheel, LOWEST, smoke=not given.no_smoke)
    print("\nwheel and sdist install and run with the newest and with the lowest versions")


if __name__ == "__main__":
    main()
