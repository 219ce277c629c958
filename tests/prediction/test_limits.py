"""The table of limits: every bound has evidence, can refuse, and nothing else refuses."""

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep import LimitStatus, Setting, limits, predict
from giantstep.errors import NoTheoryError
from giantstep.prediction.limits import computed
from giantstep.prediction.narrow import draws_needed

ROOT = Path(__file__).parents[2]
PREDICTION = ROOT / "src" / "giantstep" / "prediction"

LISTED = limits()
NAMES = [f"{each.theory}, {each.part}, {each.limit.name}" for each in LISTED]

NARROW: dict[str, Any] = {"target": "x1", "d": 100, "n": 100, "p": 4, "steps": 2}
MANY = NARROW | {"p": 10}
LONG = NARROW | {"steps": 200}
HEAVY = NARROW | {"d": 10**5, "p": 600}  # too many weights for runs to be drawn
AGAIN = NARROW | {"batches": "reused"}
WIDE: dict[str, Any] = {
    "target": "x1",
    "activation": "tanh",
    "d": 100,
    "n": "2d",
    "p": "d",
    "steps": 1,
    "step_size": 1.0,
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "readout_n": "2d",
    "ridge": 0.1,
}
TWO = WIDE | {"steps": 2}
PAIRED = WIDE | {"start": "symmetric", "readout_start": "signs", "n": "20d", "p": "d/2"}
EVEN = TWO | {"target": "He2(x1)", "activation": "relu"}
ANSWER = {"activation": "tanh", "readout_start": "alternating", "d": 120, "step_size": [0.2, 0.001]}
HEAVY_AGAIN = HEAVY | {"batches": "reused"}
BLOCKS = NARROW | {"inputs": "blocks(0.5, 2, 0.5, 0.5)"}
CLOUD = NARROW | {"d": 3, "p": 80, "readout_n": 0, "test_n": 0}
ONE = NARROW | {"p": 1, "start": "sphere", "rows": "normalised", "step_size": 1e-3}
ADAM = NARROW | {"update": "adam(0.9, 0.99)", "runs": 10**7}  # too many for runs to be drawn
SPIKED = {"deflate": 1, "inputs": "spiked(3, 0.5)", "d": 1000}

EMERGENCE = {"target": "He2(x1)", "d": 100, "n": 1000, "p": 10, "steps": 1, "residual": "labels"}
SMALL = EMERGENCE | {"activation": "He2", "step_size": 1e-3, "output_scale": 1}
LAST = WIDE | {"readout_batch": "last", "readout_n": "n", "residual": "labels"}
INSIDE: list[dict[str, Any]] = [
    *(LAST, LAST | {"steps": 2}),
    *(NARROW, MANY, LONG, AGAIN, WIDE, TWO, PAIRED, EVEN, NARROW | {"n": 5}),
    *(HEAVY | {"rows": "normalised", "n": 50, "step_size": 1e-3}, NARROW | {"deflate": 1}),
    *(HEAVY | {"update": "normalised"}, HEAVY | SPIKED | {"n": 4800, "d": 10**5}),
    *(HEAVY | {"batches": "reused"}, MANY | {"loss": "huber(1)"}, AGAIN | {"d": 500}),
    *(MANY | {"readout_between": "ridge", "readout_n": 100}, NARROW | {"deflate": 1, "n": 6000}),
    *(NARROW | {"deflate": 1, "readout_n": "1000d"}, WIDE | {"d": 400, "p": 400}),
    *(WIDE | {"p": "d/2", "step_size": 0.1}, WIDE | {"steps": 3}, BLOCKS, CLOUD, ONE),
    *(EMERGENCE, SMALL),
    NARROW | {"deflate": 2, "readout_n": 100},
    *(BLOCKS | {"frame": "axes"}, ADAM | {"d": 2000, "p": 4}, HEAVY | {"update": "sign"}),
]
"""Settings such that each limit applies to one and has nothing to say."""

BEYOND: dict[str, list[dict[str, Any]]] = {
    "steps before a readout on their last batch": [LAST | {"steps": 3}],
    "own output in the residual before a second step": [
        LAST | {"steps": 2, "residual": "full", "start": "sphere"}
    ],
    "direction of the first step": [LAST | {"steps": 2, "activation": "He2"}],
    "pull of the network's own output on its batch": [
        LAST | {"residual": "full", "start": "sphere", "step_size": 0.3}
    ],
    "noise of the step in the rows, for a readout on its batch": [LAST | {"step_size": 100.0}],
    "noise of the step in the rows, for train errors on its batch": [LAST | {"step_size": 100.0}],
    "inputs": [
        *(each | {"inputs": "rademacher"} for each in (NARROW, ADAM, LAST)),
        HEAVY_AGAIN | {"inputs": "spiked(3, 0.5)"},
    ],
    "deflate": [NARROW | {"deflate": 2, "n": 6000}],  # and of the rows of a data set: below
    "frame": [ADAM | {"frame": "axes"}],  # and of the rows of a data set: below
    "target": [NARROW | {"target": "x1 + x2"}],
    "readout_between": [each | {"readout_between": "ridge"} for each in (WIDE, HEAVY_AGAIN)],
    "update": [
        *(each | {"update": "sign"} for each in (HEAVY, HEAVY_AGAIN, LONG)),
        *(HEAVY | {"update": "clipped(1)"}, ADAM | {"p": 10}, LONG | {"update": "normalised"}),
    ],
    "inputs of an update that depends on the axes": [ADAM],
    "samples of an update that depends on the axes": [ADAM | {"n": 99}],
    "normals of an axis": [ADAM | {"steps": 200}],
    "largest entry of an update": [ADAM | {"update": "adam(0.9, 0)"}],
    "readout_batch": [WIDE | {"readout_batch": "last", "readout_n": "n"}],
    "start_rows": [ADAM | {"start": "given", "start_rows": np.eye(4, 100)}],
    "rows": [NARROW, HEAVY | {"rows": "normalised", "update": "orthogonal"}],
    "start": [NARROW | {"start": "orthogonal"}],
    "axes that carry a step": [WIDE | {"inputs": "power(1)"}],
    "axes of the block of a target direction": [WIDE | {"inputs": "power(0.5)", "frame": "axes"}],
    "axes of the smallest block": [WIDE | {"inputs": "power(0.5)"}],
    "readout_start": [WIDE, WIDE | {"readout_start": "ones"}],
    "bias": [NARROW | {"bias": 1.0}],
    "decay": [NARROW | {"decay": 0.1}],
    "label_transform": [NARROW | {"label_transform": "tanh(y)"}],
    "loss": [NARROW | {"loss": "huber(1)"}],
    "gradient": [NARROW | {"gradient": "tangent"}],
    "lookahead": [
        each | {"lookahead": "sample(p/d)"} for each in (NARROW, NARROW | {"batches": "reused"})
    ],
    "momentum": [NARROW | {"momentum": 0.5}],
    "label_kind": [NARROW | {"target": "tanh(x1)", "label_kind": "sign"}],
    "batches": [
        *(NARROW | {"batches": "repeat(2)"}, WIDE | {"steps": 3, "batches": "reused"}),
        LAST | {"steps": 2, "batches": "reused"},
    ],
    "readout_n": [NARROW],
    "p": [NARROW],
    "d": [NARROW | {"d": 1, "n": 10}],
    "step_size": [ONE | {"step_size": [1e-3, 2e-3]}, ONE | {"step_size": 0.0}],
    "length that a step adds to a row": [ONE | {"step_size": 10.0}],
    "tails of a step over its length": [ONE | {"step_size": 10.0, "n": 1}],
    "dimension of the mean field": [NARROW],
    "neurons of the mean field": [NARROW],
    "seconds of the mean field": [CLOUD | {"p": 10**6, "output_scale": "1/sqrt(p)"}],
    "ridge": [NARROW | {"ridge": "cv"}],
    "corruption": [NARROW | {"target": "sign(x1)", "corruption": 0.1}],
    "neurons per input, p/d, where batches are small": [NARROW | {"n": 5, "p": 60}],
    "neurons over inputs, steps in groups": [LONG | {"p": 6}],
    "inputs of samples that are seen again": [AGAIN],
    "steps of a drawn run": [MANY | {"steps": 101, "batches": "reused"}],
    "seconds in which theory draws random runs": [MANY | {"runs": 10**6}],
    "samples that no points stand for": [MANY | {"loss": "huber(1)", "n": 10**8}],
    "features of a readout that is drawn": [
        MANY | {"readout_between": "ridge", "readout_n": 10**6}
    ],
    "coordinates of the samples of a readout that is drawn": [
        NARROW | {"deflate": 2, "readout_n": 10**6}
    ],
    "weights of a random run": [MANY | {"d": 1000, "p": 600}],
    "neurons of a random run": [MANY | {"d": 50, "p": 600}],
    "length that a step adds to normalised rows, per sample": [
        HEAVY | {"rows": "normalised", "n": 50, "step_size": 1e6}
    ],
    "samples of a normalised update": [HEAVY | {"update": "normalised", "n": 99}],
    "samples over squared variance of a known direction": [
        HEAVY | SPIKED | {"n": 4799, "d": 10**5}
    ],
    "steps that are taken one by one": [AGAIN | {"steps": 1001}],
    "entries of a dense start": [AGAIN | {"d": 10**8, "n": "2d", "bias": 1.0}],
    "number of steps": [NARROW | {"steps": 101}],
    "samples of the readout over neurons": [NARROW | {"readout_n": 39}],
    "samples of a deflated readout over inputs": [NARROW | {"deflate": 1, "readout_n": 99_999}],
    "samples of a gradient's length": [NARROW | {"n": 99}],
    "entries of overlaps and Gram matrix": [
        each | {"p": 130, "d": 10**4} for each in (NARROW, AGAIN)
    ],
    "directions of a run over inputs": [AGAIN | {"p": 60}],
    "samples of the simulations that show how runs differ": [
        NARROW | {"batches": f"minibatch({10**6})"}
    ],
    "steps of the simulations that show how runs differ": [AGAIN | {"steps": 65}],
    "entries of overlaps and Gram matrix of a long run": [LONG | {"p": 12}],
    "directions of rows and target, per sample of a batch whose label is deflated": [
        NARROW | {"deflate": 1}
    ],
    "neurons of a symmetric start": [NARROW | {"p": 34}],
    "p/d": [WIDE | {"p": 4}],
    "n/d": [WIDE | {"n": 4}],
    "steps": [WIDE | {"steps": 5}, ONE | {"steps": 0}],
    "samples of the readout": [WIDE | {"readout_n": 0, "test_n": 0}],
    "dimensions of the inputs": [WIDE | {"d": 2}],
    "turn by the target's degree 2": [
        WIDE | {"target": "x1 + He2(x2)/2", "activation": "relu", "step_size": 30.0}
    ],
    "neurons and readout samples over d^2": [WIDE | {"d": 10, "p": "5d^2", "readout_n": "5d^2"}],
    "noise of the steps in the rows": [TWO | {"step_size": 30.0}],
    "noise of one step in the rows": [WIDE | {"activation": "tanh", "step_size": 300.0}],
    "noise of one step times d/n, part of it linear in a row": [
        WIDE | {"activation": "relu", "step_size": 100.0}
    ],
    "output of the network after the first step, in the rows": [TWO | {"step_size": [90.0, 0.1]}],
    "output of the network after the first step": [TWO | ANSWER],
    "noise that three steps or more pile up in the rows": [
        TWO | {"steps": 3, "activation": "relu", "step_size": 30.0}
    ],
    "lengths by which the steps move a row": [
        TWO | {"activation": "He1 + He2/2", "batches": "reused", "step_size": 30.0}
    ],
    "tails of the residual": [WIDE | {"target": "x1 - He2(x1)*He3(x2)"}],
    "p/d of a spectrum": [WIDE | {"p": "21d"}],
    "readout_n/d of a spectrum": [WIDE | {"readout_n": "21d"}],
    "noise of a step in the span of the rows": [WIDE | {"p": "d/2", "step_size": 20.0}],
    "target directions, symmetric start": [PAIRED | {"target": "x1 + x2"}],
    "cosine of the learned direction with the target": [PAIRED | {"target": "He2(x1)"}],
    "relative terms of order 1/d and 1/p, where the narrow theory serves too": [WIDE],
    "relative terms of order 1/d and 1/p, readout errors beside narrow rows": [WIDE | {"p": 5}],
    "relative terms of order 1/d and 1/p, rows of a data set": [WIDE | {"d": 50}],
    "linear part of the target": [TWO],
    "neurons over inputs": [EMERGENCE | {"p": 30}],
    "directions over neurons": [EMERGENCE | {"target": "separable(He2, 11, 1)"}],
    "terms of several directions": [EMERGENCE | {"target": "x1*x2"}],
    "information exponent": [EMERGENCE | {"target": "He3(x1)"}],
    "samples over inputs of emergence": [EMERGENCE | {"n": 900}],
    "activation beyond degree two": [SMALL | {"activation": "relu"}],
    "noise of small steps": [SMALL | {"step_size": 1.0}],
    "residual": [NARROW],
    "size of the second direction": [EVEN | {"activation": "He1"}],
}
"""A setting beyond each limit, by its name; one for each condition under which it is asked."""

COMPUTED = {each.limit.name for each in LISTED if each.limit.quantity is computed}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Settings with the rows of a data set: a batch of few of them, and beyond the limits."""
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, np.random.default_rng(0).standard_normal((4000, 8)))
    rows = {"target": "x1", "inputs": f"whitened({path})", "p": 4, "n": 100, "steps": 1}
    given = {"start": "given", "start_rows": np.eye(4, 8)}
    return {
        "inside": [rows, rows | given | {"frame": "axes"}],
        "share of the rows that were whitened together": [rows | {"n": 400}],
        "frame": [rows | given],
        "target": [rows | {"target": "column(x1)", "inputs": f"data({path})"}],
        "readout_batch": [rows | {"readout_batch": "last", "readout_n": "n"}],
        "readout_between": [rows | {"readout_between": "ridge", "readout_n": 50}],
        "update": [rows | {"update": "sign"}],
        "deflate": [rows | {"deflate": 2}],
    }


@pytest.mark.parametrize("each", LISTED, ids=NAMES)
def test_a_limit_has_evidence_and_bounds(each: LimitStatus) -> None:
    path, _, test = each.limit.evidence.partition("::")
    assert (ROOT / path).is_file()
    assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8") or not test
    assert each.limit.kind in ("derived", "measured", "chosen")
    assert math.isfinite(each.limit.most) or math.isfinite(each.limit.least)


@pytest.mark.parametrize("each", LISTED, ids=NAMES)
def test_a_value_just_beyond_a_bound_is_refused(each: LimitStatus) -> None:
    limit, setting = each.limit, Setting(**WIDE)
    for bound, out in ((limit.most, math.inf), (limit.least, -math.inf)):
        if math.isfinite(bound):
            limit.refuse(bound, setting)
            with pytest.raises(NoTheoryError, match=r"^no prediction: "):
                limit.refuse(math.nextafter(bound, out), setting)
    limit.refuse(None, setting)
    with pytest.raises(NoTheoryError):
        limit.refuse(math.nan, setting)


def stands(each: LimitStatus, fields: dict[str, Any]) -> LimitStatus:
    return LimitStatus.of(each.limit, Setting(**fields), theory=each.theory, part=each.part)


@pytest.mark.parametrize("each", LISTED, ids=NAMES)
def test_a_limit_holds_for_one_setting_and_refuses_another(
    each: LimitStatus, table: dict[str, list[dict[str, Any]]]
) -> None:
    if each.limit.name in COMPUTED:
        assert stands(each, WIDE).value is None
        return
    inside = (stands(each, fields) for fields in (*INSIDE, *table["inside"]))
    assert any(at.value is not None and at.complaint is None for at in inside)
    beyond = [*BEYOND.get(each.limit.name, []), *table.get(each.limit.name, [])]
    complaints = [at.complaint for at in (stands(each, fields) for fields in beyond)]
    assert any(text is not None for text in complaints)


def test_shares() -> None:
    """Of the bound: 1 at it, more beyond; a limit that does not apply has none."""
    few = "too few samples to predict the length of a gradient: n must be at least 100, got "
    cosines = {each.part: each for each in limits(Setting(**NARROW | {"n": 50}))}
    assert cosines["gradient cosines"].share == 2.0
    assert cosines["gradient cosines"].complaint == f"{few}50"
    assert [each.share for each in LISTED] == [None] * len(LISTED)


def test_what_is_beyond_a_limit_is_refused_and_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is what ``predict`` asks: a theory, and a part of its record.

    The part is left open where drawn runs, which have it, would take long.
    """
    monkeypatch.setattr(draws_needed, "quick", lambda *_, **__: False)
    setting = Setting(**HEAVY | {"n": 99, "update": "normalised"})
    [complaint] = [
        each.complaint
        for each in limits(setting)
        if each.theory == "narrow" and each.part is None and each.complaint is not None
    ]
    with pytest.raises(NoTheoryError, match=f"^no prediction: theory narrow: {complaint}$"):
        predict(setting, theory="narrow")
    few = "too few samples to predict the length of a gradient: n must be at least 100, got "
    notes = predict(
        Setting(**NARROW | {"n": 99, "step_size": 0.1}), scrambles=2, log2_points=8
    ).notes
    assert f"no prediction of gradient cosines: {few}99" in notes


def refusals(source: str) -> list[str]:
    """Texts of the NoTheoryErrors that a source raises."""
    raised = [node.exc for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    calls = [call for call in raised if isinstance(call, ast.Call)]
    return [ast.unparse(c) for c in calls if ast.unparse(c.func).endswith("NoTheoryError")]


def functions(source: str) -> list[str]:
    """Names of the functions that a source defines."""
    return [n.name for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]


def test_nothing_else_refuses() -> None:
    """Outside the table NoTheoryError is for numbers that leave the finite ones alone."""
    for path in PREDICTION.rglob("*.py"):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(PREDICTION).as_posix()
        if name not in ("limits.py", "theories.py"):
            texts = refusals(source)
            assert all("finite" in text or "Gaussian inputs" in text for text in texts), path
        names = [each for each in functions(source) if "objection" in each or each == "covers"]
        assert names == [], path


def test_a_refusal_of_its_own_is_seen() -> None:
    assert refusals("if p > d:\n    raise NoTheoryError('too wide')") == [
        "NoTheoryError('too wide')"
    ]
    assert functions("def step_objection(): ...") == ["step_objection"]
