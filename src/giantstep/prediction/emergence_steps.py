"""Which directions of a sum of links many small steps learn, and when: a closed formula.

For sum_k lambda_k g(x_k) with links of information exponent 2 and an activation of degree 2, whose
steps from the labels multiply each direction of the rows by a factor of its own.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from giantstep.prediction.emergence import (
    COUPLED,
    INFORMATION_EXPONENT,
    NARROW,
    direction_weights,
    squares_along,
)
from giantstep.prediction.limits import Limit, must_be, one_of, plain_step, refuse_beyond
from giantstep.problem.network import start_readout
from giantstep.problem.setting import Setting
from giantstep.records.emergence import Emergence, variances_by_direction

EMERGENCE_STEPS = "emergence along small steps"


def noise_of_steps(setting: Setting, steps: int | None = None) -> float:
    """Squared length that the noise of the first steps, or of all, adds to a row of length one."""
    square = setting.target.series.square + setting.noise**2
    bend = setting.activation.derivative_coefficients(2).values[2]
    size = np.array(setting.step_size[:steps]) * setting.scale
    return float(np.sum(size**2) * setting.d * bend**2 * square / setting.n)


def _beyond_degree_two(setting: Setting) -> float:
    """Share of the variance of the activation's slope that is not linear."""
    moments = setting.activation.moments
    spread = moments.slope_square - moments.slope**2
    bend = setting.activation.derivative_coefficients(2).values[2]
    return float(1.0 - bend**2 / spread) if spread > 0.0 else 1.0


LIMITS: tuple[Limit, ...] = (
    must_be("residual", "labels", EMERGENCE_STEPS, lambda s: s.labels_only),
    one_of("start", ("sphere",), EMERGENCE_STEPS),
    must_be("readout_start", "of one size", EMERGENCE_STEPS, lambda s: s.readout_law.one_size),
    one_of("batches", ("fresh",), EMERGENCE_STEPS),
    one_of("deflate", (-1,), EMERGENCE_STEPS),
    one_of("corruption", (0.0,), EMERGENCE_STEPS),
    *plain_step(EMERGENCE_STEPS, {"rows": None}),
    NARROW,
    COUPLED,
    INFORMATION_EXPONENT,
    Limit(
        name="activation beyond degree two",
        quantity=_beyond_degree_two,
        # Coefficients of activations that are not polynomials have errors of this order.
        most=1e-6,
        sentence="activation must have degree 2 for emergence along small steps, "
        "got {setting.activation.name!r}",
        evidence="docs/derivations/scaling.md",
        kind="derived",
    ),
    Limit(
        name="noise of small steps",
        quantity=noise_of_steps,
        most=0.1,
        sentence="the noise of all steps must add at most {most:g} to the squared length of a row, "
        "1 before them, got {value:.3g}. Use more samples a step",
        evidence="tests/prediction/test_emergence_steps.py",
        kind="chosen",
    ),
)


def emergence_steps(setting: Setting) -> Emergence:
    """Shares of the target's directions in the rows' span along many small steps.

    share_k = c G_k/(1 + c (G_k + N_k)), docs/derivations/scaling.md, eqs. (9) to (11).  G_k is the
    factor by which the steps multiply the square of a row's overlap with direction k, N_k a noise,
    c = (p - S)/(d - r - p + S) with the sum S of the shares.  ``needed()`` of the result, over n,
    is the number of steps at which each direction emerges, and ``exponents()`` has that of the sum.

    >>> from giantstep import Setting, emergence_steps
    >>> setting = Setting(
    ...     "separable(He2, 20, 1)", activation="He2", d=1000, n=10**6, p=40, steps=400,
    ...     step_size=0.01, start="sphere", residual="labels", readout_start="ones",
    ...     output_scale=1, readout_n=0, test_n=0,
    ... )
    >>> steps = emergence_steps(setting).needed() / setting.n
    >>> round(float(steps[1] / steps[0]), 1)
    2.0
    """
    refuse_beyond(LIMITS, setting)
    series, d, p, r, n = setting.target.series, setting.d, setting.p, setting.target.r, setting.n
    bend = setting.activation.derivative_coefficients(2).values[2]
    weights = bend * direction_weights(series)
    size = np.array(setting.step_size) * setting.scale
    along = bend**2 * d * (squares_along(series) + setting.noise**2) / n
    # A row with the readout weight a takes steps of the sign of a.
    readout = np.unique(start_readout(setting, 0))
    factors = 1.0 + readout[:, None, None] * size[:, None] * weights
    grown = np.cumprod(np.concatenate([np.ones((len(readout), 1, r)), factors**2], axis=1), axis=1)
    shares = []
    for t in setting.recorded:
        growth = grown[:, t].mean(axis=0)
        # Noise that rows have in common, because they hold the direction: it tilts its image.
        leak = along * np.mean(np.sum(size[:t, None] ** 2 * grown[:, :t], axis=1), axis=0)
        grows, bulk = growth + np.sum(size[:t] ** 2) * along, 1.0 + noise_of_steps(setting, t)
        shares.append(_shares(grows / bulk, leak / bulk, d=d, p=p))
    share, variance = np.array(shares), variances_by_direction(series)
    left = (1.0 - share) @ variance / np.sum(variance)
    return Emergence(
        samples=float(n) * np.array(setting.recorded, dtype=float),
        share=share,
        error=np.zeros_like(share),
        variance=variance,
        left=left[:, None],
        theory=EMERGENCE_STEPS,
    )


def _shares(
    growth: Float[np.ndarray, " r"], leak: Float[np.ndarray, " r"], *, d: int, p: int
) -> Float[np.ndarray, " r"]:
    """Shares for the sum S that they add up to: what is learned leaves p - S rows for the rest."""
    from scipy.optimize import brentq

    r = len(growth)

    def at(total: float) -> Float[np.ndarray, " r"]:
        rows = (p - total) / (d - r - p + total)
        return rows * growth / (1.0 + rows * (growth + leak))

    return at(float(brentq(lambda total: float(np.sum(at(total))) - total, 0.0, min(p, r))))
