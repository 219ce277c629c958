"""The overlaps of the best first-order method: closed forms, another quadrature, and its runs."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import Float

from giantstep import InputError, analyze, overlap_curve, plot
from giantstep.cli.main import main


def linear_overlap(ratio: float, variance: float) -> float:
    """q (alpha + 1 - q + s) = alpha for y = z + noise of variance s."""
    b = ratio + 1.0 + variance
    return 0.5 * (b - math.sqrt(b * b - 4.0 * ratio))


@pytest.mark.parametrize("variance", [pytest.param(0.25, marks=pytest.mark.slow), 1.0])
def test_linear_labels_have_a_closed_form(variance: float) -> None:
    """To one percent of the squared cosine; a variance that is off by a tenth is rejected."""
    ratios = [0.4, 1.5, 4.0]
    found = overlap_curve("x1", noise=math.sqrt(variance), ratios=ratios).cosines[:, 0] ** 2
    expected = [linear_overlap(ratio, variance) for ratio in ratios]
    wrong = [linear_overlap(ratio, 1.1 * variance) for ratio in ratios]
    assert found == pytest.approx(expected, rel=0.01)
    assert found != pytest.approx(wrong, rel=0.01)


@pytest.mark.slow
def test_without_noise_a_linear_label_is_known_from_d_samples() -> None:
    found = overlap_curve("x1", ratios=[0.5, 1.5]).cosines[:, 0] ** 2
    assert found == pytest.approx([0.5, 1.0], rel=0.01)


def absolute_value_overlap(ratio: float, q: float, nodes: int = 60) -> float:
    """One update of q for y = |z|: E[z | y, omega] = y tanh(y omega/V), by Gauss-Hermite rules."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    v = 1.0 - q
    omega = math.sqrt(q) * x[:, None]
    y = np.abs(omega + math.sqrt(v) * x)
    gap = y * np.tanh(y * omega / v) - omega
    signal = ratio * float(w @ gap**2 @ w) / v**2
    return signal / (1.0 + signal)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "ratio", [pytest.param(0.7, marks=SLOW), 0.9, pytest.param(1.05, marks=SLOW)]
)
def test_absolute_values_by_another_quadrature(ratio: float) -> None:
    """The fixed point reached from a small q; a ratio that is off by 5 % is rejected."""
    found = float(overlap_curve("abs(x1)", ratios=[ratio]).cosines[0, 0] ** 2)
    overlaps = []
    for alpha in (ratio, 1.05 * ratio):
        q = 1e-3
        for _ in range(400):
            q = absolute_value_overlap(alpha, q)
        overlaps.append(q)
    assert found == pytest.approx(overlaps[0], rel=0.02)
    assert found != pytest.approx(overlaps[1], rel=0.02)


@pytest.mark.slow
def test_phase_retrieval_jumps_to_perfect_recovery() -> None:
    """Message passing knows the direction of |z| from n/d = 1.128 on (Barbier et al. 2019)."""
    before, after = overlap_curve("abs(x1)", ratios=[1.11, 1.15]).cosines[:, 0]
    assert before < 0.9
    assert after > 0.99


def message_passing(
    key: np.random.Generator, d: int, ratio: float, steps: int = 60
) -> Float[np.ndarray, ""]:
    """Squared cosine that approximate message passing reaches for labels |<w*, x>|.

    The estimate starts with a small overlap, as state evolution does.
    """
    n = int(ratio * d)
    truth = key.standard_normal(d)
    x = key.standard_normal((n, d)) / math.sqrt(d)
    y = np.abs(x @ truth)
    squares = x**2
    estimate = 0.2 * truth + math.sqrt(0.2 - 0.04) * key.standard_normal(d)
    variance = np.full(d, 0.8)
    gap = np.zeros(n)
    for _ in range(steps):
        v = squares @ variance
        omega = x @ estimate - v * gap
        tangent = np.tanh(y * omega / v)
        gap = (y * tangent - omega) / v
        slope = (y**2 * (1.0 - tangent**2) / v - 1.0) / v
        sigma = 1.0 / np.maximum(-(squares.T @ slope), 1e-12)
        mean = estimate + sigma * (x.T @ gap)
        estimate, variance = mean / (1.0 + sigma), sigma / (1.0 + sigma)
    overlap = (estimate @ truth) ** 2 / (estimate @ estimate * (truth @ truth))
    return np.asarray(overlap)


@pytest.mark.slow
def test_message_passing_reaches_the_curve() -> None:
    """12 runs at d = 1500; within 4 standard errors of the curve at two ratios.

    Wrong variant: the curve at 1.15 times the ratio is rejected at both.
    """
    for ratio in (0.8, 0.95):
        runs = [message_passing(np.random.default_rng([5, k]), 1500, ratio) for k in range(12)]
        mean, error = float(np.mean(runs)), float(np.std(runs, ddof=1)) / math.sqrt(len(runs))
        here, wrong = overlap_curve("abs(x1)", ratios=[ratio, 1.15 * ratio]).cosines[:, 0] ** 2
        assert abs(mean - here) < 4.0 * error
        assert abs(mean - wrong) > 4.0 * error


@pytest.mark.slow
def test_turned_coordinates_change_nothing() -> None:
    """2 x1 x2 and x1^2 - x2^2 are the same function in turned coordinates."""
    both = [overlap_curve(text, ratios=[1.2]).cosines[0] ** 2 for text in ("x1*x2", "x1^2 - x2^2")]
    assert both[0] == pytest.approx(both[1], rel=0.03)
    assert both[0][0] > 0.3


def test_the_curve_begins_at_the_threshold() -> None:
    analysis = analyze("x1^2")
    found = overlap_curve(analysis)
    assert found.threshold == pytest.approx(0.5, rel=2e-3)
    below = found.ratios < 1.001 * 0.5
    assert below.any()
    assert not found.cosines[below].any()
    assert found.cosines[~below].min() > 0.05
    assert (np.diff(found.cosines[:, 0]) >= 0.0).all()


@pytest.mark.parametrize(
    ("text", "arguments", "piece"),
    [
        ("x1*x2*x3*x4", {}, "at most 3 directions for the overlap curve, got 4"),
        ("sign(x1*x2*x3)", {}, "no overlap at any n/d"),
        ("x1", {"noise": -1.0}, "noise must be at least 0, got -1"),
        ("x1", {"ratios": [0.0]}, "ratios must be positive numbers"),
    ],
)
def test_what_has_no_curve_is_refused(text: str, arguments: dict[str, object], piece: str) -> None:
    with pytest.raises(InputError, match=piece):
        overlap_curve(text, **arguments)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_command_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "overlap.png"
    main(["analyze", "x1^2", "--overlap-curve", str(path), "--json"])
    record = json.loads(capsys.readouterr().out)["overlap_curve"]
    assert len(record["ratios"]) == len(record["cosines"])
    assert path.read_bytes().startswith(b"\x89PNG")
    for name, piece in ((str(path), "--overwrite replaces it"), ("curve.txt", ".png or .pdf")):
        with pytest.raises(SystemExit) as stopped:
            main(["analyze", "x1^2", "--overlap-curve", name])
        assert stopped.value.code == 2
        assert piece in capsys.readouterr().err


@pytest.mark.slow
def test_a_curve_of_two_directions_has_one_line_where_they_are_equal() -> None:
    figure = plot(overlap_curve("x1*x2", ratios=[0.4, 1.2]))
    [axes] = figure.axes
    labels = [line.get_label() for line in axes.lines]
    assert "theory: cosine 1" in labels
    assert "theory: cosine 2" not in labels
