"""Rows at linear width are covered with and without a readout, whose objections are its own."""

from typing import Any

import numpy as np
import pytest

from giantstep.errors import NoTheoryError
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.rows import objection, rows_after, rows_objection
from giantstep.problem.setting import Setting

FIELDS: dict[str, Any] = {
    "target": "x1 + He2(x1)/2",
    "activation": "tanh(z + 0.5)",
    "d": 60,
    "n": "2d",
    "p": 40,
    "step_size": 2.0,
    "start": "sphere",
    "readout_n": 90,
}
NO_READOUT = {"readout_n": 0, "test_n": 0}
LAST_BATCH = {"readout_batch": "last", "readout_n": "n"}


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("change", [NO_READOUT, LAST_BATCH])
def test_rows_do_not_ask_for_a_readout(steps: int, change: dict[str, Any]) -> None:
    """Rows are the same whatever becomes of the readout."""
    setting = Setting(**FIELDS | {"steps": steps})
    other = Setting(**FIELDS | {"steps": steps} | change)
    assert rows_objection(other) is None
    readout = np.linspace(-1.0, 1.0, 40)
    expected, found = rows_after(setting, readout), rows_after(other, readout)
    assert np.array_equal(found.overlap, expected.overlap)
    assert np.array_equal(found.gram, expected.gram)


def test_the_readout_objects_for_itself() -> None:
    """After one step a readout on the last batch is not covered; no readout has no objection."""
    last, none = (Setting(**FIELDS | {"steps": 1} | change) for change in (LAST_BATCH, NO_READOUT))
    sentence = "readout_batch must be fresh for the closed system, got 'last'"
    assert objection(last) == sentence
    assert objection(none) is None
    with pytest.raises(NoTheoryError, match=sentence):
        losses(last)
    with pytest.raises(NoTheoryError, match="readout_n must be positive for the closed system"):
        losses(none)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"p": "30d"}, "p must be between 0.05 d and 20 d, got 30 d"),
        ({"n": 2}, "n must be between 0.05 d and 20 d, got 0.0333 d"),
        ({"steps": 3}, "steps must be at most 2, got 3"),
        ({"steps": 2, "corruption": 0.1}, "corruption must be 0 for this theory, got 0.1"),
        ({"deflate": 0}, "deflate must be -1 (off) for the closed system, got 0"),
    ],
)
def test_objections_to_the_rows(change: dict[str, Any], sentence: str) -> None:
    setting = Setting(**FIELDS | {"steps": 1} | change)
    assert rows_objection(setting) == objection(setting) == sentence
