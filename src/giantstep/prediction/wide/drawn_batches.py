"""One step on batches that are drawn, for residuals whose few largest ones decide what a run does.

The law of a row after one step is made of means over the samples: of r, r^2, r z, r z z^T and
r^2 z z^T, z the coordinates along the target.  Where residuals have heavy tails a batch does not
have these means, and lengths and overlaps of its rows differ from the mean over runs together.
Given the residuals of a batch the law holds with the means over its own samples.

The derivation is docs/derivations/finite_size.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.network import Network, ReadoutStatistics
from giantstep.prediction.wide.part_limits import TAILS
from giantstep.prediction.wide.row_law import RowLaw, weight_law_after_one
from giantstep.prediction.wide.step import step_of
from giantstep.problem.setting import Setting


def few_samples_decide(setting: Setting) -> bool:
    """Whether the residuals of one step have tails too heavy for means over all samples."""
    return setting.steps == 1 and not TAILS.holds(setting)


def count_of_batches(setting: Setting, *, batches: int = 256, numbers: int = 2**25) -> int:
    """Batches to draw, as many for each run: a mean over 256 is off by a sixteenth of a run.

    At least two, whose difference shows how much a run differs from its mean; fewer than 256 where
    samples or rows would have more than so many numbers, which take some seconds.
    """
    r = setting.target.r
    most = numbers // max(setting.n * (r + 2), 2 * setting.p * r)
    return setting.runs * max(2, min(math.ceil(batches / setting.runs), most // setting.runs))


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnBatch(Network):
    """The network on one batch: means over its samples in the place of expectations.

    ``coordinates`` -> z and ``residuals`` -> r_1 of the samples.

    docs/derivations/finite_size.md, eq. (7).
    """

    coordinates: Float[np.ndarray, "n r"]
    residuals: Float[np.ndarray, " n"]

    @classmethod
    def draw(cls, network: Network, key: np.random.Generator) -> DrawnBatch:
        """A batch; the network's own output is normal, and independent of the target."""
        setting = network.setting
        z = key.standard_normal((setting.n, setting.target.r))
        label = network.label_at(z)
        label = np.where(key.random(setting.n) < setting.corruption, -label, label)
        noise = math.sqrt(network.noise_square) * key.standard_normal(setting.n)
        return cls(
            setting,
            network.statistics,
            coordinates=z,
            residuals=label - network.offset + noise,
        )

    @cached_property
    def label(self) -> tuple[float, float, Float[np.ndarray, " r"]]:
        """Mean and variance of r_1, and its mean with z."""
        mean, r = float(np.mean(self.residuals)), self.residuals
        return mean, float(np.var(r)), r @ self.coordinates / len(r)

    @property
    def residual_mean(self) -> float:
        """The mean of r_1."""
        return self.label[0]

    @property
    def residual_square(self) -> float:
        """The mean of r_1^2."""
        return self.label[0] ** 2 + self.label[1]

    @cached_property
    def target_squares(self) -> Float[np.ndarray, "r r"]:
        """The mean of r_1^2 z z^T."""
        return self._mean_of_pairs(self.residuals**2)

    @cached_property
    def target_means(self) -> Float[np.ndarray, "r r"]:
        """The mean of r_1 z z^T."""
        return self._mean_of_pairs(self.residuals)

    @property
    def gradient_noise(self) -> Float[np.ndarray, "r r"]:
        """Nothing: the batch is known, and its mean of r_1 z is in ``label``."""
        return np.zeros((self.coordinates.shape[1],) * 2)

    @property
    def largest_share(self) -> float:
        """sum r_1^4/(sum r_1^2)^2: 1/n for equal residuals, 1 where one sample is all of them."""
        squares = self.residuals**2
        return float(np.sum(squares**2) / np.sum(squares) ** 2)

    def _mean_of_pairs(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "r r"]:
        return (self.coordinates.T * weights) @ self.coordinates / len(weights)


def left_out_of_batches(setting: Setting, *, batches: int = 64) -> float:
    """What Gaussian noise of the single rows leaves out of their lengths and cosines, relative.

    Half of the mean ``largest_share``: measured, not derived.  Products of Hermite polynomials, 60
    runs or more: at shares of .16 and .21 cosines are 1 to 6 % and lengths 2 to 9 % off, at .50
    cosines of sin are 14 to 26 % off.
    """
    network = Network(setting)
    keys = (np.random.default_rng([setting.seed, row]) for row in range(batches))
    return 0.5 * float(np.mean([DrawnBatch.draw(network, key).largest_share for key in keys]))


def laws_of_batches(setting: Setting, readouts: Float[np.ndarray, "rows p"]) -> list[RowLaw]:
    """The law of the rows after the one step of a setting, each readout on a batch of its own."""
    laws = []
    for row, readout in enumerate(readouts):
        network = Network(setting, ReadoutStatistics.of(setting, readout))
        batch = DrawnBatch.draw(network, np.random.default_rng([setting.seed, row]))
        u = math.sqrt(setting.p) * readout / np.linalg.norm(readout)
        laws.append(weight_law_after_one(batch, step_of(batch), u))
    return laws
