"""Claims about one giant step at linear width (arXiv 2310.07891, 2305.18270)."""

from __future__ import annotations

from functools import partial

from giantstep.papers.claims.feature_experiments import (
    EQUAL,
    FAR_OFF,
    equivalence,
    gains,
    quadratic_share,
)
from giantstep.papers.claims.quantity import DRIFTS
from giantstep.papers.claims.record import Claim
from giantstep.papers.claims.spike_experiments import (
    added_spikes,
    constant_spike,
    leaving_exponents,
    no_spike,
    polynomial_overlaps,
)
from giantstep.problem.activation import centred

FEW_STEPS, ONE_STEP = "arXiv 2305.18270 (JMLR)", "arXiv 2310.07891 (PMLR)"
REGIME = "n, d, p in proportion, eta = 1.5 n^alpha, Gaussian inputs"

RELU = centred("relu(z)")
# Even, so that c_1 = 0, and smooth.
EVEN = centred("cos(z)")
WIDE = {
    "target": "linear-quadratic",
    "activation": RELU,
    "n": "4d",
    "p": "d",
    "steps": 1,
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "ridge": 0.1,
    "readout_n": "8d",
    "test_n": 2000,
}
TWO_SPIKES = "1.5*n^0.32"
ORDER_ONE = "1.5*n^0.5"
"""The step that gives neurons a cosine of order one with beta."""
LATER_SPIKES = {
    "tanh is odd: the second spike is of degree 3": {"activation": "tanh"},
    "the cosine is even: the first spike is of degree 2": {"activation": EVEN},
}
"""Activations with a zero among c_1, c_2, whose spikes leave the bulk at larger steps."""

CLAIMS = (
    Claim(
        "gaussian-equivalence-before",
        "Before the step a ridge readout learns from the features as from Gaussian ones of the "
        "same mean and covariance.",
        f"{FEW_STEPS}, Gaussian equivalence",
        "n, d, p in proportion, no step",
        "excess of the train and of the test error of the Gaussian model within 3 %",
        partial(equivalence, region=EQUAL),
        WIDE | {"step_size": 0.0, "model": "gaussian"},
        {"after a giant step the features are no longer Gaussian": {"step_size": ORDER_ONE}},
        {"d": (60, 150), "runs": (8, 44)},
        {"d": (100, 200, 400), "runs": 24},
    ),
    Claim(
        "conditional-equivalence-after",
        "After the step the features are Gaussian given the learned coordinate: a ridge readout "
        "cannot tell them from the conditional Gaussian model.",
        f"{FEW_STEPS}, conditional Gaussian equivalence",
        f"{REGIME}; alpha = 1/2, where rows and beta overlap by 0.7",
        "excess of the train and of the test error of the conditional model within 3 %",
        partial(equivalence, region=EQUAL),
        WIDE | {"step_size": ORDER_ONE, "model": "conditional"},
        {"one mean and covariance for all values of the learned coordinate": {"model": "gaussian"}},
        {"d": (60, 150), "runs": (8, 44)},
        {"d": (100, 200, 400), "runs": 24},
    ),
    Claim(
        "gaussian-equivalence-fails-after",
        "After a giant step plain Gaussian equivalence fails: the features learn more than their "
        "mean and covariance allow.",
        f"{FEW_STEPS}, Gaussian equivalence",
        f"{REGIME}; alpha = 1/2, where rows and beta overlap by 0.7",
        "excess of the train and of the test error of the Gaussian model above 15 %",
        partial(equivalence, region=FAR_OFF),
        WIDE | {"step_size": ORDER_ONE, "model": "gaussian"},
        {"without a step the Gaussian model is right": {"step_size": 0.0}},
        {"d": (60, 150), "runs": (8, 24)},
        {"d": (100, 200, 400), "runs": 24},
    ),
    Claim(
        "spike-thresholds",
        "Spike l leaves the bulk at step sizes of order n^((l-1)/(2l)).",
        f"{ONE_STEP}, Theorem 3.3",
        "n, d, p in proportion, step size searched up to n^(1/2)",
        "exponent in n of the step at which spike l is 1.25 times the bulk of the start nearer to "
        "(l-1)/(2l) than to that of another spike, and as predicted beside the drift of a factor "
        "1 + n^(-1/(2l))",
        partial(leaving_exponents, letter="n"),
        WIDE | {"readout_n": "n", "clear": 1.25, "drifts": 1.0},
        LATER_SPIKES,
        {"d": (50, 100, 200, 400), "runs": (48, 24, 12, 6)},
        {"d": (50, 100, 200, 400, 800), "runs": (96, 48, 24, 12, 6)},
        tuned={"clear": (1.15, 1.4)} | DRIFTS,
    ),
    Claim(
        "spike-alignment",
        "The left singular vector of spike k is aligned with the polynomial feature (X beta)^k.",
        f"{ONE_STEP}, Theorem 3.3",
        f"{REGIME}; alpha = 0.32",
        "overlap of spikes 1 and 2 with X beta and (X beta)^2 above 1/2",
        partial(polynomial_overlaps, exponents=(0.05, 0.15, 0.24, 0.32)),
        WIDE | {"readout_n": "n", "exponent": 0.32},
        {
            "the second spike is still inside the bulk": {"exponent": 0.15},
            "no spike has left the bulk": {"exponent": -0.3},
        },
        {"d": 150, "runs": 6},
        {"d": 400, "runs": 8},
    ),
    Claim(
        "spikes-lower-the-loss",
        "The first spike lowers training loss and test error, and the second lowers them again.",
        f"{ONE_STEP}, Theorems 4.4 and 4.5",
        f"{REGIME}; no step, alpha = 0.15, 0.32",
        "relative fall of training objective and test error above 3 % with each spike",
        partial(gains, exponents=(0.15, 0.32)),
        WIDE,
        {"without a linear part beta does not know the target": {"target": "He2(x1)/sqrt(2)"}},
        {"d": 150, "runs": 16},
        {"d": 400, "runs": 16},
    ),
    Claim(
        "nonlinear-from-second-spike",
        "The nonlinear part of a target is learned only from the second spike on.",
        f"{ONE_STEP}, section 4.2",
        "n, d, p in proportion, step sizes 3 (one spike) and 1.5 n^0.32 (two)",
        "share learned of the degree-2 part: exponent in d below -1/4 with one spike, above with "
        "two, and then above 3 %",
        quadratic_share,
        WIDE | {"one_spike": 3.0, "two_spikes": TWO_SPIKES},
        {
            "the large step in the place of the constant one, and the other way round": {
                "one_spike": TWO_SPIKES,
                "two_spikes": 3.0,
            },
            "tanh is odd: there is no second spike": {"activation": "tanh"},
        },
        {"d": (30, 90, 270), "runs": (144, 48, 16)},
        {"d": (50, 150, 450), "runs": (216, 72, 24)},
    ),
    Claim(
        "no-spike-without-c1",
        "With c_1 = 0 the step adds no spike.",
        f"{ONE_STEP}, the condition c_1 != 0",
        f"{REGIME}; alpha = 0.32",
        "mean number of singular values 10 % above the predicted edge within 1/2 of 0",
        partial(no_spike, exponent=0.32),
        WIDE | {"activation": EVEN, "readout_n": "n"},
        {"c_1 = 1/2": {"activation": RELU}},
        {"d": 150, "runs": 10},
        {"d": 400, "runs": 12},
        seen="one spike from alpha = 1/4 on, the constant: the step lengthens the rows, "
        "eta^2 c_2 (d/n) E[r^2] Var(sigma') 1 (a^2)^T.",
        corrected="constant-spike-without-c1",
    ),
    Claim(
        "no-varying-spike-without-c1",
        "With c_1 = 0 the step adds no spike that varies from sample to sample.",
        f"{ONE_STEP}, beyond the condition c_1 != 0",
        f"{REGIME}; features less their means over samples",
        "mean number of spikes added within 1/2 of 0",
        partial(added_spikes, exponents=(0.15, 0.32)),
        WIDE | {"activation": EVEN, "readout_n": "n"},
        {"c_1 = 1/2": {"activation": RELU}},
        {"d": 200, "runs": 10},
        {"d": 500, "runs": 12},
    ),
    Claim(
        "constant-spike-without-c1",
        "With c_1 = 0 and alpha > 1/4 there is a spike all the same, but it is the constant: "
        "longer rows give each feature another mean.",
        f"{ONE_STEP}, beyond the condition c_1 != 0",
        f"{REGIME}; alpha = 0.32",
        "one spike, its left singular vector overlaps the constant by more than 1/2",
        partial(constant_spike, exponents=(0.05, 0.24, 0.32)),
        WIDE | {"activation": EVEN, "readout_n": "n"},
        {"with c_1 != 0 the spikes are the polynomials of X beta": {"activation": RELU}},
        {"d": 150, "runs": 10},
        {"d": 400, "runs": 12},
    ),
)
