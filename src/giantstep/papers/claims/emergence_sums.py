"""A finding about sums of many directions: emergence curves that add up to a power law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from giantstep.papers.claims import sources
from giantstep.papers.claims.quantity import mean_of
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings
from giantstep.papers.claims.scaling_laws import ANYWHERE
from giantstep.prediction.emergence import emergence_law
from giantstep.problem.setting import Setting
from giantstep.records.emergence import emergence
from giantstep.records.plot import Curve, Plot
from giantstep.simulation.simulate import simulate


def emergence_sum(
    setting: Fields,
    *,
    promised: Sequence[float],
    drawn: Sequence[float],
    drawn_step: float,
    r: int,
    ratios: Sequence[int],
    sizes: Fields,
) -> Findings:
    """Exponent in n of the variance that one step leaves, for r directions with weights k^-b.

    ``promised`` has the b of theory, ``drawn`` those of the runs, which take steps of the size
    ``drawn_step``; ``ratios`` are the batches n/d, and ``sizes`` has d, p and the number of runs.
    """
    quantities, curves, x = [], [], [float(ratio) for ratio in ratios]
    for b, other in zip(promised, drawn, strict=True):
        samples = [ratio * sizes["d"] for ratio in ratios]
        base = Setting(f"separable(He2, {r}, {b})", n=samples[0], **setting, **sizes)
        runs = base.vary(target=f"separable(He2, {r}, {other})", step_size=drawn_step)
        left = [emergence_law(base.vary(n=n)).remaining for n in samples]
        measured = emergence([simulate(runs.vary(n=n)) for n in samples])
        expected = float(np.polyfit(np.log(samples), np.log(left), 1)[0])
        name = rf"exponent of the sum at $b={b:g}$"
        quantities.append(mean_of(name, measured.exponents(), ANYWHERE, expected))
        curves.append(Curve(f"$b={b:g}$", x, measured.remaining.tolist()))
        curves.append(Curve(f"$b={b:g}$, theory", x, left, theory=True))
    plot = Plot("$n/d$", "variance that is not learned", curves, "log", "log")
    return Findings(quantities, plot)


CLAIMS = (
    Claim(
        id="emergence-adds-up",
        statement=(
            r"One giant step learns the directions of $\sum_kk^{-b}\mathrm{He}_2(x_k)$ one after "
            "the other as the batch grows. The variance that is not learned falls as the power of "
            r"$n$ that a closed formula gives at the same sizes. In the limit, the power is "
            r"$-(1-1/2b)$."
        ),
        regime="one giant step, hundreds of directions or fewer",
        rule=(
            "The exponents over the batches are those of the formula, within four standard errors "
            "over runs. The limit is derived and no part of the verdict."
        ),
        experiment=emergence_sum,
        setting={
            "activation": "He2",
            "steps": 1,
            "step_size": 1e4,
            "start": "sphere",
            "residual": "labels",
            "readout_n": 0,
            "test_n": 0,
        },
        source=sources.beyond(
            "arXiv 2504.19983",
            "sums of many directions with power-law weights",
            "One giant step is taken, where the paper has one-pass steps of a small size. The link "
            "has information exponent 2, where the abstract has more than 2. The formula leaves "
            "out terms of order $p/d$, which change exponents by up to 0.02.",
        ),
        options={"promised": (1.0, 1.5), "drawn": (1.0, 1.5), "drawn_step": 1e4},
        controls={
            "The weights fall with other powers.": Changes(options={"drawn": (1.5, 1.0)}),
            "The step is small.": Changes(options={"drawn_step": 1.0}),
        },
        quick={"r": 40, "ratios": (10, 20, 40, 80), "sizes": {"d": 800, "p": 80, "runs": 8}},
        full={"r": 60, "ratios": (10, 20, 40, 80), "sizes": {"d": 1500, "p": 150, "runs": 8}},
    ),
)
