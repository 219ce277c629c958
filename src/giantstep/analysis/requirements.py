"""How many samples methods need to learn a target: one table of exponents, n ~ d^k.

The exponents behind it, beyond leap index and generative exponent:

- generative leaps: the staircase of leaps with any transform of the label in the place of the
  label; the largest is the generative leap exponent (arXiv 2506.05500);
- noise-sensitivity exponent: smallest b >= 1 with E[y^b (z z^T - 1)] != 0 (arXiv 2603.17896, stated
  there for one direction).  With label noise of variance V the law of y depends on z through
  powers f^b/V^(b/2), so that E[G(y)^2] ~ V^-b and the weak-recovery threshold grows as V^b;
- information exponents of shifted and of stretched inputs: of f(z + m) and f((1 + s v v^T) z) for
  a vector m and a direction v of the target's span that are not special.  ArXiv 2502.06443 proves
  that a random shift makes every function of one direction as easy as a linear one; a spike in the
  covariance is treated here by the same rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.labels import LabelSource
from giantstep.analysis.staircase import stages
from giantstep.gaussian.sampling import hermite_averages, multi_indices, sampled_values
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import Presence, information_exponent, tensor_presence
from giantstep.problem.target import Target
from giantstep.records.plain import fields_of

UPPER, LOWER, BOTH, CONJECTURE = "sufficient", "necessary", "exact order", "conjecture"
"""What a row of the table says: that so many samples suffice, that fewer do not, or what is
conjectured."""


@dataclass(frozen=True)
class Exponents:
    """Exponents of a target beyond those of its analysis; None where none was found.

    ``generative_leaps`` are the leaps, in the order in which directions are learned, when every
    transform of the label may be used.
    """

    generative_leaps: tuple[int, ...]
    complete: bool
    noise_sensitivity: int | None
    shifted: int | None
    stretched: int | None


@dataclass(frozen=True)
class Requirement:
    """A row of the table: a method, or a class of methods, and n ~ d^exponent, times log(d) or not.

    ``source`` is the arXiv number of the paper; ``beyond`` it where its statement is extended here.
    ``noise_power`` is the power of the variance V of strong label noise that multiplies n.
    """

    method: str
    learns: str
    exponent: float
    logarithm: bool
    says: str
    source: str
    noise_power: int = 0

    @property
    def samples(self) -> str:
        """The samples as they are written: ``d^1.5``, ``d log d``, ``d V^2`` for noise V."""
        power = "d" if self.exponent == 1 else f"d^{self.exponent:g}"
        noise = {0: "", 1: " V"}.get(self.noise_power, f" V^{self.noise_power}")
        return power + " log d" * self.logarithm + noise

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "method": self.method,
            "learns": self.learns,
            "exponent": self.exponent,
            "logarithm": self.logarithm,
            "says": self.says,
            "source": self.source,
            "noise_power": self.noise_power,
        }


# -- exponents -------------------------------------------------------------------------------------


def exponents(analysis: Analysis, label_powers: int = 6) -> Exponents:
    """The further exponents of a target.

    With fewer ``label_powers`` a direction that y^4 or y^5 shows would seem to need a second leap.
    """
    natural = analysis.target.aligned[0]
    source = LabelSource(natural, max(analysis.label_degree, label_powers))
    leaps, complete = _generative_leaps(source)
    r = natural.r
    # Numbers without a simple ratio: a special shift or direction has measure zero.
    generic = np.sqrt(2.0 + np.arange(r)) - 1.0
    generic = generic / np.linalg.norm(generic)

    shifted = natural.compose(np.eye(r), generic)
    stretched = natural.compose(np.eye(r) + np.outer(generic, generic))
    deformed = _sampled_exponents((shifted, stretched), r)
    return Exponents(
        generative_leaps=leaps,
        complete=complete,
        noise_sensitivity=noise_sensitivity_exponent(natural),
        shifted=deformed[0],
        stretched=deformed[1],
    )


def _generative_leaps(source: LabelSource) -> tuple[tuple[int, ...], bool]:
    """Leaps with all transforms of the label, and whether they end with every direction."""
    listed = stages(source.powers)
    # Powers are exact; bounded transforms are sampled, and only where they could do better.
    if sum(len(s.basis) for s in listed) < source.target.r or max(s.leap for s in listed) > 1:
        listed = stages(source.transforms)
    complete = sum(len(stage.basis) for stage in listed) == source.target.r
    return tuple(stage.leap for stage in listed), complete


def noise_sensitivity_exponent(target: Target, highest: int = 8) -> int | None:
    """Smallest b, up to ``highest``, with E[y^b (z z^T - 1)] != 0."""
    if target.is_polynomial:
        for power in range(1, highest + 1):
            series = target.label_power(power)
            if series is None:
                break
            if tensor_presence(series, 2) is Presence.PRESENT:
                return power
        else:
            return None
    points, labels = sampled_values(target, target.r)
    scaled = labels / np.sqrt(np.mean(labels**2))
    powers = np.array([scaled**power for power in range(1, highest + 1)])
    listed = _sampled_series(powers, points, 2)
    present = (tensor_presence(series, 2) is Presence.PRESENT for series in listed)
    return next((power for power, there in enumerate(present, start=1) if there), None)


def _sampled_exponents(
    functions: Sequence[Callable[[Sequence[Float[np.ndarray, "..."]]], Float[np.ndarray, "..."]]],
    r: int,
    degree: int = 4,
) -> list[int | None]:
    """Information exponents of functions up to a degree, from sampled Hermite coefficients."""
    sampled = [sampled_values(function, r) for function in functions]
    values, points = np.array([each for _, each in sampled]), sampled[0][0]
    return [information_exponent(series) for series in _sampled_series(values, points, degree)]


def _sampled_series(
    values: Float[np.ndarray, "t s n"], points: Float[np.ndarray, "s n r"], degree: int
) -> list[HermiteSeries]:
    """Hermite coefficients of functions up to a degree with their replicates."""
    indices = multi_indices(points.shape[-1], degree)
    means = hermite_averages(points, values, indices)
    return [HermiteSeries(indices, each.mean(axis=0), replicates=each) for each in means]


# -- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Requirements:
    """Exponents of a target and the table of the samples that methods need for it.

    Every row names its paper: giant steps (arXiv 2305.18270, 2402.03220), one-pass descent (arXiv
    2003.10409, 2302.11055, 2305.10633), other inputs (arXiv 2502.06443), bounds and spectral
    methods (arXiv 2403.05529, 2506.05500), first-order methods (arXiv 2405.15480), label noise
    (arXiv 2603.17896).
    """

    exponents: Exponents
    rows: tuple[Requirement, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and values."""
        return fields_of(self.exponents) | {"samples": [row.as_dict() for row in self.rows]}


def sample_requirements(analysis: Analysis) -> Requirements:
    """What each method needs for a target, from the papers that prove or conjecture it.

    Gaussian inputs, a fixed number of directions, d to infinity.  The leaps with transforms of the
    label are those of arXiv 2506.05500, the noise-sensitivity exponent that of arXiv 2603.17896.

    >>> from giantstep import analyze, sample_requirements
    >>> needs = sample_requirements(analyze("He3(x1)"))
    >>> [(row.method, row.samples) for row in needs.rows][:2]
    [('one giant step', 'd^3'), ('steps on a reused batch', 'd')]
    """
    further = exponents(analysis)
    rows = [row for rule in RULES for row in rule(analysis, further)]
    return Requirements(further, tuple(rows))


def _giant_steps(analysis: Analysis, further: Exponents) -> list[Requirement]:
    leap, leaps = analysis.leap_index, analysis.leaps
    if leap is None:
        return []
    rows = [_row("one giant step", "a first direction", leap, BOTH, "2305.18270")]
    learned = sum(len(stage.basis) for stage in analysis.stages)
    if learned == len(analysis.active) and len(leaps) > 1:
        row = _row("several giant steps", "every direction", max(leaps), CONJECTURE, "2305.18270")
        # The conjecture of the paper is about n ~ d; larger batches are its natural extension.
        ours = replace(row, source=f"beyond {row.source}")
        rows.append(row if max(leaps) == 1 else ours)
    reused = len(analysis.reused.bases[-1])
    if reused:
        learns = "every direction" if reused == len(analysis.active) else "some directions"
        rows.append(_row("steps on a reused batch", learns, 1, CONJECTURE, "2402.03220"))
    return rows


def _one_pass(analysis: Analysis, further: Exponents) -> list[Requirement]:
    leap, single = analysis.leap_index, len(analysis.active) == 1
    if leap is None:
        return []
    if single:
        rate = max(leap - 1, 1)
        method = "one-pass descent"
        rows = [_row(method, "the direction", rate, BOTH, "2003.10409", logarithm=leap == 2)]
        smoothed = _row("one-pass, smoothed loss", "the direction", 0.5 * leap, UPPER, "2305.10633")
        return [*rows, smoothed]
    if not analysis.leaps:
        return []
    rate = max(max(analysis.leaps) - 1, 1)
    return [_row("one-pass descent", "every direction", rate, CONJECTURE, "2302.11055")]


def _other_inputs(analysis: Analysis, further: Exponents) -> list[Requirement]:
    """One step where the inputs have a mean, or more variance, along the target's directions."""
    source, single = "2502.06443", len(analysis.active) == 1
    rows = []
    if further.shifted is not None:
        says = UPPER if single and further.shifted == 1 else CONJECTURE
        cited = source if says == UPPER else f"beyond {source}"
        method = "one step, shifted inputs"
        rows.append(_row(method, "a first direction", further.shifted, says, cited))
    if further.stretched is not None:
        method, cited = "one step, spiked inputs", f"beyond {source}"
        rows.append(_row(method, "a first direction", further.stretched, CONJECTURE, cited))
    return rows


def _query_bounds(analysis: Analysis, further: Exponents) -> list[Requirement]:
    rows = []
    if analysis.leap_index is not None and len(analysis.active) == 1:
        method = "correlational queries"
        half = 0.5 * analysis.leap_index
        rows.append(_row(method, "the direction", half, LOWER, "2305.10633"))
    if analysis.generative_exponent is not None and len(analysis.active) == 1:
        half = 0.5 * analysis.generative_exponent
        method = "statistical queries"
        rows.append(_row(method, "the direction", half, LOWER, "2403.05529"))
        method = "low-degree polynomials"
        rows.append(_row(method, "the direction", half, LOWER, "2403.05529"))
        rows.append(_row("partial-trace estimator", "the direction", half, UPPER, "2403.05529"))
    if further.generative_leaps and further.complete and len(analysis.active) > 1:
        half = 0.5 * max(further.generative_leaps)
        rows.append(_row("low-degree polynomials", "every direction", half, LOWER, "2506.05500"))
        rows.append(_row("spectral method", "every direction", half, UPPER, "2506.05500"))
    return rows


def _first_order(analysis: Analysis, further: Exponents) -> list[Requirement]:
    recovery = analysis.weak_recovery
    if recovery is None or not math.isfinite(recovery.threshold):
        return []
    method, learns = "best first-order method", "a first direction"
    rows = [_row(method, learns, 1, BOTH, "2405.15480")]
    power = further.noise_sensitivity
    # E[z | y] = 0: the threshold is that of E[z z^T - 1 | y], and grows with the noise.
    if power is not None and recovery.threshold > 0:
        source = "2603.17896" if len(analysis.active) == 1 else "beyond 2603.17896"
        row = _row("the same, label noise V", learns, 1, BOTH, source)
        says = BOTH if len(analysis.active) == 1 else CONJECTURE
        rows.append(replace(row, noise_power=power, says=says))
    return rows


def _information(analysis: Analysis, further: Exponents) -> list[Requirement]:
    if len(analysis.active) != 1:
        return []
    return [_row("any method, any time", "the direction", 1, UPPER, "2403.05529")]


RULES: tuple[Callable[[Analysis, Exponents], list[Requirement]], ...] = (
    _giant_steps,
    _one_pass,
    _other_inputs,
    _query_bounds,
    _first_order,
    _information,
)
"""Rows of the table, a function for each group of methods."""


def _row(
    method: str,
    learns: str,
    exponent: SupportsFloat,
    says: str,
    arxiv: str,
    *,
    logarithm: bool = False,
) -> Requirement:
    """A row; with fewer than d samples no method learns a direction of R^d."""
    return Requirement(method, learns, max(1.0, float(exponent)), logarithm, says, arxiv)
