"""Forms of curves and sentences of the answer in words, and pictures with their axes."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from giantstep.estimator.parts import Part
from giantstep.reports.answer import answer, shape
from giantstep.reports.comparison import Compared, Left, best_peer
from giantstep.reports.directions import Curve, Direction
from giantstep.reports.interval import Interval, interval, rounded
from giantstep.reports.lost import Lost
from giantstep.reports.page import _direction, _plane_caption
from giantstep.reports.pictures import label_picture, shown_rows, strips
from giantstep.reports.record import Report
from giantstep.reports.svg import Axes, diverging, ticks
from giantstep.reports.weights import Weight

AT = np.linspace(-2.0, 2.0, 33)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (AT, "follows almost a straight line"),
        (-3.0 * AT, "follows almost a straight line"),
        (np.tanh(2.0 * AT), "rises all the way, on a bent line"),
        (-np.exp(AT), "falls all the way, on a bent line"),
        (np.abs(AT), "has a valley"),
        (-(AT**2), "has a hill"),
        (np.sin(4.0 * AT), "turns 4 times"),
        (np.zeros(33), "is constant"),
        # Wiggles below a tenth of the range are those of a fit.
        (np.tanh(2.0 * AT) + 0.05 * np.sin(20 * AT), "rises all the way, on a bent line"),
    ],
)
def test_the_form_of_a_curve(values: np.ndarray, words: str) -> None:
    curve = Curve(AT, values[None], values[None], values[None])
    assert shape(curve) == words


@pytest.mark.parametrize(
    ("values", "reach", "words"),
    [
        # A tail that comes back by less than its error is no turn.
        (np.where(AT > 1.5, 0.7, np.tanh(2.0 * AT)), 0.3, "rises all the way, on a bent line"),
        (np.where(AT < -1.5, 0.5, np.tanh(2.0 * AT)), 2.0 * (AT < -1.5), "rises, and its error"),
        # One side of a valley is known, the other is not.
        (np.abs(AT), 3.0 * (AT > 0.2), "falls, and its error leaves open whether it turns"),
        (np.where(AT > 1.5, 0.4, np.tanh(2.0 * AT)), 0.05, "has a hill"),
        (AT + 0.3 * np.sin(8.0 * AT), 0.4, "is straight within its error"),
        (AT + 0.3 * np.sin(8.0 * AT), 0.1, "rises all the way, on a bent line"),
        (AT**2, 5.0, "does not change beyond its error"),
    ],
)
def test_the_form_is_read_beyond_the_band(
    values: np.ndarray, reach: np.ndarray | float, words: str
) -> None:
    curve = Curve(AT, values[None], (values - reach)[None], (values + reach)[None])
    assert words in shape(curve)


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-37.0, 112.0) == pytest.approx([0.0, 50.0, 100.0])


def test_colours_of_labels_go_from_blue_to_orange() -> None:
    assert diverging(-1.0) == diverging(0.0) == "#2166ac"
    assert diverging(0.5) == "#969696"
    assert diverging(2.0) == "#d95f0e"


def direction(values: np.ndarray, reach: float, certain: bool) -> Direction:
    curve = Curve(AT, values[None], (values - reach)[None], (values + reach)[None])
    loss = interval(0.1, 0.01)
    return Direction(
        certain=certain,
        loss=loss,
        p_value=0.0,
        level=0.02,
        weights=(weight("a", 0.9, 0.02), weight("b", 0.4, 0.02)),
        correlations=(weight("a", 0.95, 0.01), weight("c", -0.8, 0.02), weight("b", 0.1, 0.02)),
        stability=(1.0,),
        alone=(1.0,),
        curve=curve,
        coordinate=np.zeros(9),
    )


def weight(column: str, value: float, error: float) -> Weight:
    return Weight(column, interval(value, error))


def which(*directions: Direction) -> str:
    """The third sentence for certain directions."""
    return answer(replace(made(), directions=directions))[2]


def test_columns_are_named_with_what_is_sure_of_them() -> None:
    """Weights beyond their errors; where some are not, correlations above .3 too."""
    sure = direction(AT, 0.1, True)
    assert which(sure) == (
        "Direction 1 is made of a (+0.90, +0.86 to +0.94) and b (+0.40, +0.36 to +0.44)."
    )
    correlated = "It correlates most with a (+0.95, +0.93 to +0.97) and c (-0.80, -0.84 to -0.76)."
    half = replace(sure, weights=(weight("a", 0.9, 0.002), weight("b", 0.4, 0.3)))
    assert which(half) == (
        "Direction 1 is made of a (+0.90, +0.90 to +0.90). One more large weight may be zero. "
        f"{correlated}"
    )
    unsure = replace(sure, weights=(weight("a", 0.9, 0.6), weight("b", 0.4, 0.3)))
    assert which(unsure) == (
        "Which columns make direction 1 is not sure: every weight may be zero. " + correlated
    )
    cities = [Weight(f"city = {k}", interval(0.9 - k, 0.02), "city") for k in (0, 1)]
    one_city = replace(half, correlations=(*cities, *sure.correlations[:1]))
    assert which(one_city).endswith(
        "with city = 0 (+0.90, +0.86 to +0.94) and a (+0.95, +0.93 to +0.97)."
    )


def test_a_direction_that_refits_lack_is_said_to_be_found_in_some() -> None:
    """Rows of a refit without it have no coordinate: they are in no picture, and counted."""
    u = np.linspace(-1.0, 1.0, 300)
    u[:100] = np.nan
    some = replace(direction(AT, 0.1, True), coordinate=u, stability=(0.0, 0.9, 0.8))
    some = replace(some, alone=(0.0, 0.9, 0.8))
    assert (some.found, some.turns) == (2, False)
    assert some.steady == pytest.approx(0.85 * 2 / 3)
    assert "Only 2 of 3 refits find direction 1." in which(some)
    record = replace(made(), directions=(some, direction(AT, 0.1, True)))
    rows, words = shown_rows(record, some)
    assert rows.tolist() == list(range(100, 300))
    assert words.endswith(
        "100 rows are left out, because the refit that holds them out did not find the direction"
    )
    assert label_picture(record, some, 1).count('r="2.4"') == 200
    assert "Found in 2 of 3 refits" in _direction(record, some, 1)
    assert "intervals over the refits that found it" in _direction(record, some, 1)
    none = replace(some, coordinate=np.full(300, np.nan), stability=(0.0,) * 3, alone=(0.0,) * 3)
    drawn = _direction(record, none, 1)
    assert "Small discs: none, because no refit found the direction." in drawn
    assert "Large discs" not in drawn
    assert "nan" not in drawn
    badges = [
        re.findall(r'class="badge">([^<]*)<', _direction(record, each, 1))
        for each in (some, none, replace(none, certain=False))
    ]
    assert badges == [
        ["certain"],
        ["certain on all rows, found in 0 of 3 refits"],
        ["not certain"],
    ]


def test_columns_are_named_by_what_is_lost_where_weights_do_not_name_them() -> None:
    sure = direction(AT, 0.1, True)
    lost = (Lost("c", interval(0.4, 0.02)), Lost("a", interval(0.1, 0.02)))
    said = answer(replace(made(), directions=(sure,), lost=lost))[2]
    costs = "Shuffling one column at a time costs held-out rows most in c (40 %, 36 % to 44 %) and"
    assert said.startswith("Direction 1 is made of")
    assert costs in said
    assert "offsets" not in said
    offsets = replace(sure, references=("city = Rome",))
    assert "Weights of categories are offsets" in which(offsets)
    rare = replace(sure, stability=(0.0, 0.9, 0.2), alone=(0.0, 0.9, 0.2))
    for name, without in (("directions", False), ("soft, by column", True)):
        parts = (Part("linear", 0.1, 0.1, 0.01), Part(name, 0.9, 0.5, 0.4))
        record = replace(made(), directions=(rare,), lost=lost)
        record = replace(record, estimator=[SimpleNamespace(n_features_in_=4, parts_=parts)])
        _, _, said, kind, _ = answer(record)
        assert said.startswith("Only 1 of 3 refits finds direction 1. Shuffling one column")
        assert ("part of the fit without directions" in said) == without
        assert "direction 1" not in kind
        nowhere = replace(rare, stability=(0.0,) * 3, alone=(0.0,) * 3)
        said = answer(replace(record, directions=(nowhere,)))[2]
        assert said.startswith("None of the 3 refits finds direction 1. Shuffling one column")


def test_fitted_directions_of_which_none_is_certain_are_told_tentatively() -> None:
    """They are counted and their columns named; only where none was fitted nothing is named."""
    unsure = direction(AT, 0.1, False)
    many, columns = answer(replace(made(), directions=(unsure, unsure)))[1:3]
    assert many.startswith("2 directions were fitted, and none of them is certain at level 0.02.")
    assert columns == (
        "The columns are named tentatively. Direction 1 is mostly a (+0.90) and b (+0.40). "
        "Direction 2 is mostly a (+0.90) and b (+0.40)."
    )
    many, columns = answer(replace(made(), directions=(unsure,)))[1:3]
    assert many.startswith("1 direction was fitted, and it is not certain at level 0.02.")
    assert columns.startswith("Its columns are named tentatively. Direction 1")
    assert "of the strongest 3" in which(*(unsure,) * 4)
    many, columns = answer(replace(made(), directions=()))[1:3]
    assert many.startswith("No direction was fitted: a few of them predict no better")
    assert columns == "There is no combination of columns to name."
    nothing = replace(made(score=interval(0.01, 0.02)), directions=(unsure,))
    assert answer(nothing)[2] == "There is no combination of columns to name."


def test_directions_that_refits_mix_are_told_together() -> None:
    sure = direction(AT, 0.1, True)
    mixed = replace(sure, stability=(1.0, 1.0), alone=(0.8, 0.8))
    said = which(sure, mixed, mixed)
    assert said.count("Refits") == 1
    assert "Direction 2 is mostly a (+0.90) and b (+0.40)." in said
    assert said.endswith(
        "Refits mix directions 2 and 3: what these span together is sure, the weights of each are "
        "not."
    )
    assert "Refits turn direction 2 towards the others" in which(sure, mixed)


def made(
    rows: int = 300, columns: int = 4, line: float = 0.3, score: Interval | None = None
) -> Report:
    """A report of three directions of which the last is certain, with a linear model."""
    score = score or interval(0.6, 0.02)
    flat, bent = np.zeros(33), np.abs(AT)
    return Report(
        title="t",
        label="y",
        classes=(),
        rows=rows,
        distinct=rows,
        columns=columns,
        folds=5,
        level=0.02,
        said=(),
        leaks=(),
        row_numbers=(),
        score=score,
        accuracy=None,
        most_frequent=None,
        directions=(
            direction(flat, 0.1, False),
            direction(bent, 0.1, False),
            direction(bent, 9.0, True),
        ),
        estimator=[SimpleNamespace(n_features_in_=columns)],
        outputs=np.zeros((rows, 1)),
        models=(
            Compared("giant steps", score, None),
            Compared("linear", interval(line, 0.02), interval(line - 0.6, 0.02)),
        ),
    )


@pytest.mark.parametrize(
    ("rows", "columns", "line", "sentence"),
    [
        (300, 4, 0.3, "A linear model explains 30 % (26 % to 34 %): bends and products add"),
        (60, 200, 0.3, "The linear model here (ridge) does worse, with 30 % (26 % to 34 %)."),
        (300, 59, 0.3, "The linear model here (ridge) does worse"),
        # 48 weights of 240 rows cost up to .25 of what is missed: .1 needs no bend.
        (300, 48, 0.5, "The linear model here (ridge) does worse"),
        (300, 4, 0.59, "A linear model does as well"),
    ],
)
def test_the_reason_of_a_difference_is_said_where_it_is_known(
    rows: int, columns: int, line: float, sentence: str
) -> None:
    assert sentence in answer(made(rows, columns, line))[3]


def test_sentences_name_the_certain_direction() -> None:
    _, many, _, kind, _ = answer(made())
    assert many == (
        "1 direction is certain at level 0.02 (number 3), 2 more are fitted. A direction is a "
        "weighted sum of columns."
    )
    assert kind.startswith(
        "The label depends on direction 3 together with the other directions, or in a way that one "
        "curve does not show beyond its error."
    )
    alone = made()
    alone = replace(alone, directions=(alone.directions[2],))
    assert "The label depends on direction 3" not in answer(alone)[3]
    assert "The label depends on direction 1 together with other columns, or" in answer(alone)[3]
    two = answer(replace(alone, classes=("no", "yes")))[3]
    assert two.startswith("The share of class 'yes' depends on direction 1")


def places(picture: str, kind: str) -> np.ndarray:
    """All points of a line or band."""
    [path] = re.findall(rf'class="{kind} s0" d="M([^"Z]*)', picture)
    return np.array([[float(v) for v in pair.split(",")] for pair in path.split("L")])


@pytest.mark.parametrize("far", [1.3, 50.0])
def test_every_row_has_a_disc_and_nothing_is_beyond_the_axes(far: float) -> None:
    """The curve reaches from -2 to 2, rows from -1 to 1 but for one of them."""
    record = made()
    u = np.append(np.linspace(-1.0, 1.0, 299), far)
    drawn = replace(direction(AT**3, 1.0, True), coordinate=u)
    record = replace(record, outputs=u[:, None] / far, directions=(drawn,))
    picture = label_picture(record, drawn, 1)
    discs = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="2.4"', picture)
    assert len(discs) == 300
    inside = Axes((0.0, 1.0), (0.0, 1.0), "", "", "")
    left, right, bottom, top = inside._across(0), inside._across(1), inside._up(0), inside._up(1)
    for kind in ("line", "band"):
        x, y = places(picture, kind).T
        assert left <= x.min() + 0.1
        assert x.max() <= right + 0.1
        assert top <= y.min() + 0.1
        assert y.max() <= bottom + 0.1
    assert places(picture, "line")[0, 0] == pytest.approx(left, abs=0.1)
    words = shown_rows(record, drawn)[1]
    edge = "held-out rows, 1 of them far away and drawn at the edge"
    assert words == ("held-out rows" if far < 2 else edge)


def test_many_rows_are_thinned_and_the_caption_says_so() -> None:
    record = replace(made(), rows=2_000)
    some = replace(direction(AT, 1.0, True), coordinate=np.linspace(-1.0, 1.0, 2_000))
    rows, words = shown_rows(record, some)
    assert len(rows) == 667
    assert words == "one of every 3 held-out rows"


def test_what_is_rounded_to_none_is_neither_better_nor_left() -> None:
    here = Compared("giant steps", interval(0.999, 0.0001), None)
    for gain, said in ((0.004, None), (0.006, "linear")):
        peer = best_peer((here, Compared("linear", interval(0.999, 0.0001), interval(gain, 1e-4))))
        assert (None if peer is None else peer.name) == said
    assert Left(interval(0.006, 0.001)).sentence.startswith("Something is left")
    assert Left(interval(0.004, 0.001)).sentence.startswith("Next to nothing is left")
    assert Left(interval(0.0, 0.001)).sentence.startswith("Nothing is left")


def test_a_fit_that_predicts_the_mean_is_said_to() -> None:
    nothing = made(score=interval(0.0, 0.0))
    assert answer(nothing)[0] == (
        "Nothing in these columns predicts 'y' reliably: the fit predicts its mean in every row, "
        "which explains 0 % of its variance."
    )
    assert nothing.models[0].explains == "0 %, it predicts the mean"
    little = made(score=interval(0.0, 0.01))
    assert "explains 0 % (-2.0 % to 2.0 %) of its variance" in answer(little)[0]


def test_zero_has_no_minus() -> None:
    assert [rounded(-0.001), rounded(-0.0), rounded(-0.006)] == ["0.00", "0.00", "-0.01"]
    assert rounded(-0.001, "+") == "+0.00"
    assert interval(-0.001, 0.0).plain == "0.00 (0.00 to 0.00)"


def test_colours_of_the_plane_are_explained() -> None:
    u = np.linspace(-1.0, 1.0, 300)
    record = replace(made(), directions=(replace(direction(AT, 0.1, True), coordinate=u),) * 2)
    numbers = _plane_caption(replace(record, outputs=u[:, None]))
    assert "Blue: y of -0.96 or less. Orange: y of 0.96 or more." in numbers
    two = replace(record, classes=("no", "yes"), outputs=np.column_stack([u < 0, u >= 0]))
    assert "Blue: class 'no'. Orange: class 'yes'." in _plane_caption(two)


def test_strips_have_a_scale() -> None:
    picture = strips([("a", 0.5, 0.4, 0.6), ("b", -0.3, -0.35, -0.25)], "t")
    numbers = [float(text) for text in re.findall(r">(-?[\d.]+)</text>", picture)]
    assert 0.0 in numbers
    assert numbers == sorted(numbers)
    assert len(numbers) >= 3
    [lowest] = re.findall(r"M([\d.]+),11.0H", picture.split("<b>-0.30")[1])
    assert 0.0 < float(lowest) < 40.0
