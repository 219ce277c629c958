"""Theories refuse the words they do not cover, in one sentence with the field and the value."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from giantstep.errors import InputError, NoTheoryError
from giantstep.prediction.narrow.one_step import cosine_quantiles, one_step_law
from giantstep.prediction.narrow.state import start_of_run
from giantstep.prediction.predict import predict
from giantstep.prediction.theories import choose_theory
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.laws import weight_law
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.network import TYPICAL
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import stepped_runs

WORDS: list[tuple[dict[str, Any], str]] = [
    ({"bias": 2.0}, "bias must be 0.0 for .*, got 2.0"),
    ({"decay": 0.02}, "decay must be 0.0 for .*, got 0.02"),
    ({"label_transform": "tanh(y)"}, r"label_transform must be y for .*, got 'tanh\(y\)'"),
    ({"loss": "huber(1)"}, r"loss must be square for .*, got 'huber\(1\)'"),
    ({"gradient": "tangent"}, "gradient must be full for .*, got 'tangent'"),
    (
        {"label_kind": "sign", "target": "tanh(x1)"},
        "label_kind must be number for .*, got 'sign'",
    ),
    ({"lookahead": "batch(2)"}, r"lookahead must be none for .*, got 'batch\(2\)'"),
    ({"momentum": 0.5}, "momentum must be 0 for .*, got '0.5'"),
    ({"readout_between": "ridge"}, "readout_between must be frozen.* for .*, got 'ridge'"),
    ({"rows": "normalised"}, "rows must be free for .*, got 'normalised'"),
    ({"update": "sign"}, "update must be gradient.* for .*, got 'sign'"),
    ({"inputs": "shifted(1, 0.5)"}, r"inputs must be gaussian.* for .*, got 'shifted\(1, 0.5\)'"),
    ({"batches": "repeat(2)"}, r"batches must be fresh or reused for .*, got 'repeat\(2\)'"),
]
STARTS: list[tuple[dict[str, Any], str]] = [
    ({"start": "given", "start_gram": np.eye(40)}, "start must be .*, got 'given'"),
    ({"readout_start": "ones", "start": "sphere"}, "readout_start must be .*, got 'ones'"),
    (
        {"readout_start": [1.0, 2.0] * 20, "start": "sphere"},
        r"readout_start must be .*, got \[1.0, 2.0",
    ),
]
COVERED: dict[str, set[str]] = {
    name: {field for changes, _ in WORDS for field in changes}
    for name in ("narrow", "reused", "one pass")
}
HEAVY: dict[str, Any] = {"target": "x1 + x2^2", "d": 10**5, "p": 600, "readout_n": 0, "test_n": 0}
"""Too many weights for runs to be drawn: the limits of means over runs hold."""
WIDE: dict[str, Any] = {"target": "x1", "d": 100, "n": 200, "p": 40, "ridge": 1.0}
ONE, TWO = {"steps": 1, "step_size": 1.0}, {"steps": 2, "step_size": 1.0}
# Whether there is a prediction does not depend on its points.
rough = partial(predict, scrambles=2, log2_points=8)
THEORIES: dict[str, tuple[Callable[[Setting], Any], dict[str, Any]]] = {
    "narrow": (rough, {"target": "x1 + x2^2", "d": 1000}),
    "reused": (
        partial(rough, theory="narrow"),
        {"target": "x1 + x2^2", "d": 1000, "batches": "reused"},
    ),
    "one pass": (rough, {"target": "x1", "d": 100, "n": 1, "p": 8, "steps": 9, "step_size": 0.1}),
    "one step law": (lambda s: one_step_law(s, np.zeros(1), 1.0), {"target": "x1"}),
    "cosines": (lambda s: cosine_quantiles(s, np.array([0.5])), {"target": "x1"}),
    "features after a step": (lambda s: list(stepped_runs(s)), WIDE | ONE),
}
LINEAR: dict[str, tuple[Callable[[Setting], Any], dict[str, Any]]] = {
    "linear width": (lambda s: predict(s, theory="linear-width"), WIDE | ONE),
    "two steps": (lambda s: predict(s, theory="linear-width"), WIDE | TWO),
    "quadratic width": (lambda s: predict(s, theory="quadratic-width"), WIDE | ONE),
    "losses": (losses, WIDE | ONE),
    "losses of two steps": (losses, WIDE | TWO),
    "outliers of features": (feature_outliers, WIDE | ONE),
    "outliers of weights": (weight_outliers, WIDE | TWO),
    "law of weights": (lambda s: weight_law(s, TYPICAL), WIDE | TWO),
}


def covers(name: str, changes: dict[str, Any]) -> bool:
    return COVERED.get(name, set()).issuperset(changes)


# Features after a step, which are simulated, may be of any inputs.
OTHERWISE = [("features after a step", "inputs")]
REFUSED = [
    (name, changes, sentence)
    for name in THEORIES | LINEAR
    for changes, sentence in WORDS
    if not covers(name, changes) and (name, *changes) not in OTHERWISE
]


@pytest.mark.parametrize(("name", "changes", "sentence"), REFUSED)
def test_a_theory_refuses_a_word(name: str, changes: dict[str, Any], sentence: str) -> None:
    theory, fields = (THEORIES | LINEAR)[name]
    start = r"^(no prediction: )?(theory (narrow|linear-width|quadratic-width): )?"
    with pytest.raises((NoTheoryError, InputError), match=f"{start}{sentence}$"):
        theory(Setting(**(fields | changes)))


ANSWERED = [(name, changes) for name in COVERED for changes, _ in WORDS if covers(name, changes)]


@pytest.mark.parametrize(("name", "changes"), ANSWERED)
def test_narrow_networks_cover_a_word(name: str, changes: dict[str, Any]) -> None:
    theory, fields = THEORIES[name]
    assert theory(Setting(**(fields | changes))).theory == "narrow"


@pytest.mark.parametrize("name", ["rows", "update"])
def test_lengths_need_samples(name: str) -> None:
    setting = Setting(**(HEAVY | {"n": 100, name: "normalised"}))
    assert choose_theory(setting).name == "narrow"
    steps = ", unless the steps are small" if name == "rows" else ""
    least = f"n must be at least 100 for {name} = normalised{steps}, got 99"
    with pytest.raises(NoTheoryError, match=f"^no prediction: theory narrow: {least}$"):
        predict(setting.vary(n=99), theory="narrow")


def test_rows_are_free_where_updates_are_orthogonal() -> None:
    setting = Setting(**(HEAVY | {"update": "orthogonal"}))
    assert choose_theory(setting).name == "narrow"
    refused = "rows must be free for a prediction with update = orthogonal, got 'normalised'"
    with pytest.raises(NoTheoryError, match=f"^no prediction: theory narrow: {refused}$"):
        predict(setting.vary(rows="normalised"), theory="narrow")


def test_deflating_along_a_spike_needs_samples() -> None:
    for text in ("spiked(3, 0.5)", "shifted(1.7320508075688772, 0.5)"):
        refused_below_4800(Setting(**(HEAVY | {"n": 4800, "deflate": 1, "inputs": text})))


def refused_below_4800(setting: Setting) -> None:
    """300 times the square of E[x^2] = 4."""
    assert choose_theory(setting).name == "narrow"
    least = r"n must be at least 300 E\[x\^2\]\^2 for deflate = 1 with inputs "
    least += re.escape(setting.inputs.text)
    least += ", x being the component along the spike or the shift, got 4799"
    with pytest.raises(NoTheoryError, match=f"^no prediction: theory narrow: {least}$"):
        predict(setting.vary(n=4799), theory="narrow")


@pytest.mark.parametrize(("changes", "sentence"), STARTS)
@pytest.mark.parametrize("name", LINEAR)
def test_linear_width_refuses_a_start(name: str, changes: dict[str, Any], sentence: str) -> None:
    theory, fields = LINEAR[name]
    with pytest.raises(NoTheoryError, match=sentence):
        theory(Setting(**(fields | changes)))


@pytest.mark.parametrize("name", THEORIES | LINEAR)
def test_without_the_words_it_answers(name: str) -> None:
    theory, fields = (THEORIES | LINEAR)[name]
    assert theory(Setting(**fields)) is not None


def test_features_that_overflow_have_no_errors() -> None:
    """exp of rows that giant steps have made long: refused, not fitted on nothing."""
    setting = Setting("2*He4(x1) + 0.3*x1", activation="exp", d=9000, n="d", p=32, steps=4)
    long = setting.vary(step_size="5*giant", bias=3.0, bias_at="readout", noise=2.0, runs=2)
    with pytest.raises(NoTheoryError, match="features become infinite or too large"):
        predict(long, scrambles=2, log2_points=8)


def test_a_start_that_is_too_large_to_draw_is_refused() -> None:
    """Reused batches with a bias are run densely: p x d numbers, here a hundred gigabytes."""
    setting = Setting("x1", d=10**9, n="2d", p=16, steps=1, batches="reused", bias=1.0, runs=2)
    with pytest.raises(NoTheoryError, match=r"p\*d must be at most 134217728, got 16000000000"):
        predict(setting)


def test_a_start_of_a_million_dimensions_takes_no_square_matrix() -> None:
    setting = Setting("x1", d=10**6, n="2d", p=2, steps=1, batches="reused", bias=1.0)
    start = start_of_run(setting.vary(start="gaussian"), 0)
    assert start.rows.shape[0] == 2
    np.testing.assert_allclose(np.sum(start.rows**2, axis=1), 1.0, rtol=0.01)
