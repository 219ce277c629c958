"""Words of the record that the recursion on fresh batches covers, each against exact runs.

Overlaps, norms, errors and gradient cosines of 40 runs after every step, ``compare`` at a family
level of 1e-3 a case, its number of comparisons asserted; beside each case the prediction without
the word, which must be rejected at that level: the nearest, the bias of the readout at the start,
is 6 standard errors off (family p-value 1e-5), all others at least 8.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.prediction.limits import COVERED
from giantstep.prediction.narrow import theory
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import Comparison, compare
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

BASE: dict[str, Any] = {
    "target": "x1 + x1*x2",
    "activation": "tanh",
    "d": 1000,
    "n": "2d",
    "p": 4,
    "steps": 3,
    "step_size": 8.0,
    "noise": 0.3,
    "runs": 40,
    "seed": 3,
    "readout_n": 2000,
    "test_n": 2000,
    "ridge": 1e-3,
}
NO_READOUT = {"readout_n": 0, "test_n": 0}
GRAM = np.diag([4.0, 1.0, 1.0, 0.25])
CASES: dict[str, dict[str, Any]] = {
    "transform": {"label_transform": "tanh(2*y)"},
    "transform, deflated": {"label_transform": "y^2", "deflate": 1, "step_size": 3.0},
    "huber": {"loss": "huber(0.5)"},
    "absolute": {"loss": "absolute"},
    "logistic": {"loss": "logistic", "label_transform": "sign(y)"},
    "decay": {"decay": 0.3},
    "gradient only": {"decay": 1.0, "activation": "relu"},
    "tangent": {"gradient": "tangent", "activation": "relu"},
    "tangent, rows": {"gradient": "tangent", "rows": "normalised", "activation": "relu"},
    "tangent, momentum": {"gradient": "tangent", "momentum": 0.5, "activation": "relu"},
    "ahead, sample": {"lookahead": "sample(2*p/d)", "activation": "relu"},
    "ahead, climbing": {"lookahead": "sample(-p/d)", "momentum": 0.5, "gradient": "tangent"},
    "ahead, batch": {"lookahead": "batch(p)"},
    "ahead, third degree": {"lookahead": "sample(2*p/d)", "target": "He3(x1) + x2/2"},
    "momentum": {"momentum": 0.5},
    "momentum, rows": {"momentum": "nesterov(0.5)", "rows": "normalised", "decay": 0.2},
    "momentum, update": {"momentum": 0.5, "update": "normalised", "step_size": 1.0},
    "momentum, orthogonal": {"momentum": "nesterov(0.5)", "update": "orthogonal", "step_size": 0.5},
    "momentum, between": {"momentum": 0.5, "readout_between": "gradient(2)", "steps": 2},
    "rows": {"rows": "normalised"},
    "rows, decay": {"rows": "normalised", "decay": 0.5, "activation": "relu", "p": 8},
    "update": {"update": "normalised", "step_size": 1.0},
    "clipped": {"update": "clipped(0.13)"},
    "clipped whole": {"update": "clippedwhole(0.25)", "momentum": 0.5},
    "orthogonal": {"update": "orthogonal", "step_size": 1.0},
    "orthogonal, rank": {
        "update": "orthogonal",
        "step_size": 1.0,
        "p": 40,
        "steps": 1,
        **NO_READOUT,
    },
    "update, rows": {"update": "normalised", "step_size": 1.0, "rows": "normalised"},
    "bias": {"bias": 1.0},
    "bias, deflated": {"bias": 1.0, "deflate": 0, "start": "sphere", "rows": "normalised"},
    "bias of the readout": {"bias": 1.0, "bias_at": "readout", "activation": "relu"},
    "spiked": {"inputs": "spiked(3, 0.6)"},
    "spiked, framed": {"inputs": "spiked(3, 0.6)", "start": "orthogonal", "rows": "normalised"},
    "shifted": {"inputs": "shifted(1.5, 0.6)"},
    "shifted, framed": {"inputs": "shifted(1.5, 0.6)", "start": "orthogonal", "rows": "normalised"},
    "shifted, again": {"inputs": "shifted(1.5, 0.6)", "batches": "reused"},
    "clusters": {"inputs": "clusters(3, 0.6)"},
    "clusters, again": {"inputs": "clusters(3, 0.6)", "batches": "reused"},
    "readout between": {
        "readout_between": "gradient(8)",
        "start": "orthogonal",
        "readout_start": "alternating",
        "steps": 2,
    },
    "ones": {"readout_start": "ones", "start": "sphere"},
    "numbers": {"readout_start": [2.0, 0.5, -1.0, -1.0], "start": "sphere"},
    "given": {"start": "given", "start_gram": GRAM, "readout_start": "alternating"},
}
WITHOUT: dict[str, dict[str, Any]] = {
    "clipped whole": {"update": "clipped(0.25)"},
    "tangent, rows": {"gradient": "full"},
    "tangent, momentum": {"gradient": "full"},
    "ahead, sample": {"lookahead": "sample(p/d)"},
    "ahead, climbing": {"lookahead": "sample(p/d)"},
    "ahead, batch": {"lookahead": "sample(p/n)"},
    "momentum, rows": {"momentum": 0.5},
    "momentum, update": {"momentum": 0.0},
    "momentum, orthogonal": {"momentum": 0.0},
    "momentum, between": {"momentum": 0.0},
    "bias, deflated": {"bias": 0.0},
    "bias of the readout": {"bias_at": "start"},
    "spiked": {"inputs": "spiked(3, 0)"},
    "spiked, framed": {"inputs": "spiked(3, 0)"},
    "shifted": {"inputs": "shifted(1.5, 0)"},
    "shifted, framed": {"inputs": "shifted(1.5, 0)"},
    "shifted, again": {"inputs": "shifted(1.5, 0)"},
    "clusters": {"inputs": "clusters(3, 0)"},
    "clusters, again": {"inputs": "clusters(3, 0)"},
    "logistic": {"loss": "square"},
    "ones": {"readout_start": "alternating"},
    "numbers": {"readout_start": "alternating"},
    "given": {"start": "orthogonal", "start_gram": None},
}

# Entries of overlaps, Gram matrices and gradient cosines, numbers of tables, and errors.  In most
# cases 137: the cosine with w*_2, which nothing has learned, is known at the start alone.  It is
# known after steps too where every run has a row, where runs are drawn (with deflated labels,
# clipped gradients, reused batches, and rows that hold little of w*_2 and see the spike or the
# shift from a start of their own) and where decay forgets the start or relu learns it (but for a
# principal cosine).
MOST_CASES = 137
COMPARISONS = {
    "transform, deflated": 140,
    "gradient only": 139,
    "rows, decay": 299,
    "orthogonal, rank": 1895,
    "bias": 140,
    "bias, deflated": 140,
    "bias of the readout": 140,
    "spiked, framed": 140,
    "clipped": 140,
    "clipped whole": 140,
    "ahead, sample": 140,
    "ahead, third degree": 140,
    "tangent": 139,
    "tangent, rows": 139,
    "tangent, momentum": 139,
    "momentum, between": 101,
    "shifted, framed": 140,
    "shifted, again": 140,
    "clusters, again": 140,
    "readout between": 101,
}


def judged(name: str) -> tuple[Comparison, Comparison]:
    """The comparison of a case with its runs, and that of the prediction without the word."""
    setting = Setting(**(BASE | CASES[name]))
    predicted, simulated = predict(setting), simulate(setting)
    changes = WITHOUT.get(name, dict.fromkeys(CASES[name].keys() & COVERED.keys()))
    other = predict(setting.vary(**changes), deviations=False)
    if "readout_start" in changes:  # refused before it is compared
        other = replace(other, readout=predicted.readout)
    return compare(predicted, simulated), compare(other, simulated, ignoring=list(changes))


@pytest.mark.law(sentinel="decay")
@pytest.mark.parametrize("name", CASES)
def test_a_word_is_predicted(name: str) -> None:
    found, without = judged(name)
    assert found.count == COMPARISONS.get(name, MOST_CASES)
    assert found.agrees, (found.largest, found.p_value)
    assert not without.agrees


@pytest.mark.law
@pytest.mark.parametrize("name", ["transform", "absolute", "decay", "rows, decay", "update"])
def test_runs_stray_as_predicted(name: str) -> None:
    """Root mean squares over neurons of the standard deviations of overlap and Gram matrix.

    After three steps of 200 runs, within 25 % (4 standard errors of one standard deviation and 9 %
    of its estimate, two comparisons a case); twice the ratio is rejected.
    """
    alone = {"start": "sphere", "readout_start": "alternating", "readout_n": 0, "test_n": 0}
    setting = Setting(**(BASE | CASES[name] | alone | {"runs": 200}))
    predicted, simulated = predict(setting), simulate(setting)
    for field in ("overlap", "gram"):
        seen = getattr(simulated, field)[:, 1:].std(axis=0, ddof=1)
        deviation = getattr(predicted, f"{field}_deviation")[0, 1:]
        ratio = np.sqrt(np.mean(seen**2) / np.mean(deviation**2))
        assert abs(ratio - 1.0) < 0.25
        assert not abs(2.0 * ratio - 1.0) < 0.25


@pytest.mark.law
def test_what_many_rows_hold_together_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second principal cosine after a step, of runs with the same readout: 4 standard errors.

    24 runs, one comparison.  The points of means have noise in the span of the rows, where the
    batch has d/n outside it: means are 8 standard errors off, so runs are drawn.
    """
    setting = Setting(
        target="x1 + x2 + x1^2 - x2^2",
        d=4000,
        n="64d",
        p=64,
        step_size="3p^1.5",
        readout_start="gaussian",
        bias=6.0,
        bias_at="readout",
        readout_n=0,
        test_n=0,
        runs=24,
        steps=1,
    )

    def second(record: Trajectory) -> np.ndarray:
        assert record.span is not None
        cosines = np.linalg.svd(record.span[:, 1], compute_uv=False)[:, -1]
        return cosines.reshape(-1, setting.runs).mean(axis=0)

    measured = second(simulate(setting))

    def distance(predicted: Trajectory) -> float:
        gaps = second(predicted) - measured
        return float(abs(gaps.mean()) / (gaps.std(ddof=1) / math.sqrt(setting.runs)))

    drawn = predict(setting)
    assert "each step from the known distribution" in drawn.notes[0]
    assert np.array_equal(drawn.readout[: setting.runs], drawn.readout[-setting.runs :])
    assert distance(drawn) < 4
    monkeypatch.setattr(theory, "drawable", lambda _: False)
    assert distance(predict(setting)) > 8


@pytest.mark.law
def test_heavy_tails_of_orthogonal_updates_are_left_open() -> None:
    """The mean of H^(-1/2) is not that of the mean H where E g^4 is large against n (E g^2)^2.

    64 runs, family level 1e-3; without the share that is left open, 0.22, they differ at 1e-4, and
    of a target with lighter tails (kurtosis of g 14, share 0.004) hardly anything is left open.
    """
    heavy = {"target": "(x1 + x2 + x3)^4 + 0.3*x3", "activation": "silu", "d": 636, "n": 588}
    setting = Setting(**BASE | NO_READOUT | heavy | {"p": 6, "steps": 2, "runs": 64})
    orthogonal = setting.vary(update="orthogonal", step_size="2*giant")
    predicted, simulated = predict(orthogonal), simulate(orthogonal)
    assert compare(predicted, simulated).p_value > 1e-3
    assert compare(replace(predicted, relative_uncertainty=0.0), simulated).p_value < 1e-3
    light = orthogonal.vary(target="x1 + x1*x2", n="2d", runs=1)
    assert predict(light).relative_uncertainty < 0.005
