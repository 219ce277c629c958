"""Emergence of many directions: formula, drawn runs and simulation beside each other."""

import numpy as np
import pytest

from giantstep import (
    Emergence,
    InputError,
    NoTheoryError,
    Setting,
    analyze,
    emergence,
    make_target,
    predict,
    separable,
    simulate,
)
from giantstep.gaussian.independent_sums import power_of_sum
from giantstep.prediction.emergence import emergence_law

BASE = Setting(
    "separable(He2, 30, 1)",
    d=800,
    p=50,
    steps=1,
    step_size=1e4,
    start="sphere",
    residual="labels",
    readout_n=0,
    test_n=0,
    runs=12,
    seed=11,
)


@pytest.mark.law(sentinel="relu")
@pytest.mark.parametrize("activation", ["relu", "He1 + He2/2"])
def test_shares_of_a_simulation_are_those_of_theory(activation: str) -> None:
    """Four directions, within 4 standard errors and a tenth of x/(1 + x)^2 for the finite size.

    A law whose samples grow as k^b in place of k^2b is rejected by the same test.
    """
    setting = BASE.vary(activation=activation, n=64_000)
    measured, law = emergence([simulate(setting)]), emergence_law(setting)
    drawn = emergence([predict(setting)])
    chosen = [0, 1, 3, 9]
    slack = 0.1 * law.share * (1.0 - law.share)
    # The predicted runs are as many drawn ones, whose mean is as uncertain.
    both = np.hypot(measured.error[0], drawn.error[0])
    for theory, error in ((law.share, measured.error[0]), (drawn.share[0], both)):
        gap = np.abs(measured.share[0] - theory)
        assert np.all((gap < 4 * error + slack)[chosen])
    wrong = law.share[[0, 1, 1, 2]]  # the shares of k = 1, 2, 2, 3
    assert np.any(
        np.abs(measured.share[0][chosen] - wrong) > 8 * measured.error[0][chosen] + slack[chosen]
    )


@pytest.mark.law
@pytest.mark.parametrize("activation", ["relu", "He2"])
@pytest.mark.parametrize(("p", "r"), [(20, 10), (20, 2), (40, 20)])
@pytest.mark.parametrize("n", ["10d", "40d", "200d"])
def test_shares_are_as_certain_as_the_law_says(activation: str, p: int, r: int, n: str) -> None:
    """Up to 4 standard errors of 16 runs, with up to half as many directions as neurons."""
    target = separable("He2", r, 1.0)
    setting = BASE.vary(target=target, activation=activation, d=200, p=p, n=n, runs=16, seed=902)
    measured, law = emergence([simulate(setting)]), emergence_law(setting)
    gap = np.abs(measured.share[0] - law.share)
    assert np.all(gap < law.uncertainty + 4 * measured.error[0])


@pytest.mark.law
def test_many_directions_are_beyond_what_width_and_samples_leave_out() -> None:
    """The wrong variant: without the terms in 1/p the uncertainty of the law is too small."""
    target = separable("He2", 10, 0.6)
    setting = BASE.vary(target=target, activation="relu", d=200, p=20, n="200d", runs=64, seed=903)
    measured, law = emergence([simulate(setting)]), emergence_law(setting)
    gap = np.abs(measured.share[0] - law.share) - 4 * measured.error[0]
    assert np.all(gap < law.uncertainty)
    wrong = law.share * (1.0 - law.share) * (20 / 200 + 2.5 / 200)
    assert np.any(gap > wrong)


@pytest.mark.law
def test_the_sum_of_a_simulation_has_the_exponent_of_theory() -> None:
    """Within 4 standard errors over runs, at sizes where the limit is rejected."""
    settings = [BASE.vary(activation="He2", n=n) for n in (8000, 24_000, 72_000)]
    measured, error = emergence([simulate(each) for each in settings]).exponent()
    laws = [emergence_law(each).remaining for each in settings]
    expected = np.polyfit(np.log([each.n for each in settings]), np.log(laws), 1)[0]
    assert abs(measured - expected) < 4 * error
    assert abs(measured + 0.5) > 8 * error


def test_the_sum_of_emergence_falls_as_a_power_of_the_samples() -> None:
    """remaining ~ n^-(1 - 1/(2b)) where many directions are learned and many are left."""
    for b, tolerance in ((1.0, 0.06), (1.5, 0.06)):
        setting = BASE.vary(target=separable("He2", 400, b), activation="He2")
        setting = setting.vary(d=10**7, n="10d", p=10**5, step_size=1e12)
        first = emergence_law(setting).needed[0]
        sizes = [int(first * 10 ** (2 * b)), int(first * 30 ** (2 * b))]
        left = [emergence_law(setting.vary(n=n)).remaining for n in sizes]
        slope = np.log(left[1] / left[0]) / np.log(sizes[1] / sizes[0])
        assert slope == pytest.approx(-(1 - 1 / (2 * b)), abs=tolerance)


def test_what_the_law_does_not_cover_is_refused() -> None:
    for change, words in (
        ({"steps": 2}, "steps must be 1"),
        ({"target": "x1*x2"}, "one direction each"),
        ({"target": "x1 + x2"}, "information exponent 2"),
        ({"target": "He3(x1)"}, "information exponent 2"),
        ({"p": 400}, "p must be at most 0.2 d"),
        ({"deflate": 1}, "deflate must be -1 for emergence in one step, got 1"),
        ({"corruption": 0.1}, "corruption must be 0.0 for emergence in one step, got 0.1"),
    ):
        with pytest.raises(NoTheoryError, match=words):
            emergence_law(BASE.vary(n=1000, **change))
    small = BASE.vary(d=60, n=60, p=4, target="He2(x1)", runs=1)
    others = [simulate(small), simulate(small.vary(target="He3(x1)"))]
    with pytest.raises(InputError, match="one target"):
        emergence(others)


def test_a_step_that_learns_nothing_needs_samples_without_end() -> None:
    """Rows at random have the share p/d of every direction, which the closed formula rounds."""
    law = emergence_law(BASE.vary(activation="z", n=20 * BASE.d))
    ratio = BASE.p / BASE.d
    np.testing.assert_allclose(law.share, ratio / (1.0 + ratio))
    assert np.all(np.isinf(law.needed))


def test_needed_samples_lie_between_the_points() -> None:
    """By a line in log n, and from no samples on in n; NaN above from the start, or never."""
    curves = Emergence(
        samples=np.array([0.0, 10.0, 1000.0]),
        share=np.array([[0.1, 0.1, 0.6, 0.0], [0.2, 0.9, 0.7, 0.1], [0.8, 1.0, 0.9, 0.2]]),
        error=np.zeros((3, 4)),
        variance=np.ones(4),
        left=np.array([[1.0, 1.0], [0.5, 0.4], [0.05, 0.01]]),
    )
    np.testing.assert_allclose(curves.needed(), [100.0, 5.0, np.nan, np.nan])
    with pytest.raises(InputError, match="level must be between 0 and 1, got 1"):
        curves.needed(1.0)
    # From 10 to 1000 samples the two runs fall by 10 and by 40.
    slopes = -np.log10([10.0, 40.0]) / 2
    np.testing.assert_allclose(curves.exponents(), slopes)
    assert curves.exponent() == pytest.approx((slopes.mean(), abs(slopes[0] - slopes[1]) / 2))
    with pytest.raises(InputError, match="at least two numbers of samples, got 1 from 0 to 10"):
        curves.exponents((0.0, 10.0))


def test_many_directions_are_typed_and_analysed() -> None:
    target = make_target("separable(He2, 300, 0.7)")
    assert target == separable("He2", 300, 0.7)
    assert target.r == 300
    assert target.series.variance == pytest.approx(2 * np.sum(np.arange(1, 301.0) ** -1.4))
    assert analyze(target).leap_index == 2
    for text, words in (
        ("separable(He2, 0, 1)", "directions of a separable target must be 1 to 2000, got 0"),
        ("separable(He2, 5, -1)", "exponent of a separable target must be 0 to 10, got -1"),
        ("separable(He2, ten, 1)", r"a whole number r .* got 'separable\(He2, ten, 1\)'"),
        ("separable(He2, 5)", r"a number for the exponent.* got 'separable\(He2, 5\)'"),
        ("separable(He2, 5, 1) + x1", "and nothing beside it, got"),
        ("separable(x1, 5, 1)", "link of a separable target: unknown name 'x1'"),
    ):
        with pytest.raises(InputError, match=words):
            make_target(text)
    for links, directions, words in (
        ("He2", True, "directions must be a whole number for one link, got True"),
        ([], None, r"links must be a text or a list of at least one, got \[\]"),
        (["z", lambda z: "a"], None, "link 2 must give numbers, got 'a'"),
    ):
        with pytest.raises(InputError, match=words):
            separable(links, directions)


def test_links_that_would_take_minutes_are_refused_at_once() -> None:
    """The last targets beside them are analysed: a sum of even links, and one of linear ones."""
    with pytest.raises(InputError, match=r"without a linear part to be analyzed, got 110 dir"):
        analyze("separable(z + He2, 110, 1)")
    with pytest.raises(InputError, match=r"more than 100 .* even links to be analyzed, got 110 "):
        analyze("separable(He3, 110, 1)")
    assert analyze("separable(He4, 101, 1)").leap_index == 4
    assert analyze("separable(z, 101, 1)").leap_index == 1


def test_an_odd_link_of_many_directions_has_generative_exponent_one() -> None:
    assert analyze("separable(He3, 70, 1)").generative_exponent == 1
    target = make_target("0.3 + x1 + He3(x1)/2 + He2(x2) - He3(x2) + 0.7*He3(x3)")
    for power in (2, 3):
        full, alone = target.label_power(power), power_of_sum(target.series, power)
        assert full is not None
        exact = dict(zip(map(tuple, full.exponents.tolist()), full.coefficients, strict=True))
        for exponent, value in zip(alone.exponents.tolist(), alone.coefficients, strict=True):
            assert exact.get(tuple(exponent), 0.0) == pytest.approx(value, abs=1e-8)
        assert alone.square == pytest.approx(full.square)


def test_points_may_have_different_numbers_of_runs() -> None:
    """As predictions have that draw runs at some sizes; exponents are those of the first runs."""
    base = Setting("separable(He2, 5, 1)", d=100, p=10, steps=1, readout_n=0, test_n=0)
    points = [simulate(base.vary(n=n, runs=runs)) for n, runs in ((500, 2), (5000, 3), (50_000, 3))]
    curves = emergence(points)
    assert [len(values) for values in curves.left] == [2, 3, 3]
    np.testing.assert_allclose(curves.remaining, [values.mean() for values in curves.left])
    same = emergence([points[0], *(simulate(base.vary(n=n, runs=2)) for n in (5000, 50_000))])
    np.testing.assert_allclose(curves.exponents(), same.exponents())
