"""The figure of five regimes of n and p (arXiv 2305.18270, the last example of its slides)."""

from __future__ import annotations

from giantstep.analysis.analyze import Analysis, analyze
from giantstep.papers.claims.floors import last_errors
from giantstep.papers.claims.regimes import FIVE, FIVE_REGIMES, sizes_of
from giantstep.papers.figures.record import Reproduction
from giantstep.records.plot import Curve, Plot, mean_curve

ACTIVATIONS = ("softplus", "softplus(z + 2)")
"""Without odd degrees above one, and with coefficients of all degrees."""


def five_regimes(
    seed: int, *, narrow: tuple[int, int], wide: tuple[int, int], square: int, runs: int
) -> list[Plot]:
    """Test errors of growing p in each regime, beside the floor of the activation and of any."""
    sizes = dict(sizes_of(narrow, wide, test_n=(40_000, 40_000)))
    sizes[2, 2] = [
        {"d": square, "p": p, "n": 16 * p, "step_size": "4*p^1.5*d^0.5"}
        for p in (square * square // 2, 2 * square * square)
    ]
    panels = []
    for activation in ACTIVATIONS:
        analysis = analyze(FIVE, activation, label_degree=1)
        x, values = [], []
        for place, regime in enumerate(analysis.regimes, 1):
            grown = sizes[regime.n_exponent, regime.p_exponent]
            labels = {"deflate": regime.n_exponent - 1 if regime.deflated else -1}
            for index, size in enumerate(grown):
                x.append(place + 0.2 * (index - 0.5 * (len(grown) - 1)))
                fields = FIVE_REGIMES | size | labels | {"activation": activation, "seed": seed}
                values.append(last_errors(fields, runs=runs))
        points = mean_curve("simulation, $p$ growing", x, values)
        panels.append(_panel(analysis, points, f"activation {activation}"))
    return panels


def _power(exponent: int) -> str:
    """d^exponent as it is written."""
    return ("1", "d", "d^2")[exponent]


def _panel(analysis: Analysis, points: Curve, title: str) -> Plot:
    places = [float(place) for place in range(1, len(analysis.regimes) + 1)]
    floors = [regime.floor for regime in analysis.regimes]
    any_floors = [regime.floor_any for regime in analysis.regimes]
    return Plot(
        "orders of the batch size and of the number of neurons",
        "test error of the readout (mean square)",
        [
            Curve("lower bound for this activation", places, floors, theory=True, joined=False),
            Curve("for any activation", places, any_floors, theory=True, joined=False),
            points,
        ],
        y_range=(0.0, 3.2),
        title=title,
        x_names=[
            f"$n \\sim {_power(r.n_exponent)}$\n$p \\sim {_power(r.p_exponent)}$"
            for r in analysis.regimes
        ],
    )


FIGURES = (
    Reproduction(
        "five-regimes",
        "Five regimes of $n$ and $p$: what one step and a readout can fit",
        "arXiv 2305.18270",
        (13.0, 5.6),
        (
            "The target is "
            r"$x_1+\mathrm{{He}}_2(x_2)/\sqrt{{2}}+\mathrm{{He}}_2(x_1)x_2/\sqrt{{2}}$ "
            r"$+\,\mathrm{{He}}_4(x_1)\mathrm{{He}}_2(x_2)x_3/\sqrt{{1200}}$ "
            r"$+\,\mathrm{{He}}_2(x_2)\mathrm{{He}}_2(x_3)/10$. "
            r"One step is taken on labels as they are at $n\sim{{d}}$, and on labels without "
            r"their linear part at $n\sim{{d^2}}$. $p$ grows from left to right within a "
            "regime. Points: means over {runs} runs; bars are two standard errors. Dashes: "
            "lower bounds of theory, given the direction that the step learns. softplus has "
            r"no odd degree above one: it cannot fit $\mathrm{{He}}_2(x_1)x_2$ however large "
            "$p$ is."
        ),
        five_regimes,
        quick={"narrow": (300, 60), "wide": (64, 24), "square": 8, "runs": 4},
        full={"narrow": (1000, 120), "wide": (128, 32), "square": 14, "runs": 8},
    ),
)
