"""The tiers of the tests: nothing falls between them, and no family of laws is without a sentinel.

Collected alone this file sees no other; ``make test`` collects all.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def selections() -> list[str]:
    """What the targets of the Makefile ask pytest for."""
    text = (ROOT / "Makefile").read_text("utf-8")
    return [asked.strip('"') for asked in re.findall(r'\$\(PYTEST\) -m ("[^"]+"|\w+)', text)]


@pytest.mark.parametrize("tier", ["law", "slow", "browser", "claims", "none"])
@pytest.mark.parametrize("sentinel", [False, True])
def test_every_test_is_run_by_one_target(tier: str, sentinel: bool) -> None:
    given = {name: name == tier for name in ("law", "slow", "browser", "claims")}
    given["sentinel"] = sentinel and tier in ("law", "slow")
    assert [eval(asked, {}, given) for asked in selections()].count(True) == 1


def test_every_change_is_tried_with_all_tiers() -> None:
    assert len(selections()) == 3
    assert "make test test-all test-claims" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_file_of_laws_has_a_sentinel(laws: dict[str, bool]) -> None:
    assert [name for name, sentinel in laws.items() if not sentinel] == []
