"""The record of a report: everything that was found, as sentences, JSON, a page and a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.records.file import write_whole
from giantstep.records.plain import plain
from giantstep.reports.answer import answer
from giantstep.reports.checks import Leak, RowNumber
from giantstep.reports.comparison import Compared, Left
from giantstep.reports.curve import LearningCurve
from giantstep.reports.directions import Direction
from giantstep.reports.drift import Drift
from giantstep.reports.gaussianity import Gaussianity
from giantstep.reports.hardness import Hardness
from giantstep.reports.interval import Interval
from giantstep.reports.lost import Lost

FORMAT = 1
"""Version of the keys of the JSON."""


@dataclass(frozen=True)
class Report:
    """What can be learned from a table, on rows that no fit has seen (docs/howto/report.md).

    ``answer`` has it in five texts, ``as_dict`` everything as plain values, ``html`` a page that
    needs no network, ``save`` writes all of it and the fitted ``estimator`` into a folder.  In a
    notebook a report shows its page.

    Attributes
    ----------
    rows, distinct : int
        Rows that have a label, and how many of them have different inputs.
    score : Interval
        Share of the label's variance that is explained on rows held out; for classes, of the
        variance of their indicators by the predicted probabilities.
    accuracy : Interval or None
        Share of rows held out whose class is named, for classes.
    most_frequent : Interval or None
        Share of the most frequent class.
    directions : tuple of Direction
        The fitted directions, the strongest first, each with test, columns and stability.
    lost : tuple of Lost
        What held-out rows lose without columns, where weights do not name these.
    models : tuple of Compared
        Giant steps and its peers on the same rows held out.
    curve, left, hardness, gaussianity, drift
        The other parts of the page; None for what an interrupt has cut off.
    estimator : Pipeline
        Preprocessing and model, fitted on all rows: takes frames like the one it came from.
    """

    title: str
    label: str
    classes: tuple[str, ...]
    rows: int
    distinct: int
    columns: int
    folds: int
    level: float
    said: tuple[str, ...]
    leaks: tuple[Leak, ...]
    row_numbers: tuple[RowNumber, ...]
    score: Interval
    accuracy: Interval | None
    most_frequent: Interval | None
    directions: tuple[Direction, ...]
    estimator: Any
    outputs: Float[np.ndarray, "n m"]
    models: tuple[Compared, ...] = ()
    lost: tuple[Lost, ...] = ()
    curve: LearningCurve | None = None
    left: Left | None = None
    hardness: Hardness | None = None
    gaussianity: Gaussianity | None = None
    drift: Drift | None = None
    missing: tuple[str, ...] = ()
    seconds: float = 0.0
    memory: float = 0.0
    quick: bool = False

    @property
    def predictable(self) -> bool:
        """Whether the score is beyond zero."""
        return self.score.above_zero

    @property
    def certain(self) -> int:
        """Number of certain directions."""
        return sum(direction.certain for direction in self.directions)

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """How much, from how many directions, which columns, what kind, what more rows bring."""
        return answer(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that a reader must not miss: row numbers, leaks, and what was cut off."""
        lines = [number.sentence for number in self.row_numbers]
        lines += [leak.sentence for leak in self.leaks]
        if self.missing:
            lines.append(f"The report was interrupted, and lacks: {', '.join(self.missing)}.")
        return tuple(lines)

    def __repr__(self) -> str:
        return "\n".join([*self.warnings, *self.answer])

    def as_dict(self) -> dict[str, Any]:
        """The record as plain lists, numbers and strings."""
        parts = (
            *("title", "label", "classes", "rows", "distinct", "columns", "folds"),
            *("level", "quick"),
            *(
                "answer",
                "warnings",
                "said",
                "leaks",
                "row_numbers",
                "score",
                "accuracy",
                "most_frequent",
            ),
            *("directions", "lost", "models", "curve", "left", "hardness", "gaussianity", "drift"),
            *("missing", "seconds", "memory"),
        )
        return {"format": FORMAT} | {name: _finite(plain(getattr(self, name))) for name in parts}

    def html(self) -> str:
        """The page, whole: no network, no script."""
        from giantstep.reports.page import page

        return page(self)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, as a notebook shows it."""
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.html(), quote=True)}" sandbox="" title="report" '
            'style="width:100%;height:50rem;border:0"></iframe>'
        )

    def save(self, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write report.html, report.json and the estimator; files that are there are refused."""
        import json

        from giantstep.errors import InputError
        from giantstep.reports.saving import dump_estimator, model_name

        folder = Path(folder)
        paths = [folder / name for name in ("report.html", "report.json", model_name())]
        there = next((path for path in paths if path.exists()), None)
        if there is not None and not overwrite:
            raise InputError(f"folder already holds {there.name}, got {str(folder)!r}")
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(paths[0], self.html().encode())
        write_whole(
            paths[1], (json.dumps(self.as_dict(), indent=2, allow_nan=False) + "\n").encode()
        )
        write_whole(paths[2], dump_estimator(self.estimator))
        return paths


def _finite(value: Any) -> Any:
    """Plain values with None for numbers that are not finite, also inside lists of arrays."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return plain(value)
