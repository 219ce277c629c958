"""What the samples of a step do to every row alike: rows in plain NumPy, matrices, and errors.

Statistical tolerances are in standard errors over the runs, and each test counts its comparisons.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from giantstep import Setting, predict, simulate
from giantstep.prediction.labels import outside_of
from giantstep.prediction.wide import row_law
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.prediction.wide.gradient import (
    GradientMatrix,
    generic_blocks,
    gradient_matrix,
    nodes_of,
)
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.neurons import neuron_types
from giantstep.prediction.wide.quantities import noise_of_steps
from giantstep.prediction.wide.step import LearnedStep, learned_step
from giantstep.records.trajectory import Trajectory

ONE: dict[str, Any] = {
    "steps": 1,
    "output_scale": "1",
    "residual": "labels",
    "start": "sphere",
    "readout_start": "alternating",
}
# Sums over samples: their rounding is far below what another draw changes.
SINGLE = np.float32
BENT = Setting("sin(x1)", activation="tanh", d=150, n=300, p=400, step_size=4.0, **ONE)
MIXED = Setting(
    "2*tanh(x1 + x1*x2)", activation="softplus", d=150, n=600, p=400, step_size=3, **ONE
)


def rows_after(setting: Setting, seed: int) -> tuple[Any, Any, Any, Any]:
    """One step in plain NumPy from rows on the sphere: start, rows, unit beta, signs of a."""
    rng = np.random.default_rng(seed)
    start = rng.standard_normal((setting.p, setting.d))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    signs = np.where(np.arange(setting.p) % 2 == 0, 1.0, -1.0)
    x = rng.standard_normal((setting.n, setting.d))
    y = setting.target([x[:, k] for k in range(setting.target.r)])
    single = x.astype(SINGLE)
    slopes = setting.activation.derivative(single @ start.T.astype(SINGLE))
    gradient = (slopes * y[:, None].astype(SINGLE)).T @ single
    rows = start + setting.step_size[0] / setting.n * signs[:, None] * gradient
    beta = x.T @ y
    return start, rows, beta / np.linalg.norm(beta), signs


def special_frame(setting: Setting, step: LearnedStep, v: Any) -> Any:
    """v and the label's directions outside it, in the order and with the signs of the theory."""
    frame = [v]
    for row in outside_of(step.overlap):
        e = np.zeros(setting.d)
        e[: setting.target.r] = row
        for known in frame:
            e -= known * (known @ e)
        frame.append(e / np.linalg.norm(e))
    return np.array(frame)


def of_the_positive(field: Any) -> Any:
    """A field of the two types of ``alternating`` at a > 0, which come in increasing order."""
    return field[..., 1, 0]


@pytest.mark.parametrize("setting", [BENT, MIXED], ids=["bent", "mixed"])
def test_rows_along_special_directions(setting: Setting) -> None:
    """d times the second moments of rows with a > 0 along v and e, 24 runs, 4 standard errors.

    Six comparisons for two directions outside v, three for one.  They are not those of
    independent noise, which add as much along every direction.
    """
    step = learned_step(setting)
    matrix = gradient_matrix(setting, step)
    types = neuron_types(setting)
    parts = np.concatenate([types.drift[None, ..., 0], types.sideways])[: matrix.special]
    expected = of_the_positive(parts) @ of_the_positive(parts).T
    runs = []
    for seed in range(24):
        _, rows, v, signs = rows_after(setting, seed)
        along = rows[signs > 0] @ special_frame(setting, step, v).T
        along[:, 0] -= np.mean(along[:, 0])
        runs.append(setting.d * along.T @ along / len(along))
    error = np.std(runs, axis=0, ddof=1) / math.sqrt(len(runs))
    upper = np.triu_indices(len(expected))
    assert np.all(np.abs(np.mean(runs, axis=0) - expected)[upper] < 4 * error[upper])
    even = (1.0 + step.noise_square / setting.p) * np.eye(len(expected))
    assert np.any(np.abs(np.mean(runs, axis=0) - even)[upper] > 8 * error[upper])


@pytest.mark.parametrize("setting", [BENT, MIXED], ids=["bent", "mixed"])
def test_rows_stretch_with_their_own_part(setting: Setting) -> None:
    """Square length outside v against g = <w, v> over rows with a > 0: slope and rest of 24 runs.

    Slope 2 length_slope a within 4 standard errors, variance of the rest, of which that of the
    noise is rough, also within 15 %; two comparisons.  No slope is rejected for tanh, whose
    E sigma''' is not zero, and no variance for both.
    """
    types = neuron_types(setting)
    stretch = of_the_positive(types.stretch)
    found = []
    for seed in range(24):
        start, rows, v, signs = rows_after(setting, seed)
        square = np.sum(rows**2, axis=1) - (rows @ v) ** 2
        g, square = (start @ v)[signs > 0], square[signs > 0]
        slope, level = np.polyfit(g, square, 1)
        found.append((slope, setting.d * np.var(square - slope * g - level)))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / math.sqrt(len(found))
    assert abs(mean[0] - stretch[0]) < 4 * error[0]
    assert abs(mean[1] - stretch[-1] ** 2) < 4 * error[1] + 0.15 * stretch[-1] ** 2
    assert mean[1] > 8 * error[1]
    if setting is BENT:
        assert abs(mean[0]) > 8 * error[0]


def test_law_of_the_matrix() -> None:
    """Traces of S and X^T diag(r^2) X/(n R2) at d = 400: formulas, nodes and 12 matrices.

    With mu_k = E r^k/R2^(k/2): six traces within 4 standard errors and 2/d, what free cumulants
    leave out.  A semicircle beside an even spread is rejected.
    """
    setting = Setting("x1 + tanh(x1)^2", activation="relu", d=400, n=600, p=400, step_size=1, **ONE)
    matrix = gradient_matrix(setting, learned_step(setting))
    s, y, w = matrix.values, matrix.squares, matrix.shares

    def traces(first: Any, second: Any, mean: Callable[[Any], float]) -> Any:
        squared = first @ first if first.ndim == 2 else first**2
        product = (lambda a, b: a @ b) if first.ndim == 2 else (lambda a, b: a * b)
        pairs = ((first, first), (squared, first), (squared, squared))
        mixed = ((first, second), (second, second), (squared, second))
        return np.array([mean(product(a, b)) for a, b in (*pairs, *mixed)])

    found = traces(s, y, lambda values: float(w @ values))
    runs = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((setting.n, setting.d))
        r = setting.target([x[:, 0]])
        square = np.mean(r**2)
        first = (x.T * r) @ x / setting.n - np.mean(r) * np.eye(setting.d)
        first /= math.sqrt(setting.d / setting.n * square)
        second = (x.T * r**2) @ x / setting.n / square
        runs.append(traces(first, second, lambda values: float(np.trace(values)) / setting.d))
    error = np.std(runs, axis=0, ddof=1) / math.sqrt(len(runs))
    gap = np.abs(np.mean(runs, axis=0) - found)
    assert np.all(gap < 4 * error + 2 / setting.d * found)
    semicircle = np.array([1.0, 0.0, 2.0, 0.0, 1.0, 1.0])
    assert np.all(np.abs(np.mean(runs, axis=0) - semicircle)[1:] > 8 * error[1:])


@pytest.mark.parametrize(("third", "fourth", "delta"), [(0.0, 1.0, 1.0), (0.4, 3.0, 0.3)])
def test_nodes_have_the_free_moments(third: float, fourth: float, delta: float) -> None:
    """E s^k, E s y, E s^2 y and E y^2 by mixed free cumulants delta^(j/2 - 1) mu_j, to 1e-12."""
    s, y, w = nodes_of(third, fourth, delta)
    root = math.sqrt(delta)
    assert np.all(y > 0)
    assert np.allclose([w @ s, w @ s**2, w @ s**3], [0.0, 1.0, root * third], atol=1e-12)
    assert math.isclose(w @ s**4, 2.0 + delta * fourth, rel_tol=1e-12)
    assert np.allclose([w @ y, w @ (s * y)], [1.0, root * third], atol=1e-12)
    assert math.isclose(w @ (s**2 * y), 1.0 + delta * fourth, rel_tol=1e-12)
    assert math.isclose(w @ y**2, 1.0 + delta * fourth, rel_tol=1e-12)


# Errors and edges, with wrong variants beside them.

Change = Callable[[GradientMatrix, LearnedStep], GradientMatrix]


def each_row_alone(matrix: GradientMatrix, step: LearnedStep) -> GradientMatrix:
    """As much noise, drawn for each row on its own and even in all directions."""
    size, all_of_it = len(matrix.on_special), 1.0 / (1.0 - step.linear_share**2)
    return dataclasses.replace(
        matrix,
        on_special=np.zeros((size, size)),
        squares_on_special=all_of_it * np.eye(size),
        values=np.zeros(1),
        squares=np.full(1, all_of_it),
        shares=np.ones(1),
    )


def no_second_order(matrix: GradientMatrix, _: LearnedStep) -> GradientMatrix:
    """The label's part E[y (z z^T - 1)] left out."""
    changed = matrix.on_special.copy()
    changed[: matrix.special, : matrix.special] = 0.0
    return dataclasses.replace(matrix, on_special=changed)


def change_the_matrix(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    def changed(setting: Setting, step: LearnedStep, *others: Any) -> GradientMatrix:
        return change(gradient_matrix(setting, step, *others), step)

    monkeypatch.setattr(row_law, "gradient_matrix", changed)


READ = {"test_n": 4000, "seed": 5}
LOUD = Setting(
    "sign(x1)", activation="gelu", d=200, n=300, p=400, step_size=2.5, readout_n=500, ridge=0.1,
    **ONE | READ,
)  # fmt: skip
CASES: dict[str, tuple[Setting, Change]] = {
    "each row alone": (LOUD, each_row_alone),
    "pairs, each row alone": (
        LOUD.vary(start="symmetric", readout_start="signs", readout_n=1000, ridge=0.01),
        each_row_alone,
    ),
    "no second-order part": (
        MIXED.vary(d=200, n=2000, p=800, step_size=6.0, readout_n=1000, ridge=0.05, **READ),
        no_second_order,
    ),
}


def ridge_errors(setting: Setting, seed: int) -> tuple[float, float]:
    """Train and test error of the readout on fresh samples, in plain NumPy."""
    if setting.start == "symmetric":
        start, rows, _, _ = rows_after(setting.vary(p=setting.p // 2, start="sphere"), seed)
        rows = np.concatenate([rows, 2.0 * start - rows])
    else:
        _, rows, _, _ = rows_after(setting, seed)
    rng = np.random.default_rng((setting.seed, seed))

    def samples(count: int) -> tuple[Any, Any]:
        x = rng.standard_normal((count, setting.d))
        y = setting.target([x[:, k] for k in range(setting.target.r)])
        return setting.activation(x.astype(SINGLE) @ rows.T.astype(SINGLE)), y

    phi, y = samples(setting.readout_n)
    gram = phi.T @ phi / len(y) + setting.ridge[0] * np.eye(setting.p)
    a = np.linalg.solve(gram, phi.T @ y / len(y))
    train = float(np.mean((y - phi @ a) ** 2))
    phi, y = samples(setting.test_n)
    return train, float(np.mean((y - phi @ a) ** 2))


def gaps_of(setting: Setting, runs: int) -> Callable[[], Any]:
    """Theory less the mean of the runs, in standard errors: train and test error."""
    measured = np.array([ridge_errors(setting, seed) for seed in range(runs)])
    error = measured.std(axis=0, ddof=1) / math.sqrt(runs)

    def gaps() -> Any:
        found = losses(setting)
        return (np.array([found.train, found.test]) - measured.mean(axis=0)) / error

    return gaps


@pytest.mark.law(sentinel="each row alone")
@pytest.mark.parametrize("case", CASES)
def test_errors_against_simulation(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train and test error of 24 runs within 3.5 standard errors, two comparisons a case.

    The variant named by the case is off by more than 4 in at least one of them.
    """
    setting, change = CASES[case]
    gaps = gaps_of(setting, 24)
    assert np.all(np.abs(gaps()) < 3.5)
    change_the_matrix(monkeypatch, change)
    assert np.any(np.abs(gaps()) > 4)


@pytest.mark.slow
def test_noise_of_few_samples_longer_than_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with five times their square length of noise from n = 0.75 d samples: 24 runs.

    The network's own output hides the label, which is in a direction that no row learns.  Train and
    test error within 3.5 standard errors and 4/d.  With X^T diag(r^2) X by its mean on that
    direction, and by two values elsewhere, the test error is 10 % lower.
    """
    setting = Setting("x1", activation="tanh", d=200, n=150, p=400, **ONE | READ | {"ridge": 0.1})
    setting = setting.vary(residual="full", readout_n=800, step_size=0.5, runs=24)
    noise, simulated = noise_of_steps(setting), simulate(setting)
    assert noise is not None
    assert 4.0 < noise < 6.0

    def gaps(prediction: Trajectory) -> Any:
        parts = []
        for name in ("train_error", "test_error"):
            expected = np.mean(getattr(prediction, name)[:, 1])
            runs = getattr(simulated, name)[:, 1] / expected - 1.0
            parts.append(runs.mean() / (runs.std(ddof=1) / math.sqrt(24) + 4 / (3.5 * 200)))
        return np.abs(parts)

    assert np.all(gaps(predict(setting, theory="linear-width")) < 3.5)

    def by_its_mean(matrix: GradientMatrix, _: LearnedStep) -> GradientMatrix:
        first = slice(matrix.special)
        values, squares, shares = nodes_of(0.0, 3.0, setting.d / setting.n)
        return dataclasses.replace(
            matrix,
            on_special=matrix.on_special[first, first],
            squares_on_special=matrix.squares_on_special[first, first],
            covariance=matrix.covariance[first, first],
            values=values,
            squares=squares,
            shares=shares,
        )

    change_the_matrix(monkeypatch, by_its_mean)
    assert gaps(predict(setting, theory="linear-width"))[1] > 4.0


@pytest.mark.parametrize("mean", [0.0, 0.5])
def test_blocks_of_a_direction_the_label_does_not_see(mean: float) -> None:
    """S and Y on e, S e, S^2 e and Y e by free cumulants and in 6 matrices: 4 standard errors, 5/d.

    Residuals are even on (-1, 1) beside their ``mean``, which makes r^3 count.  By its variance
    alone, Y would lead from e to no part along S^2 e, and would be 1 there.
    """
    d, delta, key = 500, 0.6, np.random.default_rng(3)

    def residuals(count: int) -> Any:
        return key.uniform(-1.0, 1.0, count) + mean

    many = residuals(10**6)
    square = np.mean(many**2)
    powers = tuple(float(np.mean(many**k) / square ** (0.5 * k)) for k in range(7))
    found, n = [], round(d / delta)
    for _ in range(6):
        r, x = residuals(n) / math.sqrt(square), key.standard_normal((n, d))
        s = ((x.T * r) @ x / n - np.mean(r) * np.eye(d)) / math.sqrt(delta)
        y = (x.T * r**2) @ x / n
        words = [np.eye(d), s, s @ s, y]
        basis = np.linalg.qr(np.stack([each.ravel() for each in words], axis=1))[0]
        basis *= np.sign([float(each.ravel() @ v) for each, v in zip(words, basis.T, strict=True)])
        units = basis.T.reshape(4, d, d)
        found.append([[[np.sum(a * (m @ b)) for b in units] for a in units] for m in (s, y)])
    error = np.std(found, axis=0, ddof=1) / math.sqrt(6)
    expected = np.array(generic_blocks(powers, delta))
    scale = np.max(np.abs(expected), axis=(1, 2))[:, None, None]
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 4 * error + 5 / d * scale)
    # Y by its variance alone
    alone = np.array([0.0, 1.0])
    measured, deviation = np.mean(found, axis=0)[1, [0, 2], 2], error[1, [0, 2], 2]
    assert np.all(np.abs(measured - alone) > 8 * deviation)


@pytest.mark.slow
def test_third_derivative_of_the_activation(monkeypatch: pytest.MonkeyPatch) -> None:
    """tanh on sin(x1) at a step of 3 sqrt(p): errors of 32 runs within 3.5 standard errors.

    Two comparisons; without the factor 1 + length_slope a g of the rows one is off by more than 5.
    """
    setting = BENT.vary(
        d=200, n=4000, p=400, step_size=3.0, readout_n=800, ridge=0.01, test_n=4000, seed=5
    )
    gaps = gaps_of(setting, 32)
    assert np.all(np.abs(gaps()) < 3.5)

    def without(*arguments: Any, **named: Any) -> LearnedStep:
        return dataclasses.replace(learned_step(*arguments, **named), length_slope=0.0)

    monkeypatch.setattr(row_law, "learned_step", without)
    assert np.any(np.abs(gaps()) > 5)


def test_edge_of_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Largest value of the bulk of 6 runs within 3.5 % of the edge: fluctuations n^(-2/3) = 1.6 %.

    Rows whose noise is their own have an edge more than 10 % lower.
    """
    setting = LOUD
    tops = []
    for seed in range(6):
        _, rows, _, _ = rows_after(setting, seed)
        x = np.random.default_rng(100 + seed).standard_normal((setting.readout_n, setting.d))
        values = np.linalg.svd(setting.activation(x @ rows.T), compute_uv=False)
        tops.append(values[2] / math.sqrt(setting.readout_n))
    found = feature_outliers(setting)
    assert len(found.values) == 2
    assert np.mean(tops) == pytest.approx(found.edge, rel=0.035)
    change_the_matrix(monkeypatch, each_row_alone)
    assert np.mean(tops) > 1.1 * feature_outliers(setting).edge


@pytest.mark.law
@pytest.mark.parametrize("share", [0.24, 0.85])
def test_heavy_labels_give_no_outlier_that_no_batch_has(share: float) -> None:
    """E[r^4 x1^2] of a cubic label is made by samples that one batch in thousands has."""
    setting = Setting.linear_width(
        "x1 + He2(x1)/1.4142 + He3(x1)/2.449",
        activation="gelu",
        d=400,
        n="2d",
        p="1.5d",
        step_size=f"{share}*giant",
        runs=4,
    )
    predicted, simulated = predict(setting), simulate(setting)
    assert not predicted.notes
    assert predicted.features is not None
    assert simulated.features is not None
    places = np.nanmean(predicted.features.outliers[:, -1], axis=0)
    measured = simulated.features.singular_values[:, -1, : len(places)].mean(axis=0)
    assert len(places) == 2
    assert predicted.features.count[:, -1].tolist() == [2.0] * 4
    assert measured == pytest.approx(places, rel=0.15)
