"""Everything in the README is executed.

Python runs as it stands.  Commands run with their sizes made smaller by ``SMALLER``; sweeps are
checked whole and not run; benchmarks get ``BRIEF`` and take their times once.  What a command
prints there must be printed, line by line, where its numbers do not depend on the sizes; "..."
stands for lines left out.
"""

import importlib
import re
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from giantstep.cli.app import app
from giantstep.cli.main import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [
    line[2:]
    for block in re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
INLINE = re.findall(r"`((?:giantstep|make|python -m benchmarks) [^`]+)`", README)

SMALLER = {"--d": "1000", "--runs": "2", "--steps": "2"}
"""Flags whose values are replaced."""

BRIEF = {"stored_runs": ["--steps", "10", "--runs", "2"]}
"""Options of a benchmark in place of those given."""


def smaller(command: str) -> list[str]:
    """The words of a command after its name, with smaller sizes."""
    _, *words = shlex.split(command)
    for at, word in enumerate(words[:-1]):
        if word in SMALLER:
            words[at + 1] = SMALLER[word]
    return [*words, "--dry-run"] if words[0] == "sweep" else words


def shown(command: str) -> list[str]:
    """The lines that the README shows of a command's output."""
    after = README.split(f"\n$ {command}\n")[1].split("```")[0].split("$ ")[0]
    return [" ".join(line.split()) for line in after.splitlines() if line != "..."]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number: int) -> None:
    exec(compile(BLOCKS[number], f"README.md, block {number}", "exec"), {})


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("giantstep ")])
def test_command_runs(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    # Controls of so small a claim cost less than processes of their own.
    monkeypatch.setattr("giantstep.cli.claims.cores", lambda: 1)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    main(smaller(command))
    # What is zero up to rounding is zero.
    out = re.sub(r"\d\.?\d*e-1\d", "0", capsys.readouterr().out)
    printed = [" ".join(line.split()) for line in out.splitlines()]
    expected = shown(command)
    if smaller(command) != shlex.split(command)[1:]:
        # Words without the numbers, which the sizes change.
        expected = [line for line in expected if not re.search(r"\d\.\d|±|theory", line)]
    at = [printed.index(line) for line in expected]
    assert at == sorted(at)


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("python ")])
def test_benchmark_runs(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, *words = shlex.split(command)
    name = words[2]
    monkeypatch.setattr(sys, "argv", [*words[:2], *BRIEF.get(name, [])])
    monkeypatch.setattr("benchmarks.deferred.best", once)
    importlib.import_module(f"benchmarks.{name}").main()
    printed = capsys.readouterr().out
    for line in shown(command):
        assert line.split(":")[0] in printed
    assert printed.startswith(name)


def test_the_memory_of_the_dense_engine_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.dense import measure

    measure(64)
    assert re.search(r"n = d\^2, d = 64: .* stated \d+ MiB", capsys.readouterr().out)


def once(function: Callable[[], object], repeats: int = 1) -> float:
    """Wall time of one call, in place of the best of several."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@pytest.mark.parametrize("command", sorted(set(INLINE)))
def test_what_is_named_is_there(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "make":
        # A folder of that name would satisfy make itself.
        assert f"\n{words[0]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    elif program == "python":
        assert (ROOT / "benchmarks" / f"{words[2]}.py").is_file()
    else:
        assert words[0] in app


def test_there_is_something_to_run() -> None:
    assert len(BLOCKS) >= 1
    assert {shlex.split(c)[1] for c in COMMANDS} >= {"analyze", "learn", "sweep", "claims"}


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


STATEMENT_WORDS = ("holds", "fails", "undecided")
FINDING_WORDS = ("seen", "not seen", "undecided")


def verdicts(page: str, words: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Claim -> its paper and its verdict on a page of docs: at full size, else at the quick one.

    Seeds that do not agree leave it undecided.
    """
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:2] == "| "]
    # "not seen" is looked for before "seen".
    pattern = "|".join(sorted(words, key=len, reverse=True))
    found = {}
    for name, _, full, quick, _, _, _, paper, _ in rows[1:]:
        said = set(re.findall(pattern, full) or re.findall(pattern, quick))
        identifier = re.search(r"\d{4}\.\d{5}", paper)
        assert identifier is not None
        found[name] = identifier[0], said.pop() if len(said) == 1 else "undecided"
    return found


def test_the_table_of_claims_is_that_of_the_pages() -> None:
    """For each paper its statements and their verdicts, then the findings beyond it."""
    statements = verdicts("claims.md", STATEMENT_WORDS)
    findings = verdicts("findings.md", FINDING_WORDS)
    table = re.findall(r"\| arXiv (\S+), [^|]+" + r"\| (\d+) " * 8 + r"\|", README)
    papers = [paper for found in (statements, findings) for paper, _ in found.values()]
    expected = []
    for paper in dict.fromkeys(papers):
        row = [paper]
        for found, words in ((statements, STATEMENT_WORDS), (findings, FINDING_WORDS)):
            numbers = [list(found.values()).count((paper, word)) for word in words]
            row += map(str, (sum(numbers), *numbers))
        expected.append(tuple(row))
    assert table == expected
    listed = README.split("Those that fail", 1)[1].split("```", 1)[0]
    named = [name for name in re.findall(r"`([a-z0-9-]+)`", listed) if name in statements]
    assert sorted(named) == sorted(n for n, (_, word) in statements.items() if word == "fails")


def test_the_numbers_of_others_are_theirs() -> None:
    from benchmarks.stored_runs import STEPS, STORED

    rows = re.findall(r"\| (\d+), ([\d.]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) ±", README)
    assert len(rows) == 9
    for batch, size, step, theirs, ours in rows:
        stored = STORED[int(batch), float(size)][STEPS.index(int(step))]
        assert float(theirs) == pytest.approx(stored, abs=5e-5)
        assert float(ours) == pytest.approx(stored, rel=0.02)
