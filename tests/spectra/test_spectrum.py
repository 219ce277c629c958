"""Bulk laws: closed forms, moments, singular values of sampled matrices, and wrong laws rejected.

Eigenvalues repel: the number of them below a point fluctuates by sqrt(2 log n)/pi (about 1.1 at the
sizes here), so that the distance between the counting functions of sample and law is tested against
6 eigenvalues, 5 of these standard deviations with room for the maximum over all points.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from giantstep import InputError, Setting, make_activation
from giantstep.errors import NotConvergedError
from giantstep.prediction.wide.bulk import bulk_profile
from giantstep.simulation.stepped import stepped_runs
from giantstep.spectra.bulk import Bulk
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.start import feature_bulk, weight_bulk

EIGENVALUES = 6.0


def counting_distance(values: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> float:
    """Largest difference between the number of values below a point and the predicted number."""
    ordered = np.sort(values)
    middle = (np.arange(len(ordered)) + 0.5) / len(ordered)
    return len(ordered) * float(np.max(np.abs(cdf(ordered) - middle)))


def rows(key: np.random.Generator, p: int, d: int) -> np.ndarray:
    w = key.standard_normal((p, d))
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def features(key: np.random.Generator, name: str, n: int, d: int, p: int) -> np.ndarray:
    activation = make_activation(name)
    phi = np.asarray(activation(key.standard_normal((n, d)) @ rows(key, p, d).T))
    phi = phi - phi.mean(axis=0)
    return (phi - phi.mean(axis=1, keepdims=True)) / math.sqrt(n)


# -- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "d"), [(50, 200), (200, 200), (300, 200)])
def test_weights_follow_marchenko_and_pastur(p: int, d: int) -> None:
    bulk, c = weight_bulk(p, d, "gaussian"), p / d
    low, high = (1 - math.sqrt(c)) ** 2, (1 + math.sqrt(c)) ** 2
    assert bulk.edges == (pytest.approx((math.sqrt(low), math.sqrt(high)), rel=1e-9, abs=1e-7),)
    x = np.linspace(low, high, 41)[1:-1]
    density = np.sqrt((high - x) * (x - low)) / (2 * np.pi * x)
    np.testing.assert_allclose(bulk.eigenvalue_density(x), density, rtol=1e-9)
    assert bulk.zero_mass == max(0.0, 1.0 - c)
    # Johnstone's scale, and Ma's shift: n and p less one half each.
    edge = bulk.upper
    scale = (math.sqrt(d) + math.sqrt(p)) * (1 / math.sqrt(d) + 1 / math.sqrt(p)) ** (1 / 3) / d
    shift = -(math.sqrt(d) + math.sqrt(p)) * (1 / math.sqrt(d) + 1 / math.sqrt(p)) / (2 * d)
    assert edge.scale == pytest.approx(scale, rel=1e-9)
    assert edge.shift == pytest.approx(shift, rel=1e-9)


def test_moments_and_transform_of_a_law_of_atoms() -> None:
    """E x = sum c s, E x^2 = sum c s^2 + (sum c s)^2; m(z) integrates 1/(x - z)."""
    bulk = Bulk(np.array([0.3, 1.0, 7.0]), np.array([0.2, 0.5, 0.2]), 100)
    assert len(bulk.edges) == 2  # the atom at 7 stands apart
    t = np.linspace(0.0, np.pi, 4001)
    total = np.zeros(3)
    z, transform = 2.0 + 0.3j, 0.0j
    for low, high in bulk.ends:
        half = 0.5 * (high.place - low.place)
        x = 0.5 * (high.place + low.place) - half * np.cos(t)
        f = bulk.eigenvalue_density(x) * half * np.sin(t)
        total += [np.trapezoid(f * x**k, t) for k in range(3)]
        transform += np.trapezoid(f / (x - z), t)
    first, second = bulk.masses @ bulk.scales, bulk.masses @ bulk.scales**2
    np.testing.assert_allclose(total, [0.9, first, second + first**2], rtol=1e-6)
    assert bulk.zero_mass == pytest.approx(0.1)
    assert bulk.stieltjes(z) == pytest.approx(complex(transform) - 0.1 / z, abs=1e-6)
    assert bulk.stieltjes(z.conjugate()) == pytest.approx(bulk.stieltjes(z).conjugate())
    # Continuity onto the real line outside the law, in the gap between the two intervals.
    gap = 0.5 * (bulk.ends[0][1].place + bulk.ends[1][0].place)
    assert bulk.stieltjes(complex(gap, 1e-9)) == pytest.approx(bulk.stieltjes(gap), abs=1e-7)
    assert bulk.cdf(np.array([math.sqrt(gap)])) == pytest.approx(0.7 / 0.9, abs=5e-5)


@pytest.mark.parametrize("aspect", [0.25, 4.0])
def test_transform_at_small_and_large_penalties(aspect: float) -> None:
    """Marchenko-Pastur's m(-ridge) from its quadratic equation, to 1e-12."""
    bulk = Bulk(np.array([1.0]), np.array([aspect]), 100)
    for ridge in 10.0 ** np.arange(-14.0, 15.0):
        # ridge m^2 + (ridge + aspect - 1) m - 1 = 0.
        lead = ridge + aspect - 1.0
        root = math.sqrt(lead**2 + 4.0 * ridge)
        expected = 2.0 / (lead + root) if lead > 0 else (root - lead) / (2.0 * ridge)
        assert bulk.m1(float(ridge)) == pytest.approx(expected, rel=1e-12)


def test_feature_law_solves_its_equation_in_closed_form() -> None:
    """1/m = -z + (p/n) E s/(1 + m s), the mean over Marchenko-Pastur's law by its own transform."""
    for n, d, p in [(300, 200, 100), (300, 100, 100), (150, 200, 500), (5000, 200, 100)]:
        bulk = feature_bulk(make_activation("relu"), n, d, p)
        line = weight_bulk(d, p)  # p x p: W W^T up to the factor p/d
        for z in (-0.1, 0.4 + 0.05j):
            m = bulk.stieltjes(z)
            # E 1/(1 + m s), s = linear t + nonlinear, t = (d/p)^-1 times eigenvalues of ``line``
            ratio = p / d
            at = -(1 + m * bulk.nonlinear) / (m * bulk.linear * ratio)
            inverse = line.stieltjes(at) / (m * bulk.linear * ratio)
            assert 1 / m == pytest.approx(-z + p / n * (1 - inverse) / m, rel=1e-9)


# -- sampled matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "d"), [(150, 300), (300, 300), (400, 250)])
@pytest.mark.parametrize("start", ["sphere", "gaussian", "symmetric"])
def test_sampled_weights_follow_their_law(p: int, d: int, start: str) -> None:
    key = np.random.default_rng(1)
    w = rows(key, p, d)
    if start == "gaussian":
        w = key.standard_normal((p, d)) / math.sqrt(d)
    if start == "symmetric":
        w[p // 2 :] = w[: p // 2]
    values = np.linalg.svd(w, compute_uv=False)
    values = values[values > 1e-9]
    assert counting_distance(values, weight_bulk(p, d, start).cdf) < EIGENVALUES
    wrong = weight_bulk(p, d, "sphere" if start == "symmetric" else "symmetric")
    assert counting_distance(values, wrong.cdf) > 3 * EIGENVALUES


@pytest.mark.parametrize("name", ["relu", "tanh", "He1 + He2/4"])
@pytest.mark.parametrize(("n", "d", "p"), [(400, 200, 120), (300, 300, 300), (250, 200, 450)])
def test_sampled_features_follow_their_law(name: str, n: int, d: int, p: int) -> None:
    values = np.linalg.svd(features(np.random.default_rng(2), name, n, d, p), compute_uv=False)
    values = values[values > 1e-9]
    bulk = feature_bulk(make_activation(name), n, d, p)
    assert counting_distance(values, bulk.cdf) < EIGENVALUES
    # Features taken as noise without a linear part, and with as many inputs as would make them so.
    wrong = feature_bulk(make_activation(name), n, 8 * d, p)
    assert counting_distance(values, wrong.cdf) > 1.5 * EIGENVALUES


def test_symmetric_features_double_their_neurons() -> None:
    n, d, p, name = 300, 200, 300, "relu"
    half = features(np.random.default_rng(3), name, n, d, p // 2)
    values = np.linalg.svd(np.concatenate([half, half], axis=1), compute_uv=False)
    values = values[values > 1e-9]
    bulk = feature_bulk(make_activation(name), n, d, p, "symmetric")
    assert counting_distance(values, bulk.cdf) < EIGENVALUES
    wrong = feature_bulk(make_activation(name), n, d, p, "sphere")
    assert counting_distance(values, wrong.cdf) > 3 * EIGENVALUES


def test_resolvent_traces_of_features() -> None:
    """m1 and m2 within 4 standard errors over 12 runs (bias of order 1/n: 1e-3 beside them)."""
    n, d, p, ridge = 300, 150, 225, 0.1
    found = []
    for run in range(12):
        key = np.random.default_rng([4, run])
        w, x = rows(key, p, d), key.standard_normal((n, d))
        phi = np.tanh(x @ w.T) / math.sqrt(n)
        inverse = np.linalg.inv(phi @ phi.T + ridge * np.eye(n))
        found.append([np.trace(inverse) / n, np.sum(x * (inverse @ x)) / (n * d)])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / math.sqrt(12)
    bulk = feature_bulk(make_activation("tanh"), n, d, p)
    predicted = np.array([bulk.m1(ridge), bulk.m2(ridge)])
    assert np.all(np.abs(mean - predicted) < 4 * error + 3e-3 * predicted)
    # The directions of the inputs are not those of noise.
    assert abs(mean[1] - bulk.m1(ridge)) > 20 * error[1]


# -- profiles of variances ------------------------------------------------------------------------


def test_profile_of_rows_is_a_population() -> None:
    p, d = 120, 80
    scales = np.sort(1.0 + np.random.default_rng(5).random(p))
    law = Bulk(scales, np.full(p, 1 / d), d, breaks=())
    profile = ProfileBulk(scales[:, None], np.ones((d, 1)))
    assert profile.upper.place == pytest.approx(law.upper.place, rel=1e-6)
    assert profile.upper.scale == pytest.approx(law.upper.scale, rel=1e-3)
    assert profile.edges[0][0] == pytest.approx(law.edges[0][0], rel=2e-3)
    x = np.linspace(0.6, 2.4, 7)
    np.testing.assert_allclose(profile.density(x), law.density(x), rtol=1e-3)
    _, residual = profile.solve(x + 0.01j)
    assert residual.max() < 1e-11


def test_profile_of_rows_and_columns_against_samples() -> None:
    """The largest eigenvalue of 150 Gaussian matrices: edge + scale TW_1 within 4 standard errors.

    The mean lies 1.2 scales below the edge, and a shift of order 1/n of up to .3 scales is allowed.
    """
    key = np.random.default_rng(6)
    p, d = 150, 100
    a = np.column_stack([np.ones(p), 3.0 * key.random(p)])
    b = np.column_stack([np.ones(d), 2.0 * key.random(d)])
    bulk, root = ProfileBulk(a, b), np.sqrt(a @ b.T / d)
    tops = [np.linalg.norm(root * key.standard_normal((p, d)), 2) ** 2 for _ in range(150)]
    units = (np.array(tops) - bulk.upper.place) / bulk.upper.scale
    error = units.std(ddof=1) / math.sqrt(150)
    assert abs(units.mean() + 1.2065) < 4 * error + 0.3
    assert 0.8 < units.std(ddof=1) / 1.268 < 1.25  # 4 standard errors of a standard deviation
    # Columns taken as equal: the edge is missed by many scales.
    flat = ProfileBulk((a @ b.mean(axis=0))[:, None], np.ones((d, 1))).upper
    assert abs((np.mean(tops) - flat.place) / flat.scale + 1.2065) > 2.0


@pytest.mark.parametrize("start", ["sphere", "symmetric"])
def test_weights_after_a_giant_step(start: str) -> None:
    """All singular values but the spike follow the profile; the bulk of the start does not."""
    setting = Setting(
        "tanh(2*x1)",
        activation="relu",
        d=200,
        n=400,
        p=240,
        steps=1,
        step_size="3*n^0.4",
        output_scale="1",
        start=start,
        readout_start="gaussian",
        residual="labels",
    )
    [step] = stepped_runs(setting)
    values = np.linalg.svd(step.weights, compute_uv=False)
    bulk = ProfileBulk(*bulk_profile(setting).factors(setting.p, setting.d))
    assert values[0] > 2 * bulk.edges[0][1]  # the spike
    grid = np.linspace(0.0, bulk.edges[0][1], 161)[1:]
    density = bulk.density(grid)
    below = np.cumsum(density) * (grid[1] - grid[0])
    assert below[-1] == pytest.approx(1.0, abs=0.01)

    def cdf(v: np.ndarray) -> np.ndarray:
        return np.interp(v, grid, below)

    assert counting_distance(values[1:], cdf) < EIGENVALUES
    before = weight_bulk(setting.p, setting.d, start)
    assert counting_distance(values[1:], before.cdf) > 2 * EIGENVALUES


def test_a_profile_with_terms_of_either_sign_against_samples() -> None:
    """(kept + noise k)^2 + noise^2 s, the largest eigenvalue of 100 matrices as in the test above.

    Without the middle term 2 kept noise k the edge lies more than two scales too low.
    """
    key = np.random.default_rng(7)
    p, d = 150, 100
    noise = 0.3 * key.uniform(-1.0, 2.0, p)
    k = key.uniform(-1.5, 2.0, d)  # no few columns alone make the edge
    a = np.column_stack([np.ones(p), 2.0 * noise, noise**2])
    b = np.column_stack([np.ones(d), k, k**2 + 0.2])
    bulk, root = ProfileBulk(a, b), np.sqrt(a @ b.T / d)
    tops = [np.linalg.norm(root * key.standard_normal((p, d)), 2) ** 2 for _ in range(100)]
    units = (np.array(tops) - bulk.upper.place) / bulk.upper.scale
    assert abs(units.mean() + 1.2065) < 4 * units.std(ddof=1) / 10 + 0.3
    assert 0.75 < units.std(ddof=1) / 1.268 < 1.3  # 4 standard errors of a standard deviation
    without = ProfileBulk(a[:, [0, 2]], b[:, [0, 2]]).upper
    assert (np.mean(tops) - without.place) / without.scale + 1.2065 > 2.0
    with pytest.raises(InputError, match="variances of entries must not be negative"):
        ProfileBulk(a[:, :2], 10.0 * b[:, :2])


def test_what_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number comes of equations left unsolved: neither density, edge nor transform."""
    profile = ProfileBulk(np.ones((20, 1)), np.ones((30, 1)))
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(NotConvergedError, match="did not converge, residual nan"),
    ):
        weight_bulk(20, 30).stieltjes(complex(math.nan, 1.0))
    with monkeypatch.context() as patch:
        patch.setattr(ProfileBulk, "_improve", lambda self, z, state: (state, np.ones(len(z))))
        with pytest.raises(NotConvergedError, match="did not converge, residual 1"):
            profile.density(np.array([1.0]))
    monkeypatch.setattr(ProfileBulk, "_least", lambda self, z: None)
    with pytest.raises(NotConvergedError, match="no solution of the profile equations"):
        ProfileBulk(profile.rows, profile.columns).density(np.array([1.0]))


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="p must be even for the symmetric start, got 3"):
        weight_bulk(3, 10, "symmetric")
    with pytest.raises(InputError, match="d must be at least 2, got 1"):
        weight_bulk(3, 1)
    with pytest.raises(
        InputError, match="start must be one of symmetric, sphere, gaussian for a bulk"
    ):
        weight_bulk(4, 10, "orthogonal")
    with pytest.raises(InputError, match="ridge must be positive, got -1"):
        weight_bulk(4, 10).m1(-1.0)
    with pytest.raises(InputError, match="z must lie outside the bulk, got 1"):
        weight_bulk(4, 10).stieltjes(1.0)
    with pytest.raises(InputError, match="scales must be positive"):
        Bulk(np.array([0.0]), np.array([1.0]), 10)
    with pytest.raises(InputError, match="masses must be positive"):
        replace(weight_bulk(4, 10), masses=np.array([-1.0]))
