"""Columns of a table that are no numbers: refused, with what scikit-learn has for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from giantstep.errors import InputError, shown


def refuse_text(table: Any) -> None:
    """Name the columns that hold categories, text or dates; gaps are scikit-learn's to refuse."""
    if hasattr(table, "columns"):
        columns = [str(name) for name in table.columns if not _is_numeric(table[name])]
    else:
        values = np.asarray(table)
        if values.dtype.kind not in "OUSMm" or values.ndim != 2:
            return
        columns = [f"column {j}" for j, column in enumerate(values.T) if not _is_numeric(column)]
    if columns:
        raise InputError(
            f"X must hold numbers, got categories, text or dates in {shown(', '.join(columns))}; "
            "put scikit-learn's make_column_transformer((OneHotEncoder(), [...]), "
            "remainder='passthrough') in front of this estimator"
        )


def _is_numeric(column: Any) -> bool:
    """Whether a column holds numbers; those of a category are names."""
    if str(column.dtype).lower().startswith(("categor", "enum")):
        return False
    values = np.asarray(column)
    if values.dtype.kind in "OUS":
        try:
            values.astype(float)
        except ValueError:
            return False
        except TypeError:  # a gap, or what is not even text
            return True
    return values.dtype.kind not in "Mm"
