"""What is published: one version, one date, locks without addresses, all files of a wheel."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import giantstep

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEWEST = ("requirements.txt", "requirements-dev.txt")
LOWEST = ("requirements-lowest.txt",)


def pins(*locks: str) -> dict[str, str]:
    """Package -> version, names as the index compares them; no lock repeats what another has."""
    found: dict[str, str] = {}
    for lock in locks:
        for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                name, version = line.split("==")
                name = re.sub("[-_.]+", "-", name).lower()
                assert name not in found
                found[name] = version
    return found


def wanted(*extras: str) -> dict[str, str]:
    """Package -> the lowest version that is allowed, of the package itself and of extras."""
    optional = PROJECT["optional-dependencies"]
    listed = [*PROJECT["dependencies"], *(entry for extra in extras for entry in optional[extra])]
    parts = [re.fullmatch(r"([a-z-]+)(?:\[\w+\])?>=([\d.]+)", entry) for entry in listed]
    return {part[1]: part[2] for part in parts if part is not None}


def test_there_is_one_version_and_one_date() -> None:
    assert PROJECT["dynamic"] == ["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    heading = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert heading is not None
    assert citation["version"] == heading[1] == giantstep.__version__
    assert str(citation["date-released"]) == heading[2]


EXTRAS = ("app", "cluster", "report", "sklearn")


@pytest.mark.parametrize("locks", [NEWEST, LOWEST])
def test_locks_have_pins_of_all_that_is_wanted_and_no_address(locks: tuple[str, ...]) -> None:
    for lock in locks:
        assert "://" not in (ROOT / lock).read_text(encoding="utf-8")
    assert len(wanted(*EXTRAS)) >= 14
    assert set(wanted(*EXTRAS)) - set(pins(*locks)) == set()


def test_the_demo_installs_the_package_without_extras_and_tools() -> None:
    core, development = pins("requirements.txt"), pins("requirements-dev.txt")
    assert set(wanted()) - set(core) == set()
    for name in ("dask", "mypy", "pandas", "playwright", "plotly", "pytest", "ruff"):
        assert name in development
    # Enough to install the package itself from its folder.
    assert "hatchling" in core


def test_the_lowest_lock_has_the_lowest_versions() -> None:
    lowest = pins(*LOWEST)
    for name, version in wanted(*EXTRAS).items():
        assert (lowest[name] + ".").startswith(version + "."), name


def test_what_a_wheel_needs_is_in_the_package() -> None:
    package = ROOT / "src" / "giantstep"
    assert (package / "py.typed").is_file()
    assert list((package / "papers" / "figures" / "data").glob("*.json"))
