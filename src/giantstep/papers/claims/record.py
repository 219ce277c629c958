"""A claim of the papers as a record: what it says, how it is measured, what decides it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from giantstep.papers.plot import Plot
from giantstep.records.scaling import scaling_exponent

Verdict = Literal["holds", "fails", "undecided"]

Region = tuple[float, float]
"""The interval a claim puts a quantity into; infinite ends are allowed."""

LEVEL = 0.99
"""Of every interval in a verdict."""

LEARNED: Region = (-0.25, math.inf)
NOT_LEARNED: Region = (-math.inf, -0.25)
"""Exponents in d of a cosine: 0 for a learned direction, -1/2 for a random one; halfway between."""


@dataclass(frozen=True)
class Quantity:
    """A measured number with its interval, and the region where the claim puts it.

    ``expected`` is the number theory gives, where it gives one, and ``error`` the standard error
    of the difference from it.  A count or a p-value has no interval: low = high = measured.
    """

    name: str
    measured: float
    low: float
    high: float
    region: Region
    expected: float | None = None
    error: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Holds if the whole interval is inside the region, fails if it is outside."""
        if self.region[0] <= self.low and self.high <= self.region[1]:
            return "holds"
        if self.high < self.region[0] or self.low > self.region[1]:
            return "fails"
        return "undecided"

    @property
    def deviation(self) -> float | None:
        """(measured - expected) in standard errors, None where there is nothing to compare."""
        if self.expected is None or self.error == 0.0:
            return None
        return (self.measured - self.expected) / self.error


def exact(name: str, value: float, region: Region, expected: float | None = None) -> Quantity:
    """A number without an interval, such as a count or a p-value."""
    return Quantity(name, float(value), float(value), float(value), region, expected)


def mean_of(
    name: str, values: Float[np.ndarray, " runs"], region: Region, expected: float | None = None
) -> Quantity:
    """The mean over runs with its interval of Student's t."""
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=float)
    mean, error = float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
    half = float(stdtrit(len(values) - 1, 0.5 + 0.5 * LEVEL)) * error
    return Quantity(name, mean, mean - half, mean + half, region, expected, error)


def exponent_of(
    name: str,
    sizes: Sequence[float],
    values: Sequence[Float[np.ndarray, " runs"]],
    region: Region,
    expected: float | None = None,
) -> Quantity:
    """The exponent of the median in the size, with its bootstrap interval."""
    found = scaling_exponent(sizes, values, LEVEL)
    # The interval of level 0.99 is 5.15 standard errors wide.
    error = (found.high - found.low) / 5.15
    return Quantity(name, found.exponent, found.low, found.high, region, expected, error)


@dataclass(frozen=True)
class Findings:
    """What an experiment measured."""

    quantities: Sequence[Quantity]
    plot: Plot | None = None

    @property
    def verdict(self) -> Verdict:
        """Fails if a quantity does, holds if all do, undecided otherwise."""
        verdicts = {quantity.verdict for quantity in self.quantities}
        if "fails" in verdicts:
            return "fails"
        return "holds" if verdicts == {"holds"} else "undecided"


Measurement = Callable[..., Findings]
"""Called with the fields of a setting and, as keywords, the sizes; returns Findings."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, the experiment that judges it, and controls that must fail.

    A control changes fields of the setting so that an assumption of the claim is violated;
    ``controls`` has these changes by the reason why the same experiment with the same regions must
    then come out "fails".  Every quantity of the claim must fail in at least one of them: one that
    holds whatever is done to the setting says nothing.
    """

    id: str
    statement: str
    paper: str
    regime: str
    rule: str
    experiment: Measurement
    fields: Mapping[str, Any]
    controls: Mapping[str, Mapping[str, Any]]
    quick: Mapping[str, Any] = field(default_factory=dict)
    full: Mapping[str, Any] = field(default_factory=dict)

    def run(self, full: bool = False, seed: int = 0, control: str | None = None) -> Findings:
        """Measure the claim, or the control of a reason, at the quick or the full size."""
        changes = {} if control is None else self.controls[control]
        fields = {"seed": seed} | dict(self.fields) | dict(changes)
        return self.experiment(fields, **(self.full if full else self.quick))


def quantity_dict(quantity: Quantity) -> dict[str, Any]:
    """Plain values; infinite ends of a region are None."""
    record = asdict(quantity)
    record["region"] = [end if math.isfinite(end) else None for end in quantity.region]
    return record | {"verdict": quantity.verdict, "deviation": quantity.deviation}
