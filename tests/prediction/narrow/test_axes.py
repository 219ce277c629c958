"""Updates of single entries in the limit, against closed forms and against runs in R^d.

The first step of a sign update has closed forms (docs/derivations/signs.md, eq. (1)).  Several
steps are compared with exact runs at d = 2000, ``compare`` at a family level of 1e-3 a case;
beside each stands the prediction of another step of the same length, which must be rejected.
"""

import math
from typing import Any

import numpy as np
import pytest

from giantstep.errors import InputError, NoTheoryError
from giantstep.prediction.narrow.fresh import mean_drift, seen_coefficients, seen_points
from giantstep.prediction.narrow.points import sobol_quadrature
from giantstep.prediction.narrow.state import typical_start
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1 + x2/2 + x1*x2",
    "d": 2000,
    "n": "d",
    "p": 4,
    "steps": 3,
    "start": "sphere",
    "readout_start": "alternating",
    "update": "sign",
    "runs": 12,
    "seed": 5,
    "readout_n": 0,
    "test_n": 0,
}
READOUT = {"readout_n": 1000, "test_n": 1000, "ridge": 0.1}


def test_the_first_step_has_its_closed_form() -> None:
    """Overlaps and Gram matrix, within half a per cent of the rows' squared length.

    The points of both are others.  A normalised step of that length is off by a fifth.
    """
    setting = Setting(**BASE | {"d": 10**6, "steps": 1, "activation": "relu"})
    start = typical_start(setting)
    points = sobol_quadrature(6, 9, 16)(start.rows, 0)
    seen = seen_points(setting, points)
    _, _, g = seen_coefficients(setting, start, seen, start.preactivations(points.x))
    mean, drift = mean_drift(setting, start.rows, seen, g)
    lengths = np.sqrt(np.diagonal(drift.gradient))
    moved = math.sqrt(2 / math.pi) * mean / lengths[:, None]
    correlation = np.clip(drift.gradient / np.outer(lengths, lengths), -1.0, 1.0)
    cross = moved @ start.rows.T
    gram = np.eye(4) + cross + cross.T + 2 / math.pi * np.arcsin(correlation)
    predicted = predict(setting, deviations=False)
    order = np.argsort(start.readout, kind="stable")
    assert predicted.gram is not None
    found = predicted.gram[0, 1]
    other = np.argsort(predicted.readout[0], kind="stable")
    close = {"rtol": 0.0, "atol": 0.005 * gram.max()}
    np.testing.assert_allclose(predicted.overlap[0, 1][other], moved[order, :2], **close)
    np.testing.assert_allclose(found[np.ix_(other, other)], gram[np.ix_(order, order)], **close)
    plain = predict(setting.vary(update="normalised", step_size=1.0), deviations=False)
    assert np.max(np.abs(plain.overlap - predicted.overlap)) > 0.05


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "sign": (READOUT, {"update": "normalised", "step_size": 1.0}),
    "momentum": (
        {"momentum": 0.5, "decay": 0.2, "rows": "normalised", "activation": "tanh"},
        {"momentum": 0.0},
    ),
    "tangent, ahead": (
        {"gradient": "tangent", "lookahead": "sample(2*p/d)", "start": "symmetric"},
        {"lookahead": "none"},
    ),
    "adam": ({"update": "adam(0.8, 0.9)", "noise": 0.5}, {"update": "sign"}),
    "adam, few inputs": (
        {"update": "adam(0.6, 0.8)", "d": 100, "runs": 60, "batches": "repeat(2)"},
        {"update": "sign"},
    ),
    "adam, moving readout": (
        {"update": "adam(0, 0.5)", "readout_between": "gradient(2)", "loss": "huber(1)"},
        {"update": "sign"},
    ),
}


@pytest.mark.law(sentinel="momentum")
@pytest.mark.parametrize("name", CASES)
def test_entries_move_as_in_runs(name: str) -> None:
    fields, wrong = CASES[name]
    setting = Setting(**BASE | fields)
    simulated = simulate(setting)
    found = compare(predict(setting), simulated)
    assert found.count > 50
    assert found.agrees, (found.largest, found.p_value)
    other = predict(setting.vary(**wrong), deviations=False)
    assert not compare(other, simulated, ignoring=list(wrong)).agrees


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"frame": "axes", "d": 10**5}, "frame must be random"),
        ({"update": "adam(0.9, 0.99)", "d": 1000, "p": 300}, "too many neurons"),
        ({"update": "adam(0.9, 0)", "d": 10**5}, "a few entries make the step"),
        ({"update": "adam(0.9, 0.001)", "steps": 128}, "they may be inf times as large"),
        ({"update": "adam(0.9, 0.99)", "d": 10**5, "batches": "reused"}, "update must be"),
        ({"steps": 200, "d": 10**5}, "p times steps must be at most 512"),
        ({"n": 50, "d": 10**5}, "n must be at least 100"),
    ],
)
def test_what_the_limit_does_not_cover_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NoTheoryError, match=sentence):
        predict(Setting(**BASE | fields))


def test_the_words_of_adam() -> None:
    assert Setting("x1", update="adam(0.9, 0.999)").update.numbers == (0.9, 0.999)
    with pytest.raises(InputError, match="adam needs b1 and b2 from 0 to less than 1, got '1'"):
        Setting("x1", update="adam(0.9, 1)")
    with pytest.raises(InputError, match="momentum must be 0 for update = adam"):
        Setting("x1", update="adam(0.9, 0.999)", momentum=0.5)
