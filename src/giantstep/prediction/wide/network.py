"""The network before the first giant step, in the normalisation that all of this room shares.

The readout is a_i = (rms of a) u_i with E u^2 = 1.  The network is
s sum_i (u_i/sqrt(p)) sigma(w_i.x), s = s_p sqrt(p) rms(a), and step j moves row i by

    (e_j u_i/sqrt(p)) (1/n) sum_mu r_mu sigma'(w_i.x_mu) x_mu,    e_j = s step_size_j.

beta = X^T r_1/n is the direction of step 1, g = W_0^T u/sqrt(p) the linear part of the first
network and t = beta.x on a sample outside the batch (docs/derivations/two_step.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.gaussian.rules import Rule
from giantstep.prediction.labels import label_grid
from giantstep.prediction.wide.seen_inputs import SeenInputs, seen_inputs
from giantstep.problem.activation import ActivationMoments
from giantstep.problem.setting import Setting

SAMPLE_SPACING = {1: 0.004, 2: 0.15, 3: 0.6}
"""Of the grid over the coordinates of the label on the samples of a step: moments of a label that
jumps to 1e-3 on a line, to 1e-2 in the plane and in space."""

COARSE_SPACING = {1: 0.02, 2: 0.4, 3: 0.9}
"""As ``SAMPLE_SPACING`` where two coordinates or more are integrated beside the label's."""


@dataclass(frozen=True)
class ReadoutStatistics:
    """What of a run's readout counts at leading order; without arguments, the typical readout.

    ``norm`` -> |a| over sqrt(p) rms(a); ``total`` -> sum_i a_i/|a|, of order one: the network
    starts with the mean s c_0 times it.
    """

    norm: float = 1.0
    total: float = 0.0

    @classmethod
    def of(cls, setting: Setting, readout: Float[np.ndarray, " p"]) -> ReadoutStatistics:
        """The statistics of one readout."""
        norm = float(np.linalg.norm(readout))
        return cls(norm / readout_norm(setting), float(np.sum(readout)) / norm)


TYPICAL = ReadoutStatistics()


@dataclass(frozen=True)
class Network:
    """The network before the first step, and the first residual r_1 = y - s f_0."""

    setting: Setting
    statistics: ReadoutStatistics = TYPICAL

    @cached_property
    def scale(self) -> float:
        """s = s_p |a|."""
        return self.setting.scale * readout_norm(self.setting) * self.statistics.norm

    @property
    def feedback(self) -> float:
        """s where the residual holds the network's output, 0 where it is the label."""
        return 0.0 if self.setting.labels_only else self.scale

    @property
    def paired(self) -> bool:
        """Whether rows start in pairs (w, u) and (w, -u), which cancel in f_0."""
        return self.setting.start.kind.paired

    @property
    def start_feedback(self) -> float:
        """``feedback`` of the network before the first step, f_0."""
        return 0.0 if self.paired else self.feedback

    @property
    def reused(self) -> bool:
        """Whether all steps take the same samples."""
        return self.setting.batches.kind.same

    def with_steps(self, steps: int) -> Network:
        """The network with so many of the steps, the first ones."""
        if steps == self.setting.steps:
            return self
        sizes = self.setting.step_size[:steps] or 1.0
        return Network(self.setting.vary(steps=steps, step_size=sizes), self.statistics)

    def size(self, step: int) -> float:
        """e_j, counted from 0; 0 for a step that is not taken."""
        return self.scale * self.setting.step_size[step] if step < self.setting.steps else 0.0

    @property
    def noise_ratio(self) -> float:
        """delta = d/n."""
        return self.setting.d / self.setting.n

    @cached_property
    def readout(self) -> Rule:
        """Nodes of the law of u and their weights: an even number, for u = 0 moves nothing."""
        return self.setting.readout_law.rule(8)

    @cached_property
    def inputs(self) -> SeenInputs:
        """The inputs by normals, with label and activation as functions of these."""
        return seen_inputs(self.setting)

    @property
    def moments(self) -> ActivationMoments:
        """Moments of the activation."""
        return self.inputs.activation.moments

    @property
    def gain(self) -> float:
        """c_1 = E sigma', by which a gradient adds up."""
        return self.moments.slope

    @cached_property
    def label(self) -> tuple[float, float, Float[np.ndarray, " r"]]:
        """E y, Var y without noise, and f_1 = E[y z]."""
        series = self.inputs.target.series
        # Labels with their sign flipped count against the others.
        share = 1.0 - 2.0 * self.setting.corruption
        mean = share * float(series.tensor(0))
        return mean, series.square - mean**2, share * series.tensor(1)

    @cached_property
    def label_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``label_rule`` on the grid of a step's samples."""
        return self.label_rule(SAMPLE_SPACING)

    def label_rule(self, spacing: Mapping[int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """z, weights and signs for E over z ~ N(0, I_r) and the sign of y = +-f(z)."""
        points, weights = label_grid(self.inputs.target.r, spacing)
        flipped = self.setting.corruption
        if flipped == 0:
            return points, weights, np.ones(len(points))
        shares = np.concatenate([(1.0 - flipped) * weights, flipped * weights])
        return np.tile(points, (2, 1)), shares, np.repeat([1.0, -1.0], len(points))

    def label_at(self, z: Float[np.ndarray, "m r"]) -> Float[np.ndarray, " m"]:
        """f(z), without noise and flipped signs."""
        return np.asarray(self.inputs.target([z[:, k] for k in range(z.shape[1])]), dtype=float)

    @property
    def offset(self) -> float:
        """s E f_0 = s c_0 sum_i u_i/sqrt(p), one number a run."""
        return self.start_feedback * self.moments.mean * self.statistics.total

    @property
    def residual_mean(self) -> float:
        """E r_1."""
        return self.label[0] - self.offset

    @property
    def noise_square(self) -> float:
        """Variance of what is in r_1 beside the label: the label's noise and s f_0."""
        return self.setting.noise**2 + self.start_feedback**2 * self.moments.variance

    @property
    def own_pull(self) -> float:
        """s (E[z sigma sigma'] - E sigma E[z sigma'] - E[z sigma] E sigma').

        How a neuron's own part of the residual pulls its row back.  The terms that are subtracted
        are in E r_1 and in g, which hold all neurons.
        docs/derivations/closed_system.md, eq. (2).
        """
        return self.start_feedback * self.moments.own_pull

    @property
    def residual_square(self) -> float:
        """R2 = E r_1^2 = (E y - offset)^2 + Var y + noise^2 + s^2 Var sigma."""
        return self.residual_mean**2 + self.label[1] + self.noise_square

    @cached_property
    def target_squares(self) -> Float[np.ndarray, "r r"]:
        """E[r_1^2 z z^T]."""
        points, weights, signs = self.label_points
        shares = weights * (signs * self.label_at(points) - self.offset) ** 2
        return (points.T * shares) @ points + self.noise_square * np.eye(points.shape[1])

    @property
    def gradient_noise(self) -> Float[np.ndarray, "r r"]:
        """delta (E[r_1^2 z z^T] - f_1 f_1^T), d times Cov(X^T r_1/n) along the target."""
        linear = self.label[2]
        return self.noise_ratio * (self.target_squares - np.outer(linear, linear))

    @cached_property
    def target_means(self) -> Float[np.ndarray, "r r"]:
        """E[r_1 z z^T]."""
        points, weights, signs = self.label_points
        shares = weights * (signs * self.label_at(points) - self.offset)
        return (points.T * shares) @ points

    @cached_property
    def gram(self) -> Float[np.ndarray, "m m"]:
        """Gram matrix of (beta, w*_1 .. w*_r, g): also the covariance of (t, z, g.x).

        docs/derivations/two_step.md, eq. (2).
        """
        slope = np.concatenate([self.label[2], [-self.start_feedback * self.moments.linear]])
        gram = np.eye(len(slope) + 1)
        gram[0, 0] = slope @ slope + self.noise_ratio * self.residual_square
        gram[0, 1:] = gram[1:, 0] = slope
        return gram


def readout_norm(setting: Setting) -> float:
    """sqrt(p E a_i^2), the norm of a at the start."""
    return math.sqrt(setting.p) * setting.readout_law.rms(setting.p)


def random_offset(setting: Setting) -> bool:
    """Whether the mean of the network at the start, s c_0 sum_i u_i/sqrt(p), is a random number.

    The sum is N(0, 1): a residual with this mean differs from run to run.
    """
    return (
        setting.steps > 0
        and Network(setting).start_feedback > 0
        and not setting.readout_law.balanced
        and abs(Network(setting).moments.mean) > VANISHING
    )


def neuron_entries(setting: Setting, prune: bool) -> Rule:
    """Entries u of the types of neurons and their weights; of a pair, the positive one.

    ``prune``, for spectra, drops entries that fewer than a tenth of a neuron would have.
    """
    paired = setting.start.kind.paired
    # Partners with u near 0 nearly coincide, and what they add has poles near u = +-i sqrt(lambda):
    # eight nodes give errors of sixteen to 1e-3 at lambda = 1e-3 and to 3e-3 at 1e-5, those of
    # single neurons to 6e-6.  Five give outliers of 36 to 3e-3 and edges to 6e-3.  Of four, the
    # largest stands for a fifth of a neuron at p = 120, and edges were 5 % too high.
    u, weights = setting.readout_law.rule(5 if prune else 8)
    kept = u > 0 if paired else np.full(len(u), True)
    if prune:
        kept = kept & (weights >= 0.1 / setting.p)
    return u[kept], weights[kept] / weights[kept].sum()


def between(
    nodes: Float[np.ndarray, " q"], values: Float[np.ndarray, "q *k"], u: Float[np.ndarray, " p"]
) -> Float[np.ndarray, "p *k"]:
    """Values at u of a smooth function given at the nodes; two nodes are the signs themselves."""
    if len(nodes) == 2:
        return values[(u > nodes.mean()).astype(int)]
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(nodes, values)(np.clip(u, nodes[0], nodes[-1])))
