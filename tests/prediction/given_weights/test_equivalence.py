"""Ridge on given weights: against a plain reference, closed forms, and dense simulation."""

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from giantstep import Setting
from giantstep.errors import InputError, NotConvergedError, NoTheoryError
from giantstep.prediction.given_weights import curve as learning_curves
from giantstep.prediction.given_weights import fixed_point
from giantstep.prediction.given_weights.curve import learning_curve, solve
from giantstep.prediction.given_weights.directions import bulk_edge, learned_directions
from giantstep.prediction.given_weights.family import make_family

NOISE = 0.3


def network(labels, name, p, d, **fields):
    """A setting whose penalties are those of the system itself: output scale 1."""
    given = {"noise": NOISE, "output_scale": "1", "start": "sphere", "ridge": 0.01} | fields
    return Setting(labels, activation=name, p=p, d=d, **given)


def giant_step(rng, setting, n, size, steps=1):
    """Rows on the sphere, a ~ N(0, 1/p), then steps of the full gradient on fresh batches."""
    p, d, activation = setting.p, setting.d, setting.activation
    weights = rng.standard_normal((p, d))
    weights /= np.linalg.norm(weights, axis=1)[:, None]
    readout = rng.standard_normal(p) / math.sqrt(p)
    for _ in range(steps):
        x, y = draw(rng, n, setting)
        h = x @ weights.T
        residual = y - activation(h) @ readout / math.sqrt(p)
        slope = activation.derivative(h) * readout * residual[:, None]
        weights = weights + size * math.sqrt(p) / n * slope.T @ x
    return weights


def axes(setting):
    return np.eye(setting.d)[: setting.target.r]


def draw(rng, n, setting):
    x = rng.standard_normal((n, setting.d))
    y = np.asarray(setting.target([x[:, k] for k in range(setting.target.r)]))
    return x, y + setting.noise * rng.standard_normal(n)


def dense_ridge(rng, weights, setting, n, batches, fresh=1000):
    """Mean and standard error of train and test error over fresh batches, the same weights."""
    [ridge] = setting.ridge
    found = []
    for _ in range(batches):
        x, y = draw(rng, n + fresh, setting)
        phi = setting.activation(x @ weights.T)
        gram = phi[:n].T @ phi[:n] / n + ridge * np.eye(setting.p)
        readout = np.linalg.solve(gram, phi[:n].T @ y[:n] / n)
        square = (y - phi @ readout) ** 2
        found.append([square[:n].mean(), square[n:].mean()])
    found = np.array(found)
    return found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(batches)


CASES = [
    ("tanh", "x1 + He2(x1)/1.4", 2.0),
    ("tanh", "x1 + x1*x2", 8.0),
    ("relu", "x1 + He2(x1)/1.4", 0.5),
    ("relu", "x1 + x1*x2", 2.0),
    ("erf", "x1 + He2(x1)/1.4", 8.0),
    ("erf", "x1 + x1*x2", 0.5),
]


@pytest.mark.law(sentinel="relu-x1 + x1*x2-2.0")
@pytest.mark.parametrize(("name", "labels", "ratio"), CASES)
def test_dense_simulation(name, labels, ratio):
    """Both errors at n/d = 0.3 .. 4, through the peak at n = p, 40 batches with the same weights.

    10 comparisons a case, 60 in all, each within 4 standard errors.  Plain Gaussian equivalence
    (k = 0), features without mu*, and a label without its part outside kappa are rejected.
    """
    rng, d, p, ridge = np.random.default_rng(3), 100, 120, 0.01
    setting = network(labels, name, p, d, ridge=ridge)
    weights, frame = giant_step(rng, setting, int(ratio * d), 3.0), axes(setting)
    sizes = [int(0.3 * d), int(0.7 * d), p, 2 * d, 4 * d]
    dense = [dense_ridge(rng, weights, setting, n, 40) for n in sizes]
    mean, error = np.array(dense).transpose(1, 2, 0)

    def deviation(family):
        points = [solve(family, ridge, n) for n in sizes]
        errors = np.array([[point.train, point.test] for point in points]).T
        return float(np.max(np.abs(errors - mean) / error))

    directions = learned_directions(weights, 1)
    family = make_family(setting, weights, frame, directions=directions)
    assert deviation(family) < 4
    plain = make_family(setting, weights, frame, directions=frame[:0])
    blind = replace(family.labels, slope=0.0 * family.labels.slope)
    bare = replace(family, noise=1e-6 * family.noise)
    for wrong in (plain, bare, replace(family, labels=blind)):
        assert deviation(wrong) > 4


@pytest.mark.parametrize(("name", "labels"), [("relu", "x1 + x1*x2"), ("tanh", "x1 + He2(x1)/1.4")])
def test_dense_simulation_after_two_steps(name, labels):
    """Two steps, every direction outside the bulk and the target's own: 6 comparisons a case.

    Within 4 standard errors over 40 batches; k = 0 is rejected.
    """
    rng, d = np.random.default_rng(1), 100
    setting = network(labels, name, d, d, ridge=0.1)
    weights = giant_step(rng, setting, 3 * d, 3.0, steps=2)
    sizes = [d // 2, d, 3 * d]
    dense = [dense_ridge(rng, weights, setting, n, 40) for n in sizes]
    mean, error = np.array(dense).transpose(1, 2, 0)
    directions = learned_directions(weights, setting.target.r + 1, include=axes(setting))
    for chosen, right in ((directions, True), (directions[:0], False)):
        curve = learning_curve(setting, weights, directions=chosen, sizes=sizes)
        errors = np.concatenate([curve.train, curve.test])
        assert (np.max(np.abs(errors - mean) / error) < 4) == right


def reference(setting, weights, frame, directions, penalty, n, tau=0.0):
    """The same system in plain NumPy: S(kappa) in full, simple iteration, dense response.

    Returns train, test and the minimised objective; 1/(1+V) + tau stands for 1/(1+V).
    """
    activation, target, noise = setting.activation, setting.target, setting.noise
    x, w = np.polynomial.hermite_e.hermegauss(16)
    k = len(directions)
    w_kappa = np.array([math.prod(part) for part in itertools.product(w / w.sum(), repeat=k)])
    kappa = np.array(list(itertools.product(x, repeat=k))).reshape(len(w_kappa), k)
    z, w_z = np.polynomial.hermite_e.hermegauss(60)
    w_z = w_z / w_z.sum()
    inside = weights @ directions.T
    outside = weights - inside @ directions
    norms = np.linalg.norm(outside, axis=1)
    rest = frame - (frame @ directions.T) @ directions
    covariances, cross, power = [], [], []
    for point in kappa:
        values = activation((inside @ point)[:, None] + norms[:, None] * z)
        mean, slope = values @ w_z, values @ (w_z * z)
        extra = values**2 @ w_z - mean**2 - slope**2
        gram = outside @ outside.T / np.outer(norms, norms)
        covariances.append(np.outer(mean, mean) + np.outer(slope, slope) * gram + np.diag(extra))
        # One target direction: z* = <rest, x> + overlap . kappa, |rest| = length.
        length = np.linalg.norm(rest[0])
        y = target([(frame[0] @ directions.T) @ point + length * z])
        along = outside @ rest[0] / norms / max(length, 1e-300)
        cross.append(mean * (w_z @ y) + slope * along * (w_z @ (y * z)))
        power.append(w_z @ y**2 + noise**2)
    covariances, cross, power = np.array(covariances), np.array(cross), np.array(power)
    variance = np.ones(len(kappa))
    for _ in range(5000):
        omega = 1.0 / (1.0 + variance) + tau
        system = np.tensordot(w_kappa * omega, covariances, 1)
        resolvent = np.linalg.inv(system + penalty * np.eye(len(weights)))
        new = np.einsum("mij,ij->m", covariances, resolvent) / n
        if np.max(np.abs(new / variance - 1)) < 1e-13:
            break
        variance = new
    readout = resolvent @ ((w_kappa * omega) @ cross)
    bias = power - 2 * cross @ readout + np.einsum("mij,i,j->m", covariances, readout, readout)
    turned = covariances @ resolvent
    square = np.einsum("aij,bji->ab", turned, turned) / n
    error = np.linalg.solve(np.eye(len(kappa)) - square * (w_kappa * omega**2), bias)
    objective = (w_kappa * omega) @ bias + penalty * readout @ readout
    return (w_kappa * omega**2) @ error, w_kappa @ error, objective


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("name", ["tanh", "He1 + He2/2 + 1/4"])
def test_plain_reference(k, name):
    """Train, test and objective to 1e-5, above and below n = p; a ridge 1 % off is seen.

    The network has output scale 1/sqrt(p): its penalties are 1/p of the system's.
    And the envelope: test = dL/dtau, train = L - penalty dL/dpenalty, to 1e-4 of central
    differences of the reference's objective.
    """
    p, d, sizes, ridges = 24, 20, [60, 24, 12], [0.5, 0.02]
    scaled = {"output_scale": "1/sqrt(p)", "ridge": [ridge / p for ridge in ridges]}
    setting = network("x1 + He2(x1)/1.4", name, p, d, **scaled)
    weights = giant_step(np.random.default_rng(0), setting, 60, 0.5)
    # Another frame than the axes, which the labels behind the weights did not have.
    frame = np.eye(d)[:1] * 0.8 + np.eye(d)[3:4] * 0.6
    directions = learned_directions(weights, k) if k < 2 else learned_directions(weights, 2, frame)
    given = (setting, weights, frame, directions)
    curve = learning_curve(
        setting,
        weights,
        directions=directions,
        frame=frame,
        sizes=sizes,
        nodes=16 if k else None,
    )
    for i, ridge in enumerate(ridges):
        for j, n in enumerate(sizes):
            expected = reference(*given, ridge, n)
            found = curve.train[i, j], curve.test[i, j], curve.objective[i, j]
            assert found == pytest.approx(expected, rel=1e-5)
            off = reference(*given, 1.01 * ridge, n)
            assert found != pytest.approx(off, rel=1e-5)
    step = 1e-5
    up, down = (reference(*given, 0.02, 24, s * step)[2] for s in (1, -1))
    assert curve.test[1, 1] == pytest.approx((up - down) / (2 * step), rel=1e-4)
    up, down = (reference(*given, 0.02 * (1 + s * step), 24)[2] for s in (1, -1))
    train = curve.objective[1, 1] - (up - down) / (2 * step)
    assert curve.train[1, 1] == pytest.approx(train, rel=1e-4)


def test_linear_features():
    """Orthogonal rows and a linear neuron are plain ridge regression on d = p isotropic inputs.

    With the Marchenko-Pastur transform m(-penalty), ratio g = d/n and signal |beta|^2 = 1:
    test = noise^2 + penalty^2 m' + noise^2 g (m - penalty m').
    """
    d, noise = 60, 0.5
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    ridges, sizes = [1e-3, 0.1, 2.0], [30, 60, 61, 200]
    setting = network("x1", "z", d, d, noise=noise, ridge=ridges)
    curve = learning_curve(setting, turn, directions=np.zeros((0, d)), sizes=sizes)
    for i, ridge in enumerate(ridges):
        for j, n in enumerate(sizes):
            g, h = d / n, 1e-5 * ridge

            def transform(penalty, g=g):
                lead = 1 - g + penalty
                return (-lead + math.sqrt(lead**2 + 4 * g * penalty)) / (2 * g * penalty)

            m = transform(ridge)
            slope = (transform(ridge - h) - transform(ridge + h)) / (2 * h)
            test = noise**2 * (1 + g * (m - ridge * slope)) + ridge**2 * slope
            assert curve.test[i, j] == pytest.approx(test, rel=1e-5)


def test_curve_shares_its_work(monkeypatch):
    """20 sizes, 20 penalties: as separate points, for two thirds of the factorisations."""
    setting = network("x1 + He2(x1)/1.4", "relu", 60, 50)
    weights = giant_step(np.random.default_rng(0), setting, 100, 2.0)
    directions = learned_directions(weights, 1)
    count, plain = [0], fixed_point.inverse

    def counted(matrix):
        count[0] += 1
        return plain(matrix)

    def curve(ridges, sizes):
        varied = setting.vary(ridge=ridges)
        return learning_curve(varied, weights, directions=directions, sizes=sizes)

    monkeypatch.setattr(fixed_point, "inverse", counted)
    sizes = np.geomspace(15, 300, 20).astype(int).tolist()
    ridges = np.geomspace(1e-5, 1, 20).tolist()
    curves = curve([0.01], sizes), curve(ridges, [60])
    shared, count[0] = count[0], 0
    alone = [curve([0.01], [n]) for n in sizes]
    alone += [curve([ridge], [60]) for ridge in ridges]
    for name in ("train", "test", "objective"):
        together = np.concatenate([getattr(found, name).ravel() for found in curves])
        apart = np.concatenate([getattr(found, name).ravel() for found in alone])
        np.testing.assert_allclose(together, apart, rtol=1e-5)
    assert shared < 2 / 3 * count[0]


@pytest.mark.parametrize("k", [0, 1, 2])
def test_interpolation_peak(k):
    """At n = p and penalties down to 1e-9 the fixed point is found: a peak, and train error 0."""
    setting = network("x1 + x1*x2", "tanh", 80, 80, ridge=[1e-9, 1e-7, 1e-5, 1e-3])
    weights = giant_step(np.random.default_rng(0), setting, 160, 2.0)
    directions = learned_directions(weights, k)
    curve = learning_curve(setting, weights, directions=directions, sizes=[40, 80, 160])
    assert np.all(np.diff(curve.test[:, 1]) < 0)
    assert np.all(np.diff(curve.train[:, :2], axis=0) > 0)
    assert np.all(curve.train[0, :2] < 1e-3)
    assert curve.test[0, 1] > 10 * curve.test[0, [0, 2]].max()


def test_failure_is_reported(monkeypatch):
    """An iteration that stops short says how far off it is."""
    setting = network("x1", "relu", 20, 20, noise=0.0, readout_n=20)
    weights = giant_step(np.random.default_rng(0), setting, 40, 2.0)
    short = partial(fixed_point.fixed_point, iterations=2)
    monkeypatch.setattr(learning_curves, "fixed_point", short)
    with pytest.raises(NotConvergedError, match=r"n = 20 and penalty 0.01: log V is off by \d"):
        learning_curve(setting, weights, directions=axes(setting))


def test_learned_directions():
    """Planted directions are found, and none in noise, whatever the norms of the rows."""
    rng, p, d = np.random.default_rng(0), 300, 200
    norms = np.sqrt(rng.uniform(0.5, 2.0, p))
    noise = norms[:, None] * rng.standard_normal((p, d)) / math.sqrt(d)
    top = np.linalg.svd(noise, compute_uv=False)[0]
    # Fluctuations of the largest singular value are of relative order d^(-2/3) = 3 %.
    assert bulk_edge(norms**2, d) == pytest.approx(top, rel=0.03)
    assert bulk_edge(np.ones(p), d) == pytest.approx(1 + math.sqrt(p / d), rel=1e-4)
    assert learned_directions(noise).shape == (0, d)
    planted = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    spiked = noise + rng.standard_normal((p, 2)) @ planted
    found = learned_directions(spiked)
    assert len(found) == 2
    assert np.linalg.norm(found @ planted.T) ** 2 > 1.8
    joined = learned_directions(spiked, include=planted[:1])
    assert len(joined) == 2
    np.testing.assert_allclose(joined @ joined.T, np.eye(2), atol=1e-12)
    assert abs(joined[0] @ planted[0]) == pytest.approx(1.0)
    moved = learned_directions(spiked, 2, start=noise)
    assert np.linalg.norm(moved @ planted.T) ** 2 == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": [0]}, "sizes must be positive, got"),
        ({"sizes": []}, "sizes must be positive, got"),
        ({"frame": np.eye(6)[:2]}, "frame must have r = 1 rows, got 2"),
        ({"frame": 2 * np.eye(6)[:1]}, "frame must have orthonormal rows, got"),
        ({"directions": np.eye(6)[:4]}, "directions must be at most 3, got 4"),
        ({"directions": np.eye(6)[:1]}, "row 0 of weights lies in the span"),
        ({"weights": np.full((5, 6), np.nan)}, "weights must be finite"),
        ({"weights": np.eye(6)}, "weights must be p x d = 5 x 6, got 6 x 6"),
    ],
)
def test_bad_input(change, message):
    """One sentence with the name and the value."""
    given = {"weights": np.eye(6)[:5], "directions": np.zeros((0, 6)), "sizes": [10]}
    with pytest.raises(InputError, match=message):
        learning_curve(network("x1", "relu", 5, 6), **(given | change))
    with pytest.raises(InputError, match=r"k must be in 1\.\.6, got 0"):
        learned_directions(np.eye(6)[:5], 0, include=np.eye(6)[:1])
    with pytest.raises(InputError, match="k must be given"):
        learned_directions(np.eye(6), start=np.zeros((6, 6)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ridge": "cv"}, "ridge must be a number or several for a learning curve, got 'cv'"),
        ({"inputs": "rademacher"}, "inputs must be gaussian .* got 'rademacher'"),
        ({"deflate": 1}, "deflate must be -1 .* got 1"),
        ({"noise": 0.0, "corruption": 0.2}, "corruption must be 0.0 .* got 0.2"),
        ({"readout_batch": "last"}, "readout_batch must be fresh .* got 'last'"),
    ],
)
def test_settings_without_a_curve(change, message):
    with pytest.raises(NoTheoryError, match=message):
        learning_curve(network("x1", "relu", 5, 6, **change), np.eye(6)[:5])


def test_a_setting_without_a_readout_needs_sizes():
    setting = network("x1", "relu", 5, 6, readout_n=0, test_n=0)
    with pytest.raises(InputError, match=r"sizes must be positive, got \[0\]"):
        learning_curve(setting, np.eye(6)[:5])


def test_what_is_not_given_follows_the_setting():
    """Sizes are readout_n, the frame the axes, the directions those outside the bulk of W."""
    setting = network("x1 + x1*x2", "relu", 80, 60, readout_n=90, ridge=[0.3, 0.01])
    weights = giant_step(np.random.default_rng(0), setting, 300, 6.0)
    directions = learned_directions(weights)
    assert len(directions) > 0
    found = learning_curve(setting, weights)
    asked = learning_curve(
        setting, weights, directions=directions, frame=np.eye(60)[:2], sizes=[90]
    )
    np.testing.assert_array_equal(found.ridges, [0.3, 0.01])
    np.testing.assert_array_equal(found.sizes, [90])
    np.testing.assert_allclose(found.test, asked.test, rtol=1e-12)
    other = learning_curve(setting, weights, directions=directions[:0])
    assert np.all(np.abs(other.test / found.test - 1.0) > 1e-3)
