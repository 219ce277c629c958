"""Claims about how strong the orders of the second giant step are (arXiv 2605.17767)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import FIRST_LAYER, Fields, Runs, with_runs
from giantstep.papers.claims.quantity import Quantity, Region, exact, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.two_steps import NETWORK, REGIME
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.update import orthonormal_powers, second_strengths
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.engines.dense import DenseEngine
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import MEMORY

ORDERS = 3

FAR = (10**11, 10**13)
"""Widths between which the predicted exponents are those of the limit to 0.01."""

AS_PREDICTED: Region = (0.8, 1.25)
"""Of measured over predicted strengths: their exponents are a fifth apart over a factor of 3 in p,
and so are the strengths."""


def step_two_strengths(setting: Setting, runs: int) -> Float[np.ndarray, "runs k"]:
    """|q_k^T (W_2 - W_1)| of every run, q_k the powers u, u^2, u^3 made orthonormal."""
    engine = DenseEngine(setting, MEMORY, Meter(0, None))
    found = []
    for run in range(runs):
        engine.begin(run)
        engine.step(0)
        before = np.asarray(engine.weights, dtype=float)
        engine.step(1)
        update = np.asarray(engine.weights, dtype=float) - before
        u = math.sqrt(setting.p) * np.asarray(engine.readout, dtype=float)
        powers = orthonormal_powers(u, np.ones(len(u)), ORDERS)
        found.append(np.linalg.norm(powers.T @ update, axis=1))
    return np.array(found)


def strengths(
    fields: Fields, *, exponents: tuple[float, float], d: Sequence[int], runs: Runs
) -> Findings:
    """Strengths of orders 0, 1, 2 of the second step at p^alpha: as predicted at every p.

    The predicted ones grow as p^(alpha_2 - k (1/2 - alpha_1)) at widths out of reach.  The steps
    that are taken are those of exponents larger by ``beyond``, the exponents that are claimed
    smaller by ``slower``.
    """
    given = FIRST_LAYER | dict(fields)
    beyond, slower = given.pop("beyond"), given.pop("slower")
    first, second = exponents

    def at(size: int, more: float = 0.0) -> Setting:
        return with_exponents(Setting(**given | {"d": size}), first + more, second + more)

    measured = [step_two_strengths(at(size, beyond), drawn) for size, drawn in with_runs(d, runs)]
    predicted = np.array([second_strengths(at(size), ORDERS) for size in (*d, *FAR)])
    quantities: list[Quantity] = []
    for order in range(ORDERS):
        ratio = measured[-1][:, order] / predicted[len(d) - 1, order]
        # u^(k+1) over p readouts scatters by p^-1/2, more for higher powers.
        quantities.append(
            mean_of(
                f"strength of order {order} over its prediction",
                ratio,
                AS_PREDICTED,
                1.0,
                allowance=(1 + order) * d[-1] ** -0.5,
            )
        )
        limit = second - order * (0.5 - first) - slower
        grown = np.log(predicted[-1, order] / predicted[-2, order]) / math.log(FAR[1] / FAR[0])
        name = f"exponent of order {order}, predicted at p = {FAR[1]:.0e}"
        region = (limit - 0.02, limit + 0.02)
        quantities.append(exact(name, float(grown), region, limit, allowance=0.02))
    curves = []
    for order in range(ORDERS):
        label = f"order {order}"
        curves.append(mean_curve(label, d, [values[:, order] for values in measured]))
        drawn = predicted[: len(d), order].tolist()
        curves.append(Curve(label, list(d), drawn, theory=True))
    label = r"$|q_k^\top (W_2 - W_1)|$"
    return Findings(quantities, Plot("neurons $p$", label, curves, "log", "log"))


CLAIMS = (
    Claim(
        id="second-step-strengths",
        statement=(
            "The second step holds u^(k+1), u the readout, with a strength that grows as "
            "p^(alpha_2 - k (1/2 - alpha_1))."
        ),
        source=sources.beyond(
            sources.TWO_STEPS,
            "abstract: what the number of outliers counts",
            "strengths, which the abstract does not give",
        ),
        regime=f"{REGIME}; n = 4 d, alpha_1 = alpha_2 = 0.4, shifted tanh",
        rule=(
            "strengths of orders 0, 1, 2 those predicted at this p; their predicted exponents at "
            "p = 10^13 within 0.02 of 0.4, 0.3, 0.2"
        ),
        experiment=partial(strengths, exponents=(0.4, 0.4)),
        fields=NETWORK | {"activation": centred("tanh(z + 0.5)"), "beyond": 0.0, "slower": 0.0},
        controls={
            "steps larger by p^0.1 than theory is told": {"beyond": 0.1},
            "steps smaller by p^0.1 than theory is told": {"beyond": -0.1},
            "exponents smaller by a tenth than those claimed": {"slower": 0.1},
        },
        quick={"d": (60, 200), "runs": (16, 84)},
        full={"d": (125, 400, 1000), "runs": 24},
    ),
)
