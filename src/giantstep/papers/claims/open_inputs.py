"""Open questions of arXiv 2305.18270 about inputs that are not Gaussian."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import (
    Fields,
    as_predicted,
    neurons,
    over_sizes,
    photograph_patches,
    predicted_statistic,
    scaling_curve,
)
from giantstep.papers.claims.open_targets import RELU, each_learned
from giantstep.papers.claims.quantity import DRIFTS, LEARNED, drift, exponent_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.records.plot import Curve, Plot


def other_laws(fields: Fields, *, d: Sequence[int], runs: int) -> Findings:
    """Cosines with v* for other inputs over those predicted for Gaussian ones.

    The field ``untold`` holds fields of the simulation that the prediction does not know.
    """
    setting = dict(fields) | {"steps": 1}
    laws, untold = setting.pop("laws"), setting.pop("untold")
    statistic = neurons([[1.0]], 1)
    predicted = [predicted_statistic(setting, statistic, size) for size in d]
    curves = [Curve("theory, gaussian", list(d), predicted, theory=True)]
    quantities = []
    for law in laws:
        values = over_sizes(setting | untold | {"inputs": law}, d, runs, {law: statistic})[law]
        quantities.append(as_predicted(f"cosine, {law}", values[-1], predicted[-1], d[-1]))
        curves.append(scaling_curve(law, d, values))
    return Findings(quantities, Plot("dimension $d$", "cosine with $v^*$", curves, "log"))


def photograph(fields: Fields, *, edges: Sequence[int], rows: int, runs: int) -> Findings:
    """Cosine with v* on patches of a photograph against their number of pixels d = edge^2.

    ``law`` of the fields is ``whitened`` or ``data``, ``drifts`` the factor of the drift.
    """
    setting = dict(fields) | {"steps": 1}
    law, drifts = setting.pop("law"), setting.pop("drifts")
    statistic = neurons([[1.0]], 1)
    d = [edge * edge for edge in edges]
    values = []
    with tempfile.TemporaryDirectory() as folder:
        for edge in edges:
            path = Path(folder) / f"patches-{edge}.npy"
            np.save(path, photograph_patches(edge, rows))
            inputs = {"inputs": f"{law}({path})"}
            found = over_sizes(setting | inputs, [edge * edge], runs, {law: statistic})
            values.extend(found[law])
    # The theory is for p far below d: its limit, the same at every d.
    limit = predicted_statistic(setting, statistic, 1000)
    curves = [
        Curve("theory, gaussian", d, [limit] * len(d), theory=True),
        scaling_curve(f"photograph, {law}", d, values),
    ]
    quantities = [
        exponent_of(
            "exponent in the number of pixels",
            d,
            values,
            LEARNED,
            0.0,
            allowance=drift(d, drifts),
        )
    ]
    return Findings(quantities, Plot("pixels $d$", "cosine with $v^*$", curves, "log", "log"))


CLAIMS = (
    Claim(
        id="other-inputs",
        statement="Inputs with identity covariance teach the direction as Gaussian ones do.",
        source=sources.question(
            sources.FEW_STEPS,
            "inputs that are not Gaussian",
            "inputs with other laws of identity covariance",
        ),
        regime="n = 16 d, one step, inputs rademacher, uniform, Student, mixture of Gaussians",
        rule=(
            "cosine with v* as predicted for Gaussian inputs, but for a share d^(-1/2), for every "
            "law"
        ),
        experiment=other_laws,
        fields=RELU
        | {
            "target": "x1 + He2(x1)/2",
            "n": "16d",
            "step_size": "4*p",
            "untold": {},
            "laws": ("rademacher", "uniform", "student(5)", "mixture(0.8)"),
        },
        controls={
            "along an axis He3(x1) has a linear part that only the law of one input decides": {
                "target": "He3(x1)",
                "frame": "axes",
            },
            "noise in the labels that the prediction does not know": {"untold": {"noise": 6.0}},
        },
        quick={"d": (160,), "runs": 10},
        full={"d": (125, 250, 500), "runs": 24},
    ),
    Claim(
        id="correlated-inputs",
        statement="With covariance eigenvalues i^(-1/2) one step still learns v*.",
        source=sources.question(
            sources.FEW_STEPS,
            "inputs that are not Gaussian",
            "a covariance that is not the identity",
        ),
        regime="n = 16 d, one step, inputs with a power-law spectrum",
        rule="exponent in d of the median cosine with v* above -1/4 and as predicted, 0",
        experiment=partial(each_learned, over="inputs"),
        fields=RELU
        | {
            "target": "x1 + He2(x1)/2",
            "n": "16d",
            "step_size": "4*p",
            "inputs": ("correlated(0.5)",),
            "drifts": 1.0,
        },
        controls={
            "a few eigenvalues hold all the variance: Sigma v* is theirs, whatever v*": {
                "inputs": ("correlated(3)",)
            }
        },
        quick={"d": (20, 80, 320), "runs": 32},
        full={"d": (20, 60, 180, 540), "runs": 80},
        tuned=DRIFTS,
    ),
    Claim(
        id="photograph-whitened",
        statement=(
            "On whitened patches of a photograph one step learns v*; on raw ones it does not."
        ),
        source=sources.question(
            sources.FEW_STEPS, "real data", "patches of a photograph as inputs"
        ),
        regime="n = 4 d, one step, patches of 4 x 4 to 16 x 16 pixels",
        rule=(
            "exponent of the median cosine with v* in the number of pixels above -1/4 and as "
            "predicted, 0"
        ),
        experiment=photograph,
        fields=RELU
        | {
            "target": "tanh(x1)",
            "n": "4d",
            "step_size": "8*p",
            "law": "whitened",
            "drifts": 1.0,
        },
        controls={
            "raw patches vary mostly in brightness: Sigma v* is that direction, whatever v*": {
                "law": "data"
            }
        },
        quick={"edges": (4, 8, 16), "rows": 5000, "runs": 120},
        full={"edges": (4, 6, 8, 12, 16, 20), "rows": 40_000, "runs": 100},
        tuned=DRIFTS,
    ),
)
