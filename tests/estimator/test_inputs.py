"""Tails of columns: drawn in, unless the label is linear in them."""

import numpy as np
import pytest

from giantstep import GiantStepRegressor
from giantstep.estimator import inputs
from giantstep.estimator.inputs import fit_inputs
from giantstep.estimator.rows import distinct_rows


@pytest.mark.parametrize(("label", "drawn"), [("tail", False), ("sign", True), ("noise", True)])
def test_tails_are_kept_where_the_label_is_linear_in_them(label: str, drawn: bool) -> None:
    key = np.random.default_rng(0)
    delay = key.standard_t(2, (300, 1))
    x = np.hstack([delay, key.standard_normal((300, 3))])
    noise = key.standard_normal(300)
    y = {"tail": delay[:, 0] + 0.3 * noise, "sign": np.sign(delay[:, 0]), "noise": noise}[label]
    rows = distinct_rows(x, ((y - y.mean()) / y.std())[:, None], np.ones(300))
    assert list(fit_inputs(rows, key)[0].scaling.heavy) == [drawn, False, False, False]


def test_a_line_through_heavy_tails_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the range seen, since inputs are clipped beyond; drawn in it is none.

    The noise itself leaves .93 of the variance.
    """
    key = np.random.default_rng(1)
    x = np.hstack([key.standard_t(2, (700, 1)), key.standard_normal((700, 3))])
    y = x[:, 0] + 0.5 * key.standard_normal(700)
    seen = (x[:, 0] > x[:300, 0].min()) & (x[:, 0] < x[:300, 0].max()) & (np.arange(700) >= 300)

    def score() -> float:
        fit = GiantStepRegressor(max_directions=0, soft=False).fit(x[:300], y[:300])
        return fit.score(x[seen], y[seen])

    assert score() > 0.9
    monkeypatch.setattr(inputs, "WORTH", 1.0)
    assert score() < 0.87
