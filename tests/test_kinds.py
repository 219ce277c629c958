"""Kinds are data: code asks a record for what it wants to know, and compares no names of kinds."""

import ast
from collections.abc import Iterator
from pathlib import Path

import giantstep
from giantstep.prediction.theories import GAUSSIAN_RUNS, THEORIES
from giantstep.problem.batches import BATCHES
from giantstep.problem.between import BETWEEN
from giantstep.problem.gradients import GRADIENTS
from giantstep.problem.inputs import LAWS
from giantstep.problem.losses import LOSSES
from giantstep.problem.starts import READOUT_STARTS, STARTS
from giantstep.problem.updates import UPDATES

SOURCE = Path(giantstep.__file__).parent

TABLES = (BATCHES, BETWEEN, GRADIENTS, LAWS, LOSSES, READOUT_STARTS, STARTS, UPDATES)
WORDS = ("full", "labels", "free", "normalised", "last", "cv")
NAMES = {*WORDS, *(name for table in TABLES for name in table)}
NAMES |= {theory.name for theory in (*THEORIES, GAUSSIAN_RUNS)}

# Where a kind is declared or read its name may be compared; of the language, sign is a function.
DECLARED = {
    f"problem/{name}.py"
    for name in (
        "batches",
        "between",
        "gradients",
        "inputs",
        "losses",
        "readers",
        "setting",
        "starts",
        "updates",
    )
}
ELSEWHERE = ("language/",)

LEFT = ("problem/tables.py",)
"""Files that may compare names: rows are counted while a record is read, and has no words yet."""


def compared_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and names of kinds that a comparison, or a text's beginning, is held against."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
            parts = node.args
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        else:
            continue
        for part in parts:
            inner = part.elts if isinstance(part, ast.Tuple | ast.List | ast.Set) else [part]
            for each in inner:
                if isinstance(each, ast.Constant) and each.value in NAMES:
                    yield node.lineno, str(each.value)
                    break


def comparisons() -> list[str]:
    """Every comparison with the name of a kind outside of where kinds are declared."""
    listed = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place in DECLARED or place.startswith(ELSEWHERE):
            continue
        tree = ast.parse(path.read_text())
        listed += [f"{place}:{line} {name}" for line, name in compared_names(tree)]
    return listed


def test_names_of_kinds_are_not_compared() -> None:
    assert not [place for place in comparisons() if not place.startswith(LEFT)]


def test_it_sees_a_comparison() -> None:
    for text in ('s.batches == "fresh"', 'k in ("signs", "ones")', 's.startswith("minibatch")'):
        assert len(list(compared_names(ast.parse(text)))) == 1
    assert not list(compared_names(ast.parse('name == "gram"')))
