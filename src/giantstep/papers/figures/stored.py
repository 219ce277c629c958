"""Small tables, measured where a laptop does not reach, from which figures are drawn in seconds.

Each is a CSV file of ``tables/``; `python -m benchmarks wide_tables` makes them again, on a GPU.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

import numpy as np


def stored_table(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of a table by their names, numbers where they are numbers."""
    text = files("giantstep.papers.figures").joinpath("tables", f"{name}.csv").read_text("utf-8")
    header, *rows = csv.reader(text.splitlines())
    return {column: _column([row[k] for row in rows]) for k, column in enumerate(header)}


def _column(texts: list[str]) -> np.ndarray[Any, Any]:
    try:
        return np.array([float(text) for text in texts])
    except ValueError:
        return np.array(texts)
