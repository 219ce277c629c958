"""What T giant steps learn of a leap l from n = d^kappa fresh samples each: exponents in d.

A row with cosine m ~ d^(-mu) takes a step on the labels.  Along the target it gains m^(l-1) times
the step size, everywhere else noise of length (d/n)^(1/2) times the step size, and no step size
makes more of it than

    m' = max(m, m^(l-1) (n/d)^(1/2)),      mu' = max(0, min(mu, (l - 1) mu - (kappa - 1)/2)).

From mu = 1/2, the cosine of a random row, T steps reach mu = 0 just if kappa is at least

    1 + 1/T                                   at leap 2,
    l - 1 + (l - 2)/((l - 1)^T - 1)           at leap l >= 3,

which is l for one step and tends to l - 1 as T grows.  docs/derivations/higher_leaps.md says what
the output of the network itself changes.
"""

from __future__ import annotations

from fractions import Fraction


def several_steps_exponents(leap: int, kappa: float, steps: int) -> list[float]:
    """Exponent -mu in d of the cosine with the target after each of the steps, at most zero.

    docs/derivations/higher_leaps.md, eq. (1).

    >>> from giantstep.analysis.step_exponents import several_steps_exponents
    >>> several_steps_exponents(2, 1.5, 3)
    [-0.25, 0.0, 0.0]
    """
    half = Fraction(1, 2)
    exponents, mu = [], half
    # In fractions: on the boundary itself rounding would leave less or more than zero.
    gain = half * (Fraction(kappa).limit_denominator(1000) - 1)
    for _ in range(steps):
        mu = max(Fraction(0), min(mu, (leap - 1) * mu - gain))
        exponents.append(float(-mu))
    return exponents


def batch_exponent(leap: int, steps: int) -> Fraction:
    """Smallest kappa at which n = d^kappa samples a step let so many steps learn the leap.

    docs/derivations/higher_leaps.md, eq. (2).

    >>> from giantstep.analysis.step_exponents import batch_exponent
    >>> [str(batch_exponent(3, steps)) for steps in (1, 2, 3)]
    ['3', '7/3', '15/7']
    """
    if leap <= 2:
        return 1 + Fraction(leap - 1, steps)
    return leap - 1 + Fraction(leap - 2, (leap - 1) ** steps - 1)
