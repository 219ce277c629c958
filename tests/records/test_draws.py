"""Runs drawn around a prediction."""

import numpy as np

from giantstep.records.draws import _span_of


def test_spans_of_very_long_rows_do_not_overflow() -> None:
    """S (1 + S)^-1 of S = diag(1e400, 1e-2) is diag(1, 1/101)."""
    with np.errstate(over="raise", invalid="raise"):
        span = _span_of(np.array([[1e200, 0.0], [0.0, 0.1]]))
    np.testing.assert_allclose(span.T @ span, np.diag([1.0, 1.0 / 101.0]), rtol=1e-12)
