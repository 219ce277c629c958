"""How many outliers a second step adds where its exponent is not that of the first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import FIRST_LAYER, Fields
from giantstep.papers.claims.quantity import Quantity, exact, mean_of
from giantstep.papers.claims.record import Claim, Findings
from giantstep.papers.claims.two_steps import (
    NETWORK,
    REGIME,
    measured_new,
    new_in_the_limit,
    predicted_new,
    step_size,
    weight_spectrum,
)
from giantstep.papers.claims.update_strengths import AS_PREDICTED
from giantstep.papers.plot import Curve, Plot, mean_curve
from giantstep.prediction.wide.weight_outliers import WeightOutliers, weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

Cell = tuple[float, float]
"""Exponents alpha_1 and alpha_2 of the two steps."""

CELLS: tuple[Cell, ...] = ((0.1, 0.3), (0.2, 0.45), (0.45, 0.2), (0.36, 0.45), (0.45, 0.45))

LIMIT_CELLS: tuple[Cell, ...] = ((0.1, 0.3), (0.2, 0.45), (0.3, 0.45), (0.36, 0.45))
"""Cells whose limits are 0, 1, 2 and 3.  At (0.45, 0.2) and (0.45, 0.45) the predicted number is
not that of the limit, 4 and 9, at any p that a float holds exactly."""

LIMIT_P, LIMIT_MULTIPLE = 10**15, 3.0
"""The width at which the prediction stands for the limit, and the step sizes there, 3 p^alpha.

The strength of order k has the factor 3^(k+1), and the one that falls most slowly in these cells,
as p^-0.11 at (0.36, 0.45), is then below one.
"""


def outliers_on_grid(fields: Fields, *, cells: Sequence[Cell], d: int, runs: int) -> Findings:
    """New outliers of step 2 and their singular values against those predicted at this p.

    The steps that are taken are larger by p^``beyond`` than theory is told.  The limit of the
    number is floor(alpha_2/(boundary - alpha_1)), ``boundary`` 1/2; it is compared with the number
    predicted at p = 10^15, which no simulation reaches.
    """
    given = FIRST_LAYER | dict(fields)
    beyond, boundary, multiple, margin = (
        given.pop(name) for name in ("beyond", "boundary", "multiple", "margin")
    )

    def at(cell: Cell, size: int, factor: float, more: float = 0.0) -> Setting:
        steps = ", ".join(step_size(a + more, factor, given["output_scale"]) for a in cell)
        return Setting(**given | {"d": size, "runs": runs, "spectra": 8, "step_size": steps})

    quantities: list[Quantity] = []
    numbers, predicted = [], []
    for cell in cells:
        theory = weight_outliers(at(cell, d, multiple))[1]
        values, _ = weight_spectrum(simulate(at(cell, d, multiple, beyond)))
        number = predicted_new(theory, margin)
        numbers.append(measured_new(values[:, 2], theory.edge, margin))
        predicted.append(float(number))
        region = (number - 0.5, number + 0.5)
        quantities.append(mean_of(f"new outliers at {cell}", numbers[-1], region, float(number)))
        quantities += _places(cell, values[:, 2], theory, number=number, p=d)
    for cell in LIMIT_CELLS:
        limit = new_in_the_limit(*cell, boundary)
        number = predicted_new(weight_outliers(at(cell, LIMIT_P, LIMIT_MULTIPLE))[1], margin)
        name = f"new outliers at {cell}, by theory alone at p = {LIMIT_P:.0e}"
        quantities.append(exact(name, number, (limit - 0.5, limit + 0.5), float(limit)))
    x = list(range(1, len(cells) + 1))
    curves = [
        mean_curve("simulation", x, numbers),
        Curve("prediction", x, predicted, theory=True, joined=False),
    ]
    label = ", ".join(f"{k}: {cell}" for k, cell in zip(x, cells, strict=True))
    return Findings(quantities, Plot(label, "new outliers of $W$", curves))


def _places(
    cell: Cell,
    values: Float[np.ndarray, "runs m"],
    theory: WeightOutliers,
    *,
    number: int,
    p: int,
) -> list[Quantity]:
    """Singular values of the new outliers over the predicted ones.

    Outlier k + 1 is along the power u^(k+1) of the readout, which scatters over p neurons by
    p^(-1/2).
    """
    places = []
    for k in range(1, number + 1):
        ratio = values[:, k] / theory.singular_values[k]
        name = f"singular value {k + 1} at {cell} over its prediction"
        places.append(mean_of(name, ratio, AS_PREDICTED, 1.0, allowance=p**-0.5))
    return places


CLAIMS = (
    Claim(
        id="two-step-outlier-grid",
        statement=(
            "At every pair of exponents alpha_1 and alpha_2 the number of new outliers of the "
            "second step, up to three, and their singular values are those predicted at this "
            "width; in the limit, by theory alone, the number is floor(alpha_2/(1/2 - alpha_1))."
        ),
        source=sources.beyond(
            sources.TWO_STEPS,
            "abstract: the number of outliers",
            "the width is finite, where the abstract speaks of the limit",
        ),
        regime=(
            f"{REGIME}; n = 4 d, p = d, softplus(z + 1.5) less its mean, step sizes 3 p^alpha_1 "
            "and 3 p^alpha_2. At p = 8192 three are predicted and at p = 400 two. The full size "
            "is meant for a GPU: it takes minutes there and about an hour on 16 cores."
        ),
        rule=(
            "In each of five cells (alpha_1, alpha_2) the mean number of singular values after "
            "step 2 that are 20 % above the predicted edge, less the one of step 1, is the "
            "predicted number and within 1/2 of it, and each of these singular values is within a "
            "fifth of its prediction. In four cells the number predicted at p = 10^15 is "
            "floor(alpha_2/(1/2 - alpha_1)) = 0, 1, 2, 3."
        ),
        experiment=partial(outliers_on_grid, cells=CELLS),
        fields=NETWORK
        | {
            "activation": centred("softplus(z + 1.5)"),
            "multiple": 3.0,
            "margin": 0.2,
            "beyond": 0.0,
            "boundary": 0.5,
        },
        controls={
            "steps larger by p^0.1 than theory is told": {"beyond": 0.1},
            "steps smaller by p^0.1 than theory is told": {"beyond": -0.1},
            "a limit that counts from 0.4 in place of 1/2": {"boundary": 0.4},
        },
        quick={"d": 400, "runs": 16},
        full={"d": 8192, "runs": 6},
        tuned={"multiple": (1.5, 6.0), "margin": (0.1, 0.4)},
    ),
)
