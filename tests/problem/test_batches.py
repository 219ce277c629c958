"""Which samples a step is taken on: sets, how often each is used, and how large it is."""

import pickle

import pytest

from giantstep.problem.batches import set_of, set_size, uses
from giantstep.problem.setting import Setting


@pytest.mark.parametrize(
    ("text", "sets", "most_uses", "size"),
    [
        ("fresh", [0, 1, 2, 3, 4], 1, 40),
        ("reused", [0, 0, 0, 0, 0], 5, 40),
        ("repeat(2)", [0, 0, 1, 1, 2], 2, 40),
        ("repeat(9)", [0, 0, 0, 0, 0], 5, 40),
        ("minibatch(2n)", [0, 0, 0, 0, 0], 5, 80),
    ],
)
def test_sets_of_samples(text: str, sets: list[int], most_uses: int, size: int) -> None:
    batches = Setting("x1", d=10, n=40, steps=5, batches=text).batches
    assert [set_of(batches, step) for step in range(5)] == sets
    assert uses(batches, 5) == most_uses
    assert set_size(batches, 40) == size


def test_a_kind_says_what_callers_ask() -> None:
    texts = ("fresh", "reused", "repeat(2)", "minibatch(80)")
    kinds = [Setting("x1", d=10, n=40, batches=text).batches.kind for text in texts]
    assert [kind.fresh for kind in kinds] == [True, False, False, False]
    assert [kind.same for kind in kinds] == [False, True, False, False]
    assert [kind.draws for kind in kinds] == [False, False, False, True]


def test_words_keep_their_kind_when_they_travel() -> None:
    setting = Setting("x1", d=10, n=40, batches="repeat(2)", loss="huber(1)", start="sphere")
    again = pickle.loads(pickle.dumps(setting))
    assert again == setting
    assert (again.batches.numbers, again.loss.kind, again.start.kind) == (
        (2.0,),
        setting.loss.kind,
        setting.start.kind,
    )
    assert again.batches == "repeat(2)"
