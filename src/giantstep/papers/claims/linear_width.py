"""Claims about what a ridge readout learns after one giant step at linear width.

The statements are those of arXiv 2310.07891 and arXiv 2305.18270, with questions of readers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import feature_moments
from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    Exponent,
    Runs,
    at_sizes,
    beside,
    exponent_findings,
    learned,
    scaling_curve,
    slope_line,
)
from giantstep.papers.claims.quantity import NOT_LEARNED, Region, drift, exponent_of, mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings, one_at_a_time
from giantstep.papers.claims.wide import (
    ALPHA,
    RELU,
    WIDE,
    objective_and_test_error,
    singular_values,
    step_size,
    update_unit,
)
from giantstep.prediction.wide.losses import losses
from giantstep.prediction.wide.network import Network
from giantstep.problem.setting import Setting
from giantstep.records.plot import Plot
from giantstep.simulation.feature_models import (
    Model,
    conditional_equivalent,
    gaussian_equivalent,
    real_features,
    tables,
)
from giantstep.simulation.readout import fit_readout
from giantstep.simulation.stepped import SteppedRun, stepped_runs, table_errors

# -- which model learns like the features ---------------------------------------------------------

MODELS: Mapping[str, Callable[[SteppedRun], Model]] = {
    "features": real_features,
    "gaussian": gaussian_equivalent,
    "conditional": conditional_equivalent,
}


def equivalence(
    setting: Fields, *, model: str, region: Region, d: Sequence[int], runs: Runs
) -> Findings:
    """Relative excess of the errors of a model over those of the features, at the largest d."""
    sized = at_sizes(setting, d, runs)
    real, other = zip(*(_paired_errors(each, ("features", model)) for each in sized), strict=True)
    quantities, curves = [], []
    for column, error in enumerate(("train", "test")):
        last, modelled = real[-1][:, column], other[-1][:, column]
        excess = (modelled - last) / last.mean()
        quantities.append(mean_of(f"excess of the {error} error", excess, region))
        curves += beside(
            f"{error}, features",
            d,
            [values[:, column] for values in real],
            [float(values[:, column].mean()) for values in other],
            theory=f"{error}, {model} model",
        )
    return Findings(quantities, Plot("dimension $d$", "mean squared error", curves))


def _paired_errors(setting: Setting, models: Sequence[str]) -> Float[np.ndarray, "m runs two"]:
    """Train and test error of a ridge readout on each model, on the same data run by run."""
    errors = [
        [table_errors(setting, *tables(step, MODELS[name](step))) for name in models]
        for step in stepped_runs(setting, range(setting.runs))
    ]
    return np.array(errors).transpose(1, 0, 2)


# -- what the readout learns ----------------------------------------------------------------------


def _losses(setting: Setting, sizes: Sequence[str | float]) -> Float[np.ndarray, "k runs two"]:
    """Training objective and test error after steps of several sizes, on the same data."""
    measured = np.empty((len(sizes), setting.runs, 2))
    for index, size in enumerate(sizes):
        for step in stepped_runs(setting.vary(step_size=size), range(setting.runs)):
            drawn = tables(step, real_features(step))
            measured[index, step.run] = objective_and_test_error(*drawn, setting)
    return measured


def gains(
    setting: Fields, *, exponents: Sequence[float], multiple: float, d: int, runs: int
) -> Findings:
    """Relative fall of the training objective and of the test error from spike to spike.

    Without a step, then at eta = ``multiple`` n^alpha for exponents of one spike and of two.
    """
    [sized] = at_sizes(setting, [d], runs)
    sizes: list[str | float] = [0.0, *(step_size(alpha, multiple) for alpha in exponents)]
    measured = _losses(sized, sizes)
    theory = [losses(sized.vary(step_size=size)) for size in sizes]
    predicted = np.array([[point.objective, point.test] for point in theory])
    quantities, curves = [], []
    names = ("objective", "test error")
    for index in range(1, len(sizes)):
        for column, name in enumerate(names):
            before, after = measured[index - 1 : index + 1, :, column]
            expected = 1.0 - predicted[index, column] / predicted[index - 1, column]
            gain = (before - after) / before.mean()
            label = f"gain of spike {index}, {name}"
            quantities.append(mean_of(label, gain, (0.03, math.inf), float(expected)))
    for column, name in enumerate(names):
        x = list(range(len(sizes)))
        curves += beside(name, x, list(measured[:, :, column]), predicted[:, column].tolist())
    return Findings(quantities, Plot("spikes", "training objective, test error", curves))


def rising_error(
    setting: Fields, *, exponents: Sequence[float], multiple: float, d: int, runs: int
) -> Findings:
    """Relative rise of the test error from step size to step size, on the same data run by run."""
    [sized] = at_sizes(setting, [d], runs)
    sizes = [step_size(alpha, multiple) for alpha in exponents]
    errors = _losses(sized, sizes)[:, :, 1]
    predicted = [losses(sized.vary(step_size=size)).test for size in sizes]
    quantities = []
    for k in range(1, len(sizes)):
        rise = (errors[k] - errors[k - 1]) / errors[k - 1].mean()
        expected = predicted[k] / predicted[k - 1] - 1.0
        name = f"rise from {exponents[k - 1]:g} to {exponents[k]:g}"
        # The closed system is off by O(1/d).
        quantities.append(mean_of(name, rise, (0.0, math.inf), expected, allowance=1.0 / d))
    curves = beside("simulation", exponents, list(errors), predicted, theory="closed system")
    return Findings(quantities, Plot(ALPHA, "test error", curves))


def quadratic_share(
    setting: Fields,
    *,
    one_spike: str | float,
    two_spikes: str | float,
    d: Sequence[int],
    runs: Runs,
) -> Findings:
    """E[fhat h_2(z)], h_2 = He2/sqrt 2: the share that is learned of a target's part h_2(z).

    With a step of the size ``one_spike`` it falls with d, with one of ``two_spikes`` it does not.
    """
    sizes = {"one spike": one_spike, "two spikes": two_spikes}
    shares = {
        name: [
            np.array([_share(step) for step in stepped_runs(each, range(each.runs))])
            for each in at_sizes({**setting, "step_size": size}, d, runs)
        ]
        for name, size in sizes.items()
    }
    # Halfway between a constant and n^(-1/2), the sampling error of a share that is zero.
    measured = [
        Exponent("one spike", None, NOT_LEARNED, None),
        learned("two spikes", None),
    ]
    label = r"share learned of $h_2(\langle w^*, x\rangle)$"
    findings = exponent_findings(measured, shares, d, label=label)
    last = mean_of("share with two spikes", shares["two spikes"][-1], (0.03, math.inf))
    return Findings([*findings.quantities, last], findings.plot)


def _share(step: SteppedRun) -> float:
    """Exact given the readout: E[sigma(w.x) He2(x_1)] = E[sigma(|w| z) He2(z)] (w_1/|w|)^2."""
    training, _ = tables(step, real_features(step))
    readout = step.setting.scale * fit_readout(training, step.setting).weights[0]
    norms = np.linalg.norm(step.weights, axis=1)
    curve = feature_moments(step.setting.activation, np.zeros(len(norms)), norms).curve
    return float(readout @ (curve * (step.weights[:, 0] / norms) ** 2)) / math.sqrt(2.0)


# -- steps beyond n^(1/2) -------------------------------------------------------------------------


def beyond_one_half(
    setting: Fields,
    *,
    exponent: float,
    within: float,
    drifts: float,
    d: Sequence[int],
    runs: Runs,
) -> Findings:
    """Growth in n of first spike and bulk at eta = 1.5 n^alpha, and the error against less.

    alpha -> ``exponent``; the smaller step has the exponent ``within``.  ``drifts`` is the factor
    of the drift of the exponents.
    """
    sized = at_sizes({**setting, "step_size": step_size(exponent)}, d, runs)
    n = [each.n for each in sized]
    measured = [_large_steps(each) for each in sized]
    last = sized[-1]
    before = _large_steps(last.vary(step_size=step_size(within)))[2]
    # alpha and alpha - 1/2, each to an eighth; the start is n^(-1/2) beside the update of a row.
    quantities, curves, lines = [], [], []
    for row, (name, short, limit) in enumerate(
        (
            ("exponent of the first spike", "first singular value", exponent),
            ("exponent of the bulk", "median singular value", exponent - 0.5),
        )
    ):
        values, region = [rows[row] for rows in measured], (limit - 0.125, limit + 0.125)
        quantities.append(exponent_of(name, n, values, region, limit, allowance=drift(n, drifts)))
        curves.append(scaling_curve(short, n, values))
        lines.append(slope_line(n, float(np.median(values[0])), limit))
    quantities.append(
        mean_of(
            "first singular value at the largest $n$ over predicted",
            measured[-1][0] / large_step_spike(last),
            (0.9, 1.1),
            1.0,
            # The start is n^(1/2 - alpha) beside the noise of the update of a row, and the p
            # readouts of each sign differ by p^(-1/2).
            allowance=last.p**-0.5,
        )
    )
    loss = (measured[-1][2] - before) / before.mean()
    quantities.append(mean_of("test error lost against the smaller step", loss, (-0.03, math.inf)))
    plot = Plot("samples $n$", "singular value of the features", [*curves, *lines], "log", "log")
    return Findings(quantities, plot)


def large_step_spike(setting: Setting) -> float:
    """First singular value of relu features over |a| |beta| sqrt(n) after a step that hides W_0.

    Row i is eta a_i (c_1 beta + xi_i), xi_i the noise of the step, with |xi_i|^2 = (d/n) E r^2 Var
    sigma'.  Of q = c_1^2 |beta|^2 + |xi_i|^2 the share rho is common to all rows, with the sign of
    a_i.  E[relu(w_i.x) relu(w_j.x)] = |w_i| |w_j| k(+-rho)/2, where k(c) = (sqrt(1 - c^2) + c (pi -
    arccos c))/pi.  Half of |a|^2 has each sign, and rows weigh as |a_i|, so that the largest
    eigenvalue is eta^2 |a|^2 q (k(rho) + k(-rho))/4.
    """
    network = Network(setting)
    beta = float(network.gram[0, 0])
    common = network.gain**2 * beta
    noise = network.noise_ratio * network.residual_square * network.moments.slope_variance
    length = common + noise
    rho = common / length
    kernel = 2.0 / math.pi * (math.sqrt(1.0 - rho**2) + rho * math.asin(rho))
    return setting.step_size[0] * setting.scale * math.sqrt(0.25 * length * kernel / beta)


def _large_steps(setting: Setting) -> Float[np.ndarray, "three runs"]:
    """First and median singular value of the features over |a| |beta|, and the test error."""
    rows = []
    for step in stepped_runs(setting, range(setting.runs)):
        training, test = tables(step, real_features(step))
        values = singular_values(training.features, setting.p) / update_unit(step)
        _, error = table_errors(setting, training, test)
        rows.append((float(values[0]), float(np.median(values)), error))
    return np.array(rows).T


REGIME = "$n$, $d$ and $p$ grow in proportion, and inputs are Gaussian"
GIANT_REGIME = (
    rf"{REGIME}. The step size is $\eta=1.5n^{{1/2}}$, where rows and $\beta$ have overlap 0.7."
)
ORDER_ONE = "1.5*n^0.5"
"""The step that gives neurons a cosine of order one with beta."""
OTHER_GIANT_STEPS = one_at_a_time(setting={"step_size": ("0.75*n^0.5", "3*n^0.5")})

CLAIMS = (
    Claim(
        id="gaussian-equivalence-before",
        statement=(
            "Before the step, ridge regression on the features has the same errors as ridge "
            "regression on Gaussian features with the same mean and covariance."
        ),
        source=sources.GAUSSIAN_EQUIVALENCE,
        regime="$n$, $d$ and $p$ grow in proportion, and no step is taken.",
        rule=(
            "The training and test errors of the Gaussian model are within 3 % of those of the "
            "features."
        ),
        experiment=equivalence,
        setting=WIDE | {"step_size": 0.0},
        options={"model": "gaussian", "region": (-0.03, 0.03)},
        controls={
            "after a giant step the features are no longer Gaussian": Changes(
                setting={"step_size": ORDER_ONE}
            )
        },
        quick={"d": (60, 150), "runs": (8, 44)},
        full={"d": (100, 200, 400), "runs": 24},
    ),
    Claim(
        id="conditional-equivalence-after",
        statement=(
            "After the step, the features are Gaussian given the learned coordinate of the "
            "input. Ridge regression on them has the same errors as on the conditional "
            "Gaussian model."
        ),
        source=sources.EQUIVALENCE,
        regime=GIANT_REGIME,
        rule=(
            "The training and test errors of the conditional model are within 3 % of those "
            "of the features."
        ),
        experiment=equivalence,
        setting=WIDE | {"step_size": ORDER_ONE},
        options={"model": "conditional", "region": (-0.03, 0.03)},
        controls={
            "one mean and covariance for all values of the learned coordinate": Changes(
                options={"model": "gaussian"}
            )
        },
        quick={"d": (60, 150), "runs": (8, 44)},
        full={"d": (100, 200, 400), "runs": 24},
        tuned=OTHER_GIANT_STEPS,
    ),
    Claim(
        id="gaussian-equivalence-fails-after",
        statement=(
            "After a giant step, plain Gaussian equivalence no longer holds. Ridge "
            "regression learns more from the features than their mean and covariance allow."
        ),
        source=sources.beyond(
            sources.FEW_STEPS,
            "Gaussian equivalence of random features",
            "The features are those after a giant step.",
        ),
        regime=GIANT_REGIME,
        rule=(
            "The training and test errors of the Gaussian model are more than 15 % above those "
            "of the features."
        ),
        experiment=equivalence,
        setting=WIDE | {"step_size": ORDER_ONE},
        options={"model": "gaussian", "region": (0.15, math.inf)},
        controls={
            "without a step the Gaussian model is right": Changes(setting={"step_size": 0.0})
        },
        quick={"d": (60, 150), "runs": (8, 24)},
        full={"d": (100, 200, 400), "runs": 24},
        tuned=OTHER_GIANT_STEPS,
    ),
    Claim(
        id="spikes-lower-the-loss",
        statement=(
            "The first spike lowers the training loss and the test error, and the second "
            "lowers them again."
        ),
        source=sources.LIMITING_LOSSES,
        regime=(
            rf"{REGIME}. No step is taken, or one of size $1.5n^\alpha$ with $\alpha=0.15$ or "
            "0.32."
        ),
        rule=(
            "Training objective and test error fall by more than 3 % with each spike, and by "
            "as much as predicted."
        ),
        experiment=gains,
        setting=WIDE,
        options={"exponents": (0.15, 0.32), "multiple": 1.5},
        controls={
            r"without a linear part $\beta$ does not see the target": Changes(
                setting={"target": "He2(x1)/sqrt(2)"}
            )
        },
        quick={"d": 150, "runs": 16},
        full={"d": 400, "runs": 16},
        # At 3 n^alpha the first spike alone already takes most of what there is to gain.
        tuned=one_at_a_time(options={"multiple": (0.75, 2.0)}),
    ),
    Claim(
        id="nonlinear-from-second-spike",
        statement="The nonlinear part of a target is learned only from the second spike on.",
        source=sources.NONLINEAR_PART,
        regime=(
            "$n$, $d$ and $p$ grow in proportion. The step sizes are 3 (one spike) and "
            "$1.5n^{0.32}$ (two spikes)."
        ),
        rule=(
            "The share of the degree-2 part that is learned has an exponent in $d$ below "
            "$-1/4$ with one spike. With two spikes the exponent is above $-1/4$, and the "
            "share is above 3 %."
        ),
        experiment=quadratic_share,
        setting=WIDE,
        options={"one_spike": 3.0, "two_spikes": step_size(0.32)},
        controls={
            "the large step and the constant one change places": Changes(
                options={"one_spike": step_size(0.32), "two_spikes": 3.0}
            ),
            "tanh is odd: there is no second spike": Changes(setting={"activation": "tanh"}),
        },
        quick={"d": (30, 90, 270), "runs": (144, 48, 16)},
        full={"d": (50, 150, 450), "runs": (216, 72, 24)},
        tuned=one_at_a_time(
            options={
                "one_spike": (1.5, 6.0),
                "two_spikes": [step_size(0.32, multiple) for multiple in (0.75, 3)],
            }
        ),
    ),
    Claim(
        id="linear-target-loses",
        statement=(
            r"On a linear target with noise, the test error rises with $\alpha$ from the "
            "second spike on."
        ),
        source=sources.question(sources.ONE_STEP, "targets without a nonlinear part"),
        regime=(
            r"$n$, $d$ and $p$ grow in proportion. The step size is $\eta=3n^\alpha$, labels "
            "are $z$ plus noise, and the activation is tanh."
        ),
        rule=(
            r"The relative rise of the test error from $\alpha=0.15$ to 0.3 and from 0.3 to "
            "0.4 is above 0, and as predicted."
        ),
        experiment=rising_error,
        setting=WIDE | {"target": "x1", "noise": 0.5, "activation": "tanh"},
        options={"exponents": (0.15, 0.3, 0.4), "multiple": 3.0},
        controls={
            "a quadratic part, which relu's second spike fits": Changes(
                setting={"target": "x1 + He2(x1)", "activation": RELU}
            )
        },
        quick={"d": 150, "runs": 16},
        full={"d": 400, "runs": 16},
        # Beyond 4 n^0.4 the noise of the step exceeds the rows, which theory does not cover.
        tuned=one_at_a_time(setting={"noise": (0.25, 1.0)}, options={"multiple": (1.5, 4.0)}),
    ),
    Claim(
        id="beyond-one-half",
        statement=(
            r"For $\alpha>1/2$ the bulk grows as $n^{\alpha-1/2}$ and the first spike as "
            r"$n^\alpha$. A relu network gains nothing more."
        ),
        source=sources.question(
            sources.ONE_STEP,
            r"step sizes $n^\alpha$ with $\alpha$ above $1/2$",
            r"The exponent is $\alpha>1/2$.",
        ),
        regime=r"$n$, $d$ and $p$ grow in proportion, $\eta=1.5n$, and the activation is relu.",
        rule=(
            "The exponents in $n$ of the first and the median singular value are within "
            r"$1/8$ of $\alpha$ and $\alpha-1/2$, and as predicted. At the largest $n$ the "
            "first is within 10 % of the closed form of large steps, and as predicted. The "
            "test error is not more than 3 % below that of step size $1.5n^{0.45}$. No "
            "theory gives this error."
        ),
        experiment=beyond_one_half,
        setting=WIDE,
        options={"exponent": 1.0, "within": 0.45, "drifts": 1.0},
        controls={
            "a bounded activation: the features cannot grow": Changes(
                setting={"activation": "tanh"}
            ),
            "compared with a step that learns nothing": Changes(options={"within": -0.5}),
        },
        quick={"d": (50, 100, 200), "runs": (128, 32, 24)},
        full={"d": (100, 200, 400), "runs": (96, 48, 24)},
        tuned=one_at_a_time(options={"drifts": (0.5, 2.0)}),
    ),
)
