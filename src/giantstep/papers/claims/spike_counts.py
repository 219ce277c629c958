"""Claims about the number of spikes after one giant step, from none to three (arXiv 2310.07891)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import Fields
from giantstep.papers.claims.feature_experiments import (
    singular_values,
    spikes_in_the_limit,
    stepped_features,
)
from giantstep.papers.claims.linear_width import WIDE
from giantstep.papers.claims.quantity import Quantity, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.spike_experiments import ALPHA, MARGIN, clear_outliers
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.feature_outliers import feature_outliers
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.stepped import stepped_runs
from giantstep.spectra.outliers import count_above

EXPONENTS = (-0.2, 0.1, 0.29, 0.36)
"""Below 0 and in the windows (0, 1/4), (1/4, 1/3), (1/3, 3/8): l = 0, 1, 2, 3."""

SHIFTED = centred("tanh(z + 0.7)")
"""c_1, c_2, c_3 = 0.52, -0.11, -0.04: none is zero, as the third spike needs."""


def counts(fields: Fields, *, exponents: Sequence[float], d: int, runs: int) -> Findings:
    """Singular values of the features above the bulk at eta = multiple n^alpha: l of them.

    At the last exponent they stand where the closed system puts them.
    The step that is taken is larger by the field ``taken`` than that of the theory.
    """
    given = dict(fields)
    multiple, taken = given.pop("multiple"), given.pop("taken")
    base = Setting(**given | {"d": d, "step_size": 1.0})
    settings = [base.vary(step_size=f"{multiple}*n^{alpha:g}") for alpha in exponents]
    theories = [feature_outliers(setting) for setting in settings]
    steps = list(stepped_runs(base, range(runs)))
    orders = [spikes_in_the_limit(alpha) for alpha in exponents]
    quantities: list[Quantity] = []
    numbers, tops = [], []
    for alpha, setting, theory, order in zip(exponents, settings, theories, orders, strict=True):
        size = taken * setting.step_size[0]
        tops = [singular_values(stepped_features(step, size)) for step in steps]
        found = [count_above(values, theory.edge, MARGIN).count for values in tops]
        numbers.append(np.array(found, float))
        region, expected = (order - 0.5, order + 0.5), float(clear_outliers(theory))
        quantities.append(mean_of(f"spikes at {alpha:g}", numbers[-1], region, expected))
    for k in range(orders[-1]):
        # One that is predicted inside the bulk stands at its edge.
        places = [*theories[-1].values, *[theories[-1].edge] * orders[-1]]
        ratio = np.array([values[k] for values in tops]) / places[k]
        name = f"spike {k + 1} at {exponents[-1]:g} over its place"
        quantities.append(
            mean_of(name, ratio, (0.8, 1.25), 1.0, allowance=readout_scatter(k + 1, base.p))
        )
    grid = np.linspace(min(exponents), max(exponents), 200)
    limit = [float(spikes_in_the_limit(float(alpha))) for alpha in grid]
    curves = [
        mean_curve("simulation", exponents, numbers),
        Curve(
            "closed system at this size",
            list(exponents),
            [float(clear_outliers(theory)) for theory in theories],
            theory=True,
            joined=False,
        ),
        Curve("limit", grid.tolist(), limit, theory=True),
    ]
    return Findings(quantities, Plot(ALPHA, "spikes", curves))


def readout_scatter(degree: int, p: int) -> float:
    """Relative deviation of |a^k| over p normals: sqrt(E u^4k/(E u^2k)^2 - 1)/(2 sqrt p).

    Spike k is as strong as |a^k|, of which a few large readouts are most: 0.7, 1.6, 3.4 over
    sqrt(p) for k = 1, 2, 3.
    """
    from scipy.special import factorial2

    fourth, second = (float(factorial2(m * degree - 1)) for m in (4, 2))
    return 0.5 * math.sqrt((fourth / second**2 - 1.0) / p)


CLAIMS = (
    Claim(
        id="spike-count",
        statement=(
            "A step of size n^alpha, (l-1)/(2l) < alpha < l/(2l+2), adds l spikes to the features."
        ),
        source=sources.SPIKES,
        regime=(
            "n = 4 d, p = d, eta = 3 n^alpha, shifted tanh; alpha = -0.2, 0.1, 0.29, at full size "
            "0.36"
        ),
        rule=(
            "mean number of singular values 10 % above the predicted edge within 1/2 of l = 0, 1, "
            "2, at full size 3, as many as predicted; the last ones where the closed system puts "
            "them"
        ),
        experiment=counts,
        fields=WIDE
        | {
            "activation": SHIFTED,
            "readout_n": "n",
            "test_n": 10,
            "multiple": 3.0,
            "taken": 1.0,
        },
        controls={
            "tanh is odd: c_2 = 0 takes the second spike away": {"activation": "tanh"},
            "features with a mean have a spike at any step size": {"activation": "tanh(z + 0.7)"},
            "a step a quarter as long as theory is told": {"taken": 0.25},
        },
        # The third spike stands clear of the bulk in every run from d = 1000 on.
        quick={"exponents": EXPONENTS[:-1], "d": 250, "runs": 16},
        full={"exponents": EXPONENTS, "d": 1000, "runs": 6},
        tuned={"multiple": (2.8, 3.5)},
    ),
)
