"""Ridge on given weights: against a plain reference, closed forms, and dense simulation."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep import make_activation, make_target
from giantstep.errors import InputError, NotConvergedError
from giantstep.prediction.given_weights import curve as equivalence
from giantstep.prediction.given_weights.curve import learning_curve, solve
from giantstep.prediction.given_weights.directions import bulk_edge, learned_directions
from giantstep.prediction.given_weights.family import make_family


def giant_step(rng, p, d, n, activation, target, size, steps=1, noise=0.3):
    """Rows on the sphere, a ~ N(0, 1/p), then steps of the full gradient on fresh batches."""
    weights = rng.standard_normal((p, d))
    weights /= np.linalg.norm(weights, axis=1)[:, None]
    readout = rng.standard_normal(p) / math.sqrt(p)
    for _ in range(steps):
        x, y = draw(rng, n, d, target, noise)
        h = x @ weights.T
        residual = y - activation(h) @ readout / math.sqrt(p)
        slope = activation.derivative(h) * readout * residual[:, None]
        weights = weights + size * math.sqrt(p) / n * slope.T @ x
    return weights, np.eye(d)[: target.r]


def draw(rng, n, d, target, noise):
    x = rng.standard_normal((n, d))
    y = np.asarray(target([x[:, k] for k in range(target.r)]))
    return x, y + noise * rng.standard_normal(n)


def dense_ridge(rng, weights, activation, target, ridge, n, batches, noise=0.3, fresh=1000):
    """Mean and standard error of train and test error over fresh batches, the same weights."""
    p, d = weights.shape
    found = []
    for _ in range(batches):
        x, y = draw(rng, n + fresh, d, target, noise)
        phi = activation(x @ weights.T)
        gram = phi[:n].T @ phi[:n] / n + ridge * np.eye(p)
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


@pytest.mark.parametrize(("name", "labels", "ratio"), CASES)
def test_dense_simulation(name, labels, ratio):
    """Both errors at n/d = 0.3 .. 4, through the peak at n = p, 40 batches with the same weights.

    10 comparisons a case, 60 in all, each within 4 standard errors.  Plain Gaussian equivalence
    (k = 0), features without mu*, and a label without its part outside kappa are rejected.
    """
    activation, target = make_activation(name), make_target(labels)
    rng, d, p, ridge = np.random.default_rng(3), 100, 120, 0.01
    weights, frame = giant_step(rng, p, d, int(ratio * d), activation, target, 3.0)
    sizes = [int(0.3 * d), int(0.7 * d), p, 2 * d, 4 * d]
    dense = [dense_ridge(rng, weights, activation, target, ridge, n, 40) for n in sizes]
    mean, error = np.array(dense).transpose(1, 2, 0)

    def deviation(family):
        points = [solve(family, ridge, n) for n in sizes]
        errors = np.array([[point.train, point.test] for point in points]).T
        return float(np.max(np.abs(errors - mean) / error))

    directions = learned_directions(weights, 1)
    family = make_family(weights, frame, directions, activation, target, 0.3)
    assert deviation(family) < 4
    plain = make_family(weights, frame, frame[:0], activation, target, 0.3)
    blind = replace(family.labels, slope=0.0 * family.labels.slope)
    bare = replace(family, rest=1e-6 * family.rest)
    for wrong in (plain, bare, replace(family, labels=blind)):
        assert deviation(wrong) > 4


@pytest.mark.parametrize(("name", "labels"), [("relu", "x1 + x1*x2"), ("tanh", "x1 + He2(x1)/1.4")])
def test_dense_simulation_after_two_steps(name, labels):
    """Two steps, every direction outside the bulk and the target's own: 6 comparisons a case.

    Within 4 standard errors over 40 batches; k = 0 is rejected.
    """
    activation, target = make_activation(name), make_target(labels)
    rng, d, p, ridge = np.random.default_rng(1), 100, 100, 0.1
    weights, frame = giant_step(rng, p, d, 3 * d, activation, target, 3.0, steps=2)
    sizes = [d // 2, d, 3 * d]
    dense = [dense_ridge(rng, weights, activation, target, ridge, n, 40) for n in sizes]
    mean, error = np.array(dense).transpose(1, 2, 0)
    directions = learned_directions(weights, target.r + 1, include=frame)
    arguments = (activation, target, 0.3, [ridge], sizes)
    for chosen, right in ((directions, True), (directions[:0], False)):
        curve = learning_curve(weights, frame, chosen, *arguments)
        errors = np.concatenate([curve.train, curve.test])
        assert (np.max(np.abs(errors - mean) / error) < 4) == right


def reference(weights, frame, directions, activation, target, noise, penalty, n, tau=0.0):
    """The same system in plain NumPy: S(kappa) in full, simple iteration, dense response.

    Returns train, test and the minimised objective; 1/(1+V) + tau stands for 1/(1+V).
    """
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

    And the envelope: test = dL/dtau, train = L - penalty dL/dpenalty, to 1e-4 of central
    differences of the reference's objective.
    """
    activation, target = make_activation(name), make_target("x1 + He2(x1)/1.4")
    rng, p, d = np.random.default_rng(0), 24, 20
    weights, frame = giant_step(rng, p, d, 60, activation, target, 0.5)
    directions = learned_directions(weights, k) if k < 2 else learned_directions(weights, 2, frame)
    given = (weights, frame, directions, activation, target, 0.3)
    sizes, ridges = [60, 24, 12], [0.5, 0.02]
    curve = learning_curve(*given, [4 * ridge for ridge in ridges], sizes, 2.0, 16 if k else None)
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
    d, noise, target = 60, 0.5, make_target("x1")
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    ridges, sizes = [1e-3, 0.1, 2.0], [30, 60, 61, 200]
    curve = learning_curve(
        turn, np.eye(d)[:1], np.zeros((0, d)), make_activation("z"), target, noise, ridges, sizes
    )
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
    activation, target = make_activation("relu"), make_target("x1 + He2(x1)/1.4")
    weights, frame = giant_step(np.random.default_rng(0), 60, 50, 100, activation, target, 2.0)
    given = (weights, frame, learned_directions(weights, 1), activation, target, 0.3)
    count, plain = [0], equivalence._inverse

    def counted(matrix):
        count[0] += 1
        return plain(matrix)

    monkeypatch.setattr(equivalence, "_inverse", counted)
    sizes = np.geomspace(15, 300, 20).astype(int).tolist()
    ridges = np.geomspace(1e-5, 1, 20).tolist()
    curves = learning_curve(*given, [0.01], sizes), learning_curve(*given, ridges, [60])
    shared, count[0] = count[0], 0
    alone = [learning_curve(*given, [0.01], [n]) for n in sizes]
    alone += [learning_curve(*given, [ridge], [60]) for ridge in ridges]
    for name in ("train", "test", "objective"):
        together = np.concatenate([getattr(curve, name).ravel() for curve in curves])
        apart = np.concatenate([getattr(curve, name).ravel() for curve in alone])
        np.testing.assert_allclose(together, apart, rtol=1e-5)
    assert shared < 2 / 3 * count[0]


@pytest.mark.parametrize("k", [0, 1, 2])
def test_interpolation_peak(k):
    """At n = p and penalties down to 1e-9 the fixed point is found: a peak, and train error 0."""
    activation, target = make_activation("tanh"), make_target("x1 + x1*x2")
    weights, frame = giant_step(np.random.default_rng(0), 80, 80, 160, activation, target, 2.0)
    directions = learned_directions(weights, k)
    ridges = [1e-9, 1e-7, 1e-5, 1e-3]
    curve = learning_curve(
        weights, frame, directions, activation, target, 0.3, ridges, [40, 80, 160]
    )
    assert np.all(np.diff(curve.test[:, 1]) < 0)
    assert np.all(np.diff(curve.train[:, :2], axis=0) > 0)
    assert np.all(curve.train[0, :2] < 1e-3)
    assert curve.test[0, 1] > 10 * curve.test[0, [0, 2]].max()


def test_failure_is_reported(monkeypatch):
    """An iteration that stops short says how far off it is."""
    activation, target = make_activation("relu"), make_target("x1")
    weights, frame = giant_step(np.random.default_rng(0), 20, 20, 40, activation, target, 2.0)
    monkeypatch.setattr(equivalence, "ITERATIONS", 2)
    with pytest.raises(NotConvergedError, match=r"n = 20 and penalty 0.01: log V is off by \d"):
        learning_curve(weights, frame, frame, activation, target, 0.0, [0.01], [20])


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
        ({"ridges": [0.1, 0.0]}, "ridges must be positive and finite, got"),
        ({"sizes": [0]}, "sizes must be positive, got"),
        ({"sizes": []}, "sizes must be positive, got"),
        ({"noise": -1.0}, "noise must not be negative, got -1.0"),
        ({"output_scale": 0.0}, "output_scale must be positive, got 0.0"),
        ({"frame": np.eye(6)[:2]}, "frame must have r = 1 rows, got 2"),
        ({"frame": 2 * np.eye(6)[:1]}, "frame must have orthonormal rows, got"),
        ({"directions": np.eye(6)[:4]}, "directions must be at most 3, got 4"),
        ({"directions": np.eye(6)[:1]}, "row 0 of weights lies in the span"),
        ({"weights": np.full((5, 6), np.nan)}, "weights must be finite"),
    ],
)
def test_bad_input(change, message):
    """One sentence with the name and the value."""
    given = {
        "weights": np.eye(6)[:5],
        "frame": np.eye(6)[:1],
        "directions": np.zeros((0, 6)),
        "activation": make_activation("relu"),
        "target": make_target("x1"),
        "noise": 0.1,
        "ridges": [0.1],
        "sizes": [10],
        "output_scale": 1.0,
    }
    with pytest.raises(InputError, match=message):
        learning_curve(**(given | change))
    with pytest.raises(InputError, match=r"k must be in 1\.\.6, got 0"):
        learned_directions(np.eye(6)[:5], 0, include=np.eye(6)[:1])
    with pytest.raises(InputError, match="k must be given"):
        learned_directions(np.eye(6), start=np.zeros((6, 6)))
