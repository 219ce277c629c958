"""The recipes of CONTRIBUTING.md work: they are put into a copy of the package, and used there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from giantstep.errors import InputError, NoTheoryError

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
KINDS = (
    "an activation",
    "a target",
    "an input law",
    "a kind of update",
    "a field of a setting",
    "a claim",
    "a theory",
    "a theory for Student inputs",
    "a figure",
)
WALKS = ("a theory for Student inputs",)
PLACE = re.compile(r"# (\S+\.py), (?:before (.+)|at the end)\n")


def blocks(kind: str) -> list[str]:
    """The code of one recipe."""
    section = PAGE.split(f"## Add {kind}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)


def put(block: str, package: Path) -> None:
    """Insert a block where its first line says: before the line that begins so, or at the end."""
    place = PLACE.match(block)
    assert place is not None
    path, code = package / place[1], block[place.end() :]
    text = path.read_text(encoding="utf-8")
    if place[2] is None:
        text += "\n\n" + code
    else:
        [line] = [line for line in text.splitlines() if line.strip().startswith(place[2])]
        text = text.replace(line, code + line, 1)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and everything that the recipes add."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "giantstep"
    shutil.copytree(
        ROOT / "src" / "giantstep", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for kind in KINDS:
        for block in blocks(kind):
            if PLACE.match(block):
                put(block, package)
    return folder


TRY = """
import json, sys, traceback
found = {}
for kind, code in json.load(sys.stdin).items():
    try:
        exec(code, {})
    except Exception:
        found[kind] = traceback.format_exc()
with open("found.json", "w") as file:
    json.dump(found, file)
"""


def uses(kind: str) -> str:
    """The lines of a recipe that use what it adds."""
    return "\n".join(block for block in blocks(kind) if not PLACE.match(block))


@pytest.fixture(scope="module")
def complaints(copy: Path) -> dict[str, str]:
    """What goes wrong where the recipes are used, all of them in one process."""
    done = subprocess.run(
        [sys.executable, "-c", TRY],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "MPLBACKEND": "agg"},
        input=json.dumps({kind: uses(kind) for kind in KINDS}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((copy / "found.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_works(
    kind: str, complaints: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert uses(kind)
    assert kind not in complaints, complaints[kind]
    # Nothing of it is there without the recipe.
    monkeypatch.chdir(tmp_path)
    missing = (InputError, KeyError, SystemExit)
    # Without a theory nothing is predicted, and without a term the runs are not those of theory.
    missing_in_walks = (NoTheoryError, AssertionError)
    with pytest.raises(missing_in_walks if kind in WALKS else missing):
        exec(uses(kind), {})


@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_is_short(kind: str) -> None:
    added = [block for block in blocks(kind) if PLACE.match(block)]
    assert 0 < sum(len(block.splitlines()) for block in added) < (60 if kind in WALKS else 30)
    # With a page of the derivations and a test, three files.
    assert len({place[1] for block in added if (place := PLACE.match(block))}) <= 2


def test_the_map_has_every_room() -> None:
    rooms = {p.name for p in (ROOT / "src/giantstep").iterdir() if (p / "__init__.py").is_file()}
    assert rooms - set(re.findall(r"^\| `(\w+)/", PAGE, flags=re.MULTILINE)) == set()
