"""What is published: one version, one date, locks without addresses, all files of a wheel."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import giantstep

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("requirements.txt", "requirements-lowest.txt")


def pins(lock: str) -> dict[str, str]:
    """Package -> version, names as the index compares them."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            name, version = line.split("==")
            found[re.sub("[-_.]+", "-", name).lower()] = version
    return found


def wanted() -> dict[str, str]:
    """Package -> the lowest version that is allowed, of what the locks hold."""
    extras = PROJECT["optional-dependencies"]
    listed = [
        *PROJECT["dependencies"],
        *(e for x in ("app", "cluster", "sklearn") for e in extras[x]),
    ]
    parts = [re.fullmatch(r"([a-z-]+)(?:\[\w+\])?>=([\d.]+)", entry) for entry in listed]
    return {part[1]: part[2] for part in parts if part is not None}


def test_there_is_one_version_and_one_date() -> None:
    assert PROJECT["dynamic"] == ["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    heading = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert heading is not None
    assert citation["version"] == heading[1] == giantstep.__version__
    assert str(citation["date-released"]) == heading[2]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_pins_of_all_that_is_wanted_and_no_address(lock: str) -> None:
    assert "://" not in (ROOT / lock).read_text(encoding="utf-8")
    assert len(wanted()) >= 14
    assert set(wanted()) - set(pins(lock)) == set()


def test_the_lowest_lock_has_the_lowest_versions() -> None:
    lowest = pins("requirements-lowest.txt")
    for name, version in wanted().items():
        assert (lowest[name] + ".").startswith(version + "."), name


def test_what_a_wheel_needs_is_in_the_package() -> None:
    package = ROOT / "src" / "giantstep"
    assert (package / "py.typed").is_file()
    assert list((package / "papers" / "figures" / "data").glob("*.json"))
