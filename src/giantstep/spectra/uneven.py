"""How far features of unequal power raise the largest singular value of noise.

The law of random features takes all neurons as equally strong.  At finite sizes the power of a
neuron, the mean of its square over the samples, differs from neuron to neuron: rows have unequal
lengths, and squares of features have long tails.  See docs/derivations/bulk.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import feature_moments
from giantstep.gaussian.rules import normal_panels, split_panels
from giantstep.problem.activation import Activation


@dataclass(frozen=True)
class UnevenNeurons:
    """``count`` random features of unequal power on ``samples`` samples of ``inputs`` inputs.

    ``linear`` -> c_1^2, ``rest`` -> c_{>1}^2; ``variance`` and ``third`` -> variance and third
    cumulant of the deviations D of a neuron's power, all in one unit of power.

    docs/derivations/bulk.md, eqs. (14) and (15).
    """

    samples: int
    inputs: float
    count: int
    linear: float
    rest: float
    variance: float
    third: float

    def place(self, x: float, deviations: Float[np.ndarray, " p"]) -> float:
        """The eigenvalue z of F^T F/n, in the unit, at the parameter x, which exceeds ``_least``.

        docs/derivations/bulk.md, eq. (15).
        """
        mean = float(np.mean(1.0 / (x - deviations)))
        v = x + self.rest + self.linear / (1.0 - self._coupling * mean)
        return v * (1.0 + self.count / self.samples * (v * mean - 1.0))

    @property
    def _coupling(self) -> float:
        return self.linear * self.count / self.inputs

    def _least(self, deviations: Float[np.ndarray, " p"]) -> float:
        """The x at which v is infinite: the mean of 1/(x - D) times the coupling is one."""
        from scipy.optimize import brentq

        largest, coupling = float(np.max(deviations)), self._coupling
        if coupling <= 1e-12 * self.rest:  # below rounding of the moments
            return largest

        def excess(distance: float) -> float:
            return coupling * float(np.mean(1.0 / (distance + (largest - deviations)))) - 1.0

        # The largest deviation alone has the share 1/count of the mean.
        ends = 0.5 * coupling / len(deviations), 2.0 * coupling
        return largest + float(brentq(excess, *ends, xtol=1e-12 * coupling))

    def edge(self, deviations: Float[np.ndarray, " p"]) -> tuple[float, float]:
        """The x at which z is least, and that z: the edge above neurons of these deviations."""
        from scipy.optimize import minimize_scalar

        least = self._least(deviations)
        size = self.linear + self.rest + abs(least)
        # Far above the spectrum is where x is larger than every term of z.
        most = size * (10.0 + 2.0 * self.count / self.samples + 2.0 * self.count / self.inputs)

        def at(log_distance: float) -> float:
            return math.log(self.place(least + math.exp(log_distance), deviations))

        ends = math.log(1e-9 * size), math.log(most)
        found = minimize_scalar(at, bounds=ends, method="bounded", options={"xatol": 1e-8})
        return least + math.exp(float(found.x)), math.exp(float(found.fun))

    def quantiles(self, probabilities: Float[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
        """Deviations that are exceeded with one minus these probabilities.

        Those of a shifted gamma law with the variance and the third cumulant, or of a normal law
        where the third cumulant is not positive.
        """
        from scipy.special import gammaincinv, ndtri

        deviation = math.sqrt(self.variance)
        if self.third <= 1e-3 * deviation**3:
            return np.asarray(deviation * ndtri(probabilities))
        shape = 4.0 * self.variance**3 / self.third**2
        gamma = gammaincinv(shape, probabilities)
        return np.asarray(deviation * (gamma - shape) / math.sqrt(shape))

    def raised(self, level: float) -> tuple[float, float]:
        """Factors by which uneven neurons raise the edge, and the largest singular value alone.

        The second is for a neuron of a deviation that the largest of all exceeds with probability
        ``level``: where its place is, above the others, or their edge.

        docs/derivations/bulk.md, eq. (16).
        """
        if self.variance == 0:
            return 1.0, 1.0
        even = self.edge(np.zeros(1))[1]
        uneven = self.edge(self.quantiles(_ranks(self.count)))[1]
        others = self.quantiles(_ranks(max(self.count - 1, 1)))
        [largest] = self.quantiles(np.array([1.0 - level / self.count]))
        parameter, alone = self.edge(others)
        if largest > parameter:  # the resolvent of this neuron has a pole above the edge
            alone = self.place(float(largest), others)
        # Of tails so long that their moments are in no sample both may come out below the even one.
        return math.sqrt(max(uneven / even, 1.0)), math.sqrt(max(alone / even, 1.0))


def uneven_neurons(
    activation: Activation, samples: int, inputs: float, count: int, length_variance: float
) -> UnevenNeurons:
    """Random features of an activation, in units of its variance.

    ``length_variance`` -> that of the squared length of rows.

    docs/derivations/bulk.md, eq. (14).
    """
    z, weights = normal_panels(split_panels(np.array(activation.kinks or ()), 18), 32)
    values = np.asarray(activation(z), dtype=float)
    square = (values - weights @ values) ** 2
    # In units of the power, so that no moment overflows; a constant activation has none.
    power = float(weights @ square) or 1.0
    square = square / power
    beyond = float(weights @ square**2) - 3.0
    third = float(weights @ (square - 1.0) ** 3) - 8.0
    # Rows that are shorter and longer by a standard deviation.
    deviation = min(math.sqrt(length_variance), 0.9)
    lengths = np.sqrt(1.0 + deviation * np.array([-1.0, 0.0, 1.0]))
    moments = feature_moments(activation, np.zeros(3), lengths)
    short, rest, long = (float(each) / power for each in moments.rest)
    slope, bend = 0.5 * (long - short), long + short - 2.0 * rest
    return UnevenNeurons(
        samples=samples,
        inputs=inputs,
        count=count,
        linear=float(moments.slope[1]) ** 2 / power,
        rest=rest,
        variance=max(beyond, 0.0) / samples + slope**2,
        third=max(third, 0.0) / samples**2 + 2.0 * deviation * slope**3 + 3.0 * slope**2 * bend,
    )


def _ranks(count: int) -> Float[np.ndarray, " count"]:
    """The middles of so many equal parts of (0, 1)."""
    return (np.arange(count) + 0.5) / count
