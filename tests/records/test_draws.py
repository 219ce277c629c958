"""Runs drawn around a prediction."""

import math

import numpy as np
import pytest

from giantstep import Setting, predict
from giantstep.records.draws import _span_of
from giantstep.records.observables import expectations


def test_spans_of_very_long_rows_do_not_overflow() -> None:
    """S (1 + S)^-1 of S = diag(1e400, 1e-2) is diag(1, 1/101)."""
    with np.errstate(over="raise", invalid="raise"):
        span = _span_of(np.array([[1e200, 0.0], [0.0, 0.1]]))
    np.testing.assert_allclose(span.T @ span, np.diag([1.0, 1.0 / 101.0]), rtol=1e-12)


@pytest.mark.parametrize("beside", [1e-4, 1e-6, 1e-8])
def test_a_given_start_has_its_own_principal_cosine(beside: float) -> None:
    """Two rows that differ by 0.2 w*_1 and by little else: cos^2 = M^T Q^-1 M.

    Drawn runs cut what is below 1e-6 of the longest direction: of a start that does not differ from
    run to run the cosine was 0.99995 in place of 0.999975 at 1e-6.
    """
    inner = -0.01 + 0.99 * (1.0 - beside)
    overlap, gram = np.array([[0.1], [-0.1]]), np.array([[1.0, inner], [inner, 1.0]])
    setting = Setting(
        "He2(x1)",
        d=1000,
        n=4000,
        p=2,
        start="given",
        start_overlaps=overlap.tolist(),
        start_gram=gram.tolist(),
    )
    cosine = expectations(predict(setting))["principal_cosine_1"].mean[0]
    [[square]] = overlap.T @ np.linalg.solve(gram, overlap)
    assert cosine == pytest.approx(math.sqrt(square), abs=1e-7)
