"""Kinds are data: a record has an attribute, and nothing compares with the name of a kind."""

import ast
from pathlib import Path

from giantstep.prediction.theories import GAUSSIAN_RUNS, THEORIES
from giantstep.problem.batches import BATCHES
from giantstep.problem.inputs import LAWS
from giantstep.problem.losses import LOSSES
from giantstep.problem.starts import STARTS
from giantstep.problem.updates import UPDATES

SOURCE = Path(__file__).parents[1] / "src" / "giantstep"
FREE = ("analysis", "experiment.py", "records", "show")
"""Rooms without such comparisons."""

KINDS = {theory.name for theory in (*THEORIES, GAUSSIAN_RUNS)}
KINDS |= {*BATCHES, *LAWS, *LOSSES, *STARTS, *UPDATES}


def comparisons(source: str) -> list[str]:
    """Comparisons of a source text with the name of a theory, batch, law, loss, start or update."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Compare)
        and any(
            isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in KINDS
            for side in (node.left, *node.comparators)
            for part in ast.walk(side)
        )
    ]


def test_no_name_of_a_kind_is_compared() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] in FREE]
    assert len(files) > 50
    for path in files:
        assert not comparisons(path.read_text(encoding="utf-8")), path


def test_a_comparison_is_seen() -> None:
    assert comparisons('if setting.batches == "fresh":\n    pass') == ["setting.batches == 'fresh'"]
    assert comparisons('wide = theory in ("linear-width", "quadratic-width")')
    assert not comparisons('if name == "overlap":\n    pass')
