"""Outliers of the weights after two giant steps: against plain simulations and closed forms.

The reference simulation is dense NumPy, written here.  Statistical comparisons are of means over
independent runs, at 4 standard errors each; with 11 degrees of freedom, the fewest used, that is
level 2.1e-3 a comparison.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep.errors import InputError, NoTheoryError
from giantstep.gaussian.moments import feature_moments
from giantstep.prediction.limits import first_complaint
from giantstep.prediction.predict import predict
from giantstep.prediction.wide import batch as two_step_batch
from giantstep.prediction.wide import slopes as two_step_slopes
from giantstep.prediction.wide import update as two_step_update
from giantstep.prediction.wide.alignment import second_alignment
from giantstep.prediction.wide.bulk import bulk_profile
from giantstep.prediction.wide.limits import ALIGNMENT
from giantstep.prediction.wide.network import Network, ReadoutStatistics
from giantstep.prediction.wide.outlier_count import (
    finite_phase_diagram,
    orders,
    outlier_count,
    phase_diagram,
    with_exponents,
)
from giantstep.prediction.wide.update import update_after
from giantstep.prediction.wide.weight_outliers import outliers_of, weight_outliers
from giantstep.problem.activation import make_activation
from giantstep.problem.setting import Setting

BOUND = 4.0

PHI = {t: 0.5 * math.erfc(-t / math.sqrt(2.0)) for t in (-2.0, -1.5, 1.0)}
DENSITY = {t: math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi) for t in (1.5, 2.0)}
# exp(min(z, 2)) + e^2 max(z - 2, 0) is centred by
# E[e^z 1{z < 2}] = e^(1/2) Phi(1); E[e^2 1{z > 2}] = e^2 Phi(-2); E (z-2)_+ = phi(2) - 2 Phi(-2).
CLIPPED_MEAN = math.exp(0.5) * PHI[1.0] + math.exp(2.0) * (
    PHI[-2.0] + DENSITY[2.0] - 2.0 * PHI[-2.0]
)
CLIPPED = f"exp(2 - relu(2 - z)) + exp(2)*relu(z - 2) - {CLIPPED_MEAN}"
RELU = f"relu(z) - {1.0 / math.sqrt(2.0 * math.pi)}"
QUADRATIC = "x1 + He2(x1)/1.4"

# 1{z > 1.5} less its Hermite degrees up to 1 or 2 (coefficients He_{k-1}(1.5) phi(1.5)), scaled.
LOW = {
    1: PHI[-1.5] * (1 - PHI[-1.5]) - DENSITY[1.5] ** 2,
    2: PHI[-1.5] * (1 - PHI[-1.5]) - DENSITY[1.5] ** 2 * (1 + 1.5**2 / 2),
}
JUMP = {
    1: f"(step(x1 - 1.5) - {PHI[-1.5]} - {DENSITY[1.5]}*x1)/{math.sqrt(LOW[1])}",
    2: f"(step(x1 - 1.5) - {PHI[-1.5]} - {DENSITY[1.5]}*x1 - {0.75 * DENSITY[1.5]}*He2(x1))"
    f"/{math.sqrt(LOW[2])}",
}


def linear_width(target, activation, p, alpha, **fields):
    """Two steps of size p^alpha each at n = 2p, d = p."""
    given = {"n": "2d", "output_scale": "1/sqrt(p)", "readout_start": "gaussian"} | fields
    setting = Setting(target, activation=activation, d=p, p=p, start="gaussian", **given)
    return with_exponents(setting, *np.broadcast_to(alpha, 2).tolist())


def simulate(setting, seed):
    """Singular values, |right vectors| on the target, and squared norm of W after each step."""
    rng = np.random.default_rng(seed)
    n, d, p, r = setting.n, setting.d, setting.p, setting.target.r
    rows = (rng.standard_normal((p, d)) / math.sqrt(d)).astype(np.float32)
    if setting.start == "sphere":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    law = {
        "gaussian": lambda: rng.standard_normal(p) / math.sqrt(p),
        "signs": lambda: rng.choice([-1.0, 1.0], p),
        "uniform": lambda: rng.uniform(-1.0, 1.0, p),
    }
    a = law[setting.readout_start]().astype(np.float32)
    for step in range(setting.steps):
        if step == 0 or setting.batches == "fresh":
            x = rng.standard_normal((n, d)).astype(np.float32)
            y = setting.target([x[:, k] for k in range(r)]) + setting.noise * rng.standard_normal(n)
        h = x @ rows.T
        residual = y - setting.scale * (setting.activation(h) @ a)
        if setting.residual == "labels":
            residual = y
        slopes = setting.activation.derivative(h) * a * residual[:, None]
        size = setting.step_size[step] * setting.scale / n
        rows = rows + np.float32(size) * (slopes.T.astype(np.float32) @ x)
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    total = float(np.sum(rows.astype(float) ** 2))
    statistics = ReadoutStatistics.of(setting, a)
    return values, np.abs(right[:, :r]), total, statistics


def deviation(measured, predicted):
    """Mean difference in standard errors, over the first axis."""
    difference = np.asarray(measured) - predicted
    error = difference.std(axis=0, ddof=1) / math.sqrt(len(difference))
    return np.max(np.abs(difference.mean(axis=0)) / error)


# --- the outlier equation by itself ---------------------------------------------------------------


def bare(network, update):
    """The update on a bulk of independent entries of variance 1/d."""
    kept, none = np.ones_like(update.kept), np.zeros_like(update.spread)
    return replace(
        update, kept=kept, spread=none, network=none, target_spread=0.0 * update.target_spread
    )


@pytest.mark.parametrize("d", [500, 900])
def test_on_a_plain_bulk_it_is_the_known_transition(d):
    """sqrt((1 + th^2)(c + th^2))/th, edge 1 + sqrt c, cos^2 = 1 - (c + th^2)/(th^2 (th^2 + 1))."""
    setting = linear_width(QUADRATIC, RELU, 600, 0.4).vary(d=d, n=1500)
    network = Network(setting)
    update = bare(network, update_after(network.with_steps(1)))
    found = outliers_of(network, update)
    c, theta = setting.p / d, found.strengths[0]
    assert found.edge == pytest.approx(1.0 + math.sqrt(c), rel=1e-9)
    value = math.sqrt((1.0 + theta**2) * (c + theta**2)) / theta
    assert found.singular_values == pytest.approx([value], rel=1e-9)
    cosine = math.sqrt(1.0 - (c + theta**2) / (theta**2 * (theta**2 + 1.0)))
    slope = network.label[2][0] / math.sqrt(network.gram[0, 0])
    assert found.overlap[0, 0] == pytest.approx(cosine * slope, rel=1e-6)
    # Left vector: 1 - c (1 + th^2)/(th^2 (th^2 + c)).
    norm = float(found.weights @ found.left[0] ** 2)
    assert norm == pytest.approx(1.0 - c * (1.0 + theta**2) / (theta**2 * (theta**2 + c)), rel=1e-6)


def test_below_the_transition_there_is_no_outlier():
    network = Network(linear_width(QUADRATIC, RELU, 600, 0.4))
    update = bare(network, update_after(network.with_steps(1)))
    theta = math.sqrt(float(network.readout[1] @ np.diag(update.kernel)))
    for factor, count in ((0.98, 0), (1.02, 1)):  # c = 1: the threshold is theta = 1
        scaled = replace(update, kernel=update.kernel * (factor / theta) ** 2)
        assert outliers_of(network, scaled).count == count


def test_a_direction_made_of_the_bulk_itself():
    """(1 + k u u^T/p) W0 has R = k u g: exact singular values, against independent g (rejected)."""
    p, k, runs = 400, -4.0, 12
    network = Network(linear_width("x1", RELU, p, 0.0))
    u = network.readout[0]
    empty = bare(network, update_after(network.with_steps(1)))
    zero = 0.0 * empty.target
    pulled = replace(empty, kernel=k**2 * np.outer(u, u), network=k * u, target=zero)
    predicted = outliers_of(network, pulled).singular_values
    free = outliers_of(network, replace(pulled, network=0.0 * u)).singular_values
    measured = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rows, a = rng.standard_normal((p, p)) / math.sqrt(p), rng.standard_normal(p)
        a *= math.sqrt(p) / np.linalg.norm(a)
        moved = rows + k * np.outer(a, a @ rows) / p
        measured.append(np.linalg.svd(moved, compute_uv=False)[:1])
    assert predicted.shape == (1,)
    assert deviation(measured, predicted) < BOUND
    assert deviation(measured, free) > 2 * BOUND


# --- two steps against simulation -----------------------------------------------------------------


def no_self_pull(delta, psi, crossed):
    return 0.0 * psi[:, 0]


def clear_updates():
    """Forget the updates and batches that are kept."""
    two_step_update.update_after.cache_clear()
    two_step_update.batch_of.cache_clear()


def with_change(setting, module, name, value):
    """The prediction with a function of the slopes or of the update replaced."""
    clear_updates()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, value)
        found = weight_outliers(setting)[1]
    clear_updates()
    return found


@pytest.fixture(scope="module")
def fresh_relu():
    setting = linear_width(QUADRATIC, RELU, 400, 0.42)
    return setting, [simulate(setting, seed) for seed in range(12)]


@pytest.fixture(scope="module")
def reused_jump():
    setting = linear_width(JUMP[1], CLIPPED, 500, 0.3, n="4d", batches="reused")
    return setting, [simulate(setting, seed) for seed in range(12)]


def test_fresh_outliers_and_alignment(fresh_relu):
    setting, runs = fresh_relu
    predicted = weight_outliers(setting)[1]
    assert predicted.count == 2
    values = [run[0][:2] for run in runs]
    assert deviation(values, predicted.singular_values) < BOUND
    assert deviation([run[1][:1, 0] for run in runs], predicted.overlap[:1, 0]) < BOUND


def test_the_first_order_series_is_rejected(fresh_relu):
    setting, runs = fresh_relu
    original = two_step_batch.fresh_slopes

    def truncated(network, kept, width, shift):
        slopes = original(network, kept, width, shift)
        return replace(slopes, mean=network.gain + network.moments.tilt * shift)

    wrong = with_change(setting, two_step_batch, "fresh_slopes", truncated)
    assert deviation([run[0][1:2] for run in runs], wrong.singular_values[1:2]) > 2 * BOUND


@pytest.mark.slow
def test_reused_outliers_and_alignment(reused_jump):
    setting, runs = reused_jump
    predicted = weight_outliers(setting)[1]
    assert predicted.count == 2
    assert deviation([run[0][:2] for run in runs], predicted.singular_values) < BOUND
    assert deviation([run[1][1:2, 0] for run in runs], predicted.overlap[1:2, 0]) < BOUND


def test_the_fresh_formula_is_rejected_for_reused_batches(reused_jump):
    setting, runs = reused_jump
    wrong = weight_outliers(setting.vary(batches="fresh", step_size=list(setting.step_size)))[1]
    assert deviation([run[1][1:2, 0] for run in runs], wrong.overlap[1:2, 0]) > 2 * BOUND


def test_without_a_samples_pull_on_itself_it_is_rejected():
    # Bounded labels: the sums over samples scatter little.
    setting = linear_width("tanh(2*x1)", RELU, 300, 0.4, n="d", batches="reused")
    values = [simulate(setting, seed)[0][:1] for seed in range(12)]
    right = weight_outliers(setting)[1]
    wrong = with_change(setting, two_step_update, "self_pull", no_self_pull)
    assert deviation(values, right.singular_values[:1]) < BOUND
    assert deviation(values, wrong.singular_values[:1]) > 2 * BOUND


def test_own_scale_and_a_mean_of_the_network():
    """Output scale 1 and c_0 not 0: the mean of f_0, one number a run, is passed on."""
    setting = linear_width(QUADRATIC, "relu", 300, 0.35, output_scale="1", noise=0.5)
    measured, predicted = [], []
    for seed in range(12):
        values, _, _, statistics = simulate(setting, seed)
        measured.append(values[:2])
        predicted.append(weight_outliers(setting, statistics)[1].singular_values[:2])
    assert deviation(measured, np.array(predicted)) < BOUND
    # The output scale matters: the mean-field formula is far off.
    small = weight_outliers(with_exponents(setting.vary(output_scale="1/sqrt(p)"), 0.35, 0.35))[
        1
    ].strengths[:2]
    assert deviation(measured, small) > 2 * BOUND


@pytest.mark.parametrize(
    ("readout", "scale", "start"), [("signs", "1/p", "sphere"), ("uniform", "1/p", "gaussian")]
)
def test_other_readouts_labels_and_two_directions(readout, scale, start):
    setting = linear_width(
        "x1*x2 + x1 + x2^2/2", "tanh(z + 0.5)", 300, 0.4, readout_start=readout, residual="labels"
    ).vary(start=start, output_scale=scale)
    setting = with_exponents(setting, 0.4, 0.4)
    runs = [simulate(setting, seed) for seed in range(12)]
    predicted = weight_outliers(setting)[1]
    assert deviation([run[0][:1] for run in runs], predicted.singular_values[:1]) < BOUND
    assert deviation([run[1][0, :1] for run in runs], predicted.overlap[0, :1]) < BOUND
    # Rejected: the law of u of the wrong second moment, sqrt(p) a in place of a / (rms a).
    other = setting.vary(
        readout_start="uniform" if readout == "signs" else "signs",
        step_size=list(setting.step_size),
    )
    wrong = weight_outliers(other)[1]
    assert deviation([run[0][:1] for run in runs], wrong.singular_values[:1]) > 2 * BOUND


def test_a_jump_of_the_activation_counts_for_the_network_not_for_its_gradient():
    """E[f_0 g.x] = E[z sigma] |g|^2 exactly for unit rows, over 40,000 samples at BOUND.

    With E sigma' in the place of E[z sigma], right for relu alone, it is rejected.
    """
    setting = linear_width(QUADRATIC, "relu(z) + step(z - 0.5)", 100, 0.5).vary(start="sphere")
    network = Network(setting)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((setting.p, setting.d))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    a = rng.standard_normal(setting.p) / math.sqrt(setting.p)
    x, g = rng.standard_normal((40_000, setting.d)), rows.T @ a
    products = network.scale * (setting.activation(x @ rows.T) @ a) * (x @ g) / (g @ g)
    error = products.std(ddof=1) / math.sqrt(len(x))
    assert abs(products.mean() + network.gram[0, -1]) < BOUND * error
    assert abs(products.mean() - network.scale * network.gain) > 2 * BOUND * error
    assert network.gain == pytest.approx(0.5, abs=1e-12)


def test_the_slope_is_asked_for_no_more_than_it_has():
    """sigma' of relu has mean 1/2 and E[z sigma'] = phi(0), and no coefficients of sigma."""
    slope = two_step_slopes.slope_of(make_activation("relu"))
    found = feature_moments(slope, np.zeros(1), np.ones(1))
    assert found.mean[0] == pytest.approx(0.5, abs=1e-12)
    assert found.slope[0] == pytest.approx(1.0 / math.sqrt(2.0 * math.pi), abs=1e-12)
    assert not hasattr(slope, "coefficients")


@pytest.mark.parametrize("batches", ["fresh", "reused"])
def test_bulk_profile_carries_the_norm_left_by_the_outliers(batches):
    """|W|^2 = p E[kept + spread] + tr K, less the squares of the outliers; residual = labels."""
    setting = linear_width(JUMP[1], CLIPPED, 300, 0.3, n="4d", batches=batches, residual="labels")
    profile = bulk_profile(setting)
    assert profile.directions.mean() == pytest.approx(1.0)
    assert profile.weights.sum() == pytest.approx(1.0)
    network = Network(setting)
    low = float(network.readout[1] @ np.diag(update_after(network).kernel))
    low -= float(np.sum(weight_outliers(setting)[1].singular_values ** 2))
    measured = []
    for seed in range(16):
        values, _, total, _ = simulate(setting, seed)
        measured.append([total - float(np.sum(values[:2] ** 2))])
    bulk = setting.p * float(profile.weights @ (profile.kept_square + profile.spread))
    assert deviation(measured, bulk + low) < BOUND
    assert deviation(measured, setting.p + low) > 2 * BOUND


# --- closed forms and published numbers -----------------------------------------------------------


@pytest.mark.parametrize(
    ("activation", "measured"),
    [(RELU, (24.29, 4.65)), ("tanh(z + 0.5)", (24.69, 2.42))],
)
def test_values_measured_at_p_2000(activation, measured):
    """One measured run each at p = d = n/2 = 2000, alpha = 0.4; single runs scatter by 2 %."""
    found = weight_outliers(linear_width(QUADRATIC, activation, 2000, 0.4))[1]
    assert found.singular_values == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize(("removed", "limit"), [(1, 0.789), (2, 0.638)])
def test_reused_alignment_tends_to_its_closed_form(removed, limit):
    setting = linear_width(JUMP[removed], CLIPPED, 10**13, 0.3, n="4d", batches="reused")
    closed = second_alignment(setting)
    assert closed.limit[0] == pytest.approx(limit, abs=1e-3)
    assert closed.exponent == 0.0
    far = weight_outliers(setting)[1]
    assert far.overlap[1, 0] == pytest.approx(closed.limit[0], abs=2e-3)
    assert second_alignment(setting.vary(batches="fresh")).exponent == -0.5


def test_no_alignment_without_a_linear_part_of_the_squared_label():
    """He2(x1): y^2 is even, so reuse finds nothing; He1 + .. is refused."""
    setting = linear_width("He2(x1)", CLIPPED, 1000, 0.3, batches="reused")
    assert second_alignment(setting).exponent == -0.5
    assert first_complaint(ALIGNMENT, setting) is None
    for change, message in (
        ({"target": "x1 + He2(x1)"}, "target must have no linear part"),
        ({"activation": "He1"}, "activation must be such that a second direction exists"),
        ({"start": "orthogonal", "p": 900}, "start must be sphere, gaussian or symmetric"),
    ):
        with pytest.raises(NoTheoryError, match=message):
            second_alignment(setting.vary(**change))


def test_rotated_directions_change_nothing_else():
    plain = linear_width("x1 + x1*x2", "tanh(z + 0.5)", 500, 0.4)
    turned = plain.vary(
        target="0.6*x1 + 0.8*x2 + (0.6*x1 + 0.8*x2)*(0.8*x1 - 0.6*x2)",
        step_size=list(plain.step_size),
    )
    first, second = (weight_outliers(setting)[1] for setting in (plain, turned))
    assert second.singular_values == pytest.approx(first.singular_values, rel=1e-6)
    assert second.alignment == pytest.approx(first.alignment, rel=1e-6)
    assert second.overlap[0, 1] > 0.5 * first.overlap[0, 0] > first.overlap[0, 1]


# --- counting exponents ---------------------------------------------------------------------------

EXPONENTS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.45)


def test_counts_are_the_floors():
    shifted = make_activation("tanh(z + 0.5)")
    for a, b in itertools.product(EXPONENTS, repeat=2):
        small, own = (outlier_count(a, b, shifted, scale) for scale in ("1/sqrt(p)", "1"))
        # In hundredths, so that the floors are of whole numbers.
        room, second = round(50 - 100 * a), round(100 * b)
        assert small == second // room
        assert own == min(round(100 * a) + second, 50) // room
    diagram = phase_diagram(shifted, "1/sqrt(p)", "fresh", np.array(EXPONENTS))
    assert diagram[-1].tolist() == [0, 2, 4, 5, 6, 8, 9]


def test_zero_coefficients_remove_outliers():
    relu, odd = make_activation("relu"), make_activation("tanh")
    assert [outlier_count(0.4, b, relu) for b in (0.1, 0.2, 0.3)] == [1, 1, 2]
    assert [outlier_count(0.4, b, odd) for b in (0.1, 0.2, 0.4)] == [0, 1, 2]
    assert outlier_count(0.4, 0.4, relu, readout_start="signs", output_scale="1/p") == 1
    assert outlier_count(0.4, 0.4, odd, readout_start="signs", output_scale="1/p") == 0
    # A second function at every order where a kink meets a sample's own label.
    assert orders(relu, 2, "reused") == {1: (True, True), 2: (False, False)}
    assert orders(make_activation(CLIPPED), 2, "reused")[1] == (True, False)
    # gelu has c_3 = 0; reuse acts all the same.
    gelu = make_activation("gelu")
    assert (orders(gelu, 2, "fresh")[2], orders(gelu, 2, "reused")[2]) == (
        (False, False),
        (True, False),
    )


@pytest.mark.parametrize(
    ("batches", "expected"), [("fresh", (0.3, 0.1, -0.3)), ("reused", (0.3, 0.1, 0.1))]
)
def test_strengths_grow_with_the_counted_exponents(batches, expected):
    """relu at alpha = 0.3: orders 0, 1 and 3 when fresh; order 1 twice when reused."""
    sizes = (10**8, 10**10)
    strengths = [
        weight_outliers(linear_width(QUADRATIC, RELU, p, 0.3, batches=batches))[1].strengths[:3]
        for p in sizes
    ]
    found = np.log(strengths[1] / strengths[0]) / math.log(sizes[1] / sizes[0])
    # Corrections are powers of size_1/sqrt(p) = p^-0.2, 1 % to 2.5 % of each strength.
    assert found == pytest.approx(expected, abs=0.02)


def test_finite_diagram_counts_the_predicted_outliers():
    setting = linear_width(QUADRATIC, RELU, 1000, 0.3)
    grid = np.array([0.2, 0.42])
    assert finite_phase_diagram(setting, grid, margin=0.2).tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": "orthogonal", "p": 90}, "start must be sphere, gaussian or symmetric"),
        ({"steps": 5, "step_size": 1.0}, "steps must be from 1 to 4"),
        ({"steps": 3, "step_size": 1.0, "batches": "reused"}, "batches must be fresh"),
        ({"inputs": "rademacher"}, "inputs must be gaussian"),
        ({"deflate": 0}, "deflate must be -1"),
    ],
)
def test_settings_outside_the_theory_are_refused(change, message):
    with pytest.raises(NoTheoryError, match=message):
        weight_outliers(linear_width(QUADRATIC, RELU, 100, 0.3).vary(**change))


def test_exponents_outside_the_theory_are_refused():
    with pytest.raises(InputError, match="alpha1 must be in"):
        outlier_count(0.5, 0.1, make_activation("relu"))


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["sign", "step(z-0.5)"])
def test_activations_without_a_slope_move_nothing(activation: str) -> None:
    """sigma' = 0 almost everywhere: errors of features after two steps are those of the start."""
    setting = Setting("x1 + He2(x1)", activation=activation, d=100, n=200, p=100, steps=2)
    found = predict(setting.vary(step_size="n^0.3", runs=1), theory="linear-width")
    assert found.test_error is not None
    np.testing.assert_allclose(found.test_error[0], found.test_error[0, 0], rtol=1e-6)
    moved = predict(setting.vary(activation="tanh", step_size="n^0.3", runs=1))
    assert moved.test_error is not None
    assert abs(moved.test_error[0, 2] / moved.test_error[0, 0] - 1.0) > 0.01
