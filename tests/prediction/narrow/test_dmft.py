"""Reused batches: the effective process against the response form of dynamical mean-field theory.

The reference, written here and nowhere else, is the textbook form with response functions.  The
rows follow, coordinate by coordinate, with u Gaussian of covariance E[c_t c_s^T]/alpha in all,

    w^{t+1} = w^t + eta (Mh^t w* + sum_{k<=t} Gamma(t,k) w^k + u^t),     R(t,s) = dw^t/du^s,

and a sample sees lambda^t = om^t + (1/alpha) sum_{s<t} R(t,s) c_s with (z*, om^0, ..., om^T)
jointly Gaussian, of the covariances I, M^t and Q(t,s) of the rows.  [Mh^t, Gamma(t,.)] are the
coefficients of c_t regressed on (z*, om^0, ..., om^t), which by Stein's lemma are the expected
derivatives, the mass of ReLU's kink counted.

Both sides are quadratures with standard errors from 32 independent scrambles each.  Overlaps, the
upper triangle of the Gram matrix and the error of the network after every step are compared: 215
numbers in all, at 5 joint standard errors each.  With 31 degrees of freedom, the fewest the joint
error can have, that is level 2.2e-5 a comparison and at most 4.7e-3 over all of them (Bonferroni).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.special import ndtri
from scipy.stats import t as student
from scipy.stats.qmc import Sobol

from giantstep.gaussian.coordinates import Known
from giantstep.prediction.narrow.paths import means_on_points
from giantstep.prediction.narrow.state import typical_start
from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

REPLICATES = 32
LOG2_POINTS = 13
BOUND = 5.0
COMPARISONS = 215

Function = Callable[[np.ndarray], np.ndarray]
# sigma and its derivative; f of the columns of z.  None of it is the package's.
ACTIVATIONS: dict[str, tuple[Function, Function]] = {
    "tanh": (np.tanh, lambda z: 1.0 / np.cosh(z) ** 2),
    "relu": (lambda z: np.maximum(z, 0.0), lambda z: (z > 0.0).astype(float)),
}
TARGETS: dict[str, tuple[int, Function]] = {
    "x1 + He2(x1)/2": (1, lambda z: z[:, 0] + (z[:, 0] ** 2 - 1.0) / 2.0),
    "tanh(x1 + He3(x2))": (2, lambda z: np.tanh(z[:, 0] + z[:, 1] ** 3 - 3.0 * z[:, 1])),
}
BASE: dict[str, Any] = {
    "output_scale": "1/sqrt(p)",
    "start": "orthogonal",
    "readout_start": "alternating",
    "batches": "reused",
    "readout_n": 0,
    "test_n": 0,
}


@dataclass(frozen=True)
class Case:
    """A setting of the comparison; the limit is that of n, d -> infinity at alpha = n/d."""

    target: str
    activation: str
    p: int
    alpha: float
    steps: int
    step_size: float

    @property
    def r(self) -> int:
        return TARGETS[self.target][0]

    @property
    def readout(self) -> np.ndarray:
        """s_p a, the signs alternating."""
        return (-1.0) ** np.arange(self.p) / math.sqrt(self.p)

    def labels(self, z: np.ndarray) -> np.ndarray:
        return TARGETS[self.target][1](z)

    def gradient(self, labels: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """c(x) = (y - s_p a.sigma(lambda)) s_p a sigma'(lambda), one row a sample."""
        sigma, slope = ACTIVATIONS[self.activation]
        residual = labels - sigma(lam) @ self.readout
        return residual[:, None] * self.readout * slope(lam)

    def setting(self, d: int = 10**7) -> Setting:
        return Setting(
            self.target,
            activation=self.activation,
            d=d,
            n=round(self.alpha * d),
            p=self.p,
            steps=self.steps,
            step_size=self.step_size,
            **BASE,
        )


CASES = {
    "tanh": Case("x1 + He2(x1)/2", "tanh", p=2, alpha=2.0, steps=5, step_size=1.0),
    "tanh-scarce": Case("tanh(x1 + He3(x2))", "tanh", p=2, alpha=0.5, steps=4, step_size=0.8),
    "tanh-three": Case("tanh(x1 + He3(x2))", "tanh", p=3, alpha=3.0, steps=3, step_size=1.5),
    "relu": Case("tanh(x1 + He3(x2))", "relu", p=2, alpha=3.0, steps=5, step_size=0.6),
    "relu-scarce": Case("x1 + He2(x1)/2", "relu", p=2, alpha=0.5, steps=4, step_size=0.4),
    "relu-three": Case("x1 + He2(x1)/2", "relu", p=3, alpha=2.0, steps=5, step_size=0.5),
}


def response_form(
    case: Case, points: np.ndarray, *, redrawn: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """M^t (T+1, p, r) and Q(t, t) (T+1, p, p), expectations taken as means over the points.

    ``redrawn`` is wrong on purpose: om^t is drawn anew at each step, correlated with z* only.
    """
    p, r, steps, eta = case.p, case.r, case.steps, case.step_size
    overlap = np.zeros((steps + 1, p, r))
    gram = np.zeros((steps + 1, steps + 1, p, p))
    response = np.zeros((steps + 1, steps + 1, p, p))
    gram[0, 0] = np.eye(p)
    z = points[:, :r]
    labels = case.labels(z)
    gradients: list[np.ndarray] = []
    for t in range(steps):
        past = range(t + 1)
        rows = np.concatenate(overlap[: t + 1])
        joint = np.block([[gram[j, k] for k in past] for j in past])
        if redrawn:
            own = block_diag(*(gram[k, k] - overlap[k] @ overlap[k].T for k in past))
            joint = rows @ rows.T + own
        # Cholesky factors of growing covariances extend one another: om^0, ..., om^{t-1} stay.
        root = np.linalg.cholesky(np.block([[np.eye(r), rows.T], [rows, joint]]))
        fields = points[:, : len(root)] @ root.T
        lam = fields[:, r + p * t :].copy()
        for s in range(t):
            lam += gradients[s] @ response[t, s].T / case.alpha
        gradient = case.gradient(labels, lam)
        gradients.append(gradient)
        noise = [gradient.T @ c / len(points) / case.alpha for c in gradients]
        slopes = np.linalg.solve(fields.T @ fields, fields.T @ gradient).T
        drift = slopes[:, :r]
        memory = [slopes[:, r + p * k : r + p * (k + 1)] for k in past]
        overlap[t + 1] = overlap[t] + eta * (drift + sum(memory[k] @ overlap[k] for k in past))
        for s in past:
            fed = sum(memory[k] @ response[k, s] for k in range(s + 1, t + 1))
            response[t + 1, s] = response[t, s] + eta * (fed + (np.eye(p) if s == t else 0.0))
        # E[u^t (w^q)^T] = sum_{s<q} E[u^t (u^s)^T] R(q,s)^T; q = t + 1 last, for it needs the rest.
        for q in range(t + 2):
            pull = drift @ overlap[q].T + sum(memory[k] @ gram[k, q] for k in past)
            pull = pull + sum(noise[s] @ response[q, s].T for s in range(q))
            gram[t + 1, q] = gram[t, q] + eta * pull
            gram[q, t + 1] = gram[t + 1, q].T
    return overlap, gram[np.arange(steps + 1), np.arange(steps + 1)]


def upper(overlap: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """Overlaps and upper triangles of the Gram matrices after steps 1..T, side by side."""
    steps, p, r = overlap.shape
    rows, columns = np.triu_indices(p)
    sides = [overlap.reshape(steps, p * r), gram[:, rows, columns]]
    return np.concatenate(sides, axis=1)[1:]


def network_errors(
    case: Case, overlap: np.ndarray, gram: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """E (y - s_p a.sigma(lambda))^2 on fresh samples after steps 1..T, in a last column."""
    labels, found = case.labels(points[:, : case.r]), []
    for m, q in zip(overlap[1:], gram[1:], strict=True):
        root = np.linalg.cholesky(np.block([[np.eye(case.r), m.T], [m, q]]))[case.r :]
        lam = points[:, : case.r + case.p] @ root.T
        output = ACTIVATIONS[case.activation][0](lam) @ case.readout
        found.append(np.mean((labels - output) ** 2))
    return np.array(found)[:, None]


@cache
def reference(case: Case, *, redrawn: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The response form on independent scrambles: mean and standard error of all observables."""
    found = []
    for replicate in range(REPLICATES):
        rng = np.random.default_rng([20240, replicate])
        uniform = Sobol(case.r + case.p * case.steps, rng=rng).random_base2(LOG2_POINTS)
        points = ndtri(np.clip(uniform, 1e-10, 1.0 - 1e-10))
        rows = response_form(case, points, redrawn=redrawn)
        found.append(np.hstack([upper(*rows), network_errors(case, *rows, points)]))
    return np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / math.sqrt(REPLICATES)


@cache
def predicted(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The package's prediction of a case and its standard error, computed once."""
    case = CASES[name]
    found = predict(case.setting(), log2_points=LOG2_POINTS, scrambles=REPLICATES, deviations=False)
    assert found.readout is not None
    assert found.overlap_uncertainty is not None
    assert found.gram_uncertainty is not None
    assert found.network_error is not None
    assert found.network_error_uncertainty is not None
    np.testing.assert_allclose(found.readout[0] / math.sqrt(case.p), case.readout)
    doubt = upper(found.overlap_uncertainty[0], found.gram_uncertainty[0])
    return (
        np.hstack([upper(found.overlap[0], found.gram[0]), found.network_error[0, 1:, None]]),
        np.hstack([doubt, found.network_error_uncertainty[0, 1:, None]]),
    )


def deviations(name: str, *, redrawn: bool = False) -> np.ndarray:
    """Prediction minus reference in joint standard errors."""
    (theirs, doubt), (ours, error) = predicted(name), reference(CASES[name], redrawn=redrawn)
    # The first step depends on no more than a few coordinates and may have next to no error.
    return (theirs - ours) / np.maximum(np.hypot(doubt, error), 1e-6)


def test_level() -> None:
    """The counts and levels the module states."""
    count = sum(c.steps * (c.p * c.r + c.p * (c.p + 1) // 2 + 1) for c in CASES.values())
    assert count == COMPARISONS
    assert 2 * count * student.sf(BOUND, REPLICATES - 1) < 5e-3


@pytest.mark.slow(sentinel="tanh")
@pytest.mark.parametrize("name", CASES)
def test_prediction_is_the_response_form(name: str) -> None:
    assert np.max(np.abs(deviations(name))) < BOUND


@pytest.mark.slow(sentinel="tanh")
@pytest.mark.parametrize("name", CASES)
def test_fields_redrawn_at_each_step_are_rejected(name: str) -> None:
    """From the second step on; the first knows no past and still agrees."""
    found = np.abs(deviations(name, redrawn=True))
    assert np.max(found[0]) < BOUND
    assert np.max(found[1:]) > 2 * BOUND


def descended(case: Case, d: int, seed: int) -> np.ndarray:
    """Plain gradient descent on one batch; the first coordinates are the target's, then W's."""
    n, eye = round(case.alpha * d), np.eye(case.r + case.p, d)
    x = np.random.default_rng([seed, d]).standard_normal((n, d))
    labels, rows = case.labels(x[:, : case.r]), [eye[case.r :]]
    for _ in range(case.steps):
        gradient = case.gradient(labels, x @ rows[-1].T)
        rows.append(rows[-1] + case.step_size / n * (gradient.T @ x))
    return upper(np.stack(rows)[:, :, : case.r], np.stack([w @ w.T for w in rows]))


@pytest.mark.parametrize("name", ["tanh-scarce", "relu-scarce"])
def test_response_form_is_plain_gradient_descent(name: str) -> None:
    """The reference itself at d = 1000: 24 runs, 48 comparisons at 5 standard errors.

    Level 4.7e-5 each with 23 degrees of freedom, 2.3e-3 in all; the redrawn fields are rejected.
    """
    case, runs = CASES[name], 24
    found = np.stack([descended(case, 1000, seed) for seed in range(runs)])
    error = found.std(axis=0, ddof=1) / math.sqrt(runs)
    right, doubt = (side[:, :-1] for side in reference(case))
    wrong = reference(case, redrawn=True)[0][:, :-1]
    assert np.max(np.abs(found.mean(axis=0) - right) / np.hypot(error, doubt)) < BOUND
    assert np.max(np.abs(found.mean(axis=0) - wrong) / np.hypot(error, doubt)) > 2 * BOUND


PUBLISHED_OVERLAPS = np.array(
    [
        [0.0759, -0.0633],
        [0.1242, -0.1029],
        [0.1565, -0.1289],
        [0.1804, -0.1477],
        [0.1992, -0.1623],
        [0.2149, -0.1743],
    ]
)
PUBLISHED_HALF_ERRORS = np.array([0.4198, 0.3853, 0.3677, 0.3581, 0.3528, 0.3499])
PUBLISHED = Case("tanh(x1 + He3(x2))", "relu", p=2, alpha=3.0, steps=6, step_size=0.6)


def test_published_limit() -> None:
    """w <- w + (0.2/d) sum c x at alpha = 3: overlaps of neuron 1, half the error of the network.

    18 numbers within 1e-3, at least 4 standard errors.  The numbers printed are themselves good to
    2e-4 only: with 2^22 points prediction and response form agree with each other within 3 standard
    errors of 1e-4 or less, and both are off by that much.  Fresh batches are off by up to 0.07.
    """
    found = predict(PUBLISHED.setting(), scrambles=16, log2_points=16, deviations=False)
    assert found.network_error is not None
    assert found.overlap_uncertainty is not None
    assert 4 * np.max(found.overlap_uncertainty) < 1e-3
    assert np.max(np.abs(found.overlap[0, 1:, 0] - PUBLISHED_OVERLAPS)) < 1e-3
    assert np.max(np.abs(found.network_error[0, 1:] / 2 - PUBLISHED_HALF_ERRORS)) < 1e-3
    fresh = predict(PUBLISHED.setting().vary(batches="fresh"), scrambles=2, deviations=False)
    assert np.max(np.abs(fresh.overlap[0, 1:, 0] - PUBLISHED_OVERLAPS)) > 0.05


@pytest.mark.slow
def test_simulation_at_finite_dimension() -> None:
    """The deferred engine at d = 20000, six steps, 40 runs; level 1e-3 over all comparisons.

    Fresh batches are rejected.  Their first step has the same law, what follows has not.
    """
    setting = PUBLISHED.setting(20_000).vary(runs=40, seed=5)
    simulated = simulate(setting)
    assert simulated.engine == "deferred"
    assert compare(predict(setting), simulated).agrees
    wrong = predict(setting.vary(batches="fresh"), scrambles=2, deviations=False)
    fresh = compare(wrong, simulated, ignoring=["batches"])
    assert not fresh.agrees
    assert np.max(np.abs(fresh.deviations["overlap"][:2])) < 5
    assert np.max(np.abs(fresh.deviations["overlap"][2:])) > 15


def test_few_paths_have_the_lengths_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squared lengths of 24 rows after two steps: 8 times 2^10 paths against 2^13, within 1 %.

    Their standard error is 0.4 %.  With the noise along known directions left in, 1/N times their
    number, they are 2.4 % too long.
    """
    setting = Setting(
        "sign(x1*x2)",
        activation="erf",
        d=1000,
        n="5d",
        p=24,
        steps=2,
        step_size=1500.0,
        batches="reused",
        start="sphere",
        readout_start="alternating",
        readout_n=0,
        test_n=0,
    )
    start = typical_start(setting)

    def lengths(log2_points: int, scrambles: int) -> float:
        found = [
            np.trace(means_on_points(setting, [start], seed, log2_points)[0].gram[2])
            for seed in range(scrambles)
        ]
        return float(np.mean(found))

    many, few = lengths(13, 2), lengths(10, 8)
    assert few == pytest.approx(many, rel=0.01)
    reveal, noisy = Known.reveal, math.sqrt(2**10 * setting.d / setting.n)

    def whole(known: Known, c: np.ndarray, _: Any, normals: Any) -> Known:
        return reveal(known, c, lambda k: noisy * np.eye(k), normals)

    monkeypatch.setattr(Known, "reveal", whole)
    assert lengths(10, 8) > 1.015 * many
