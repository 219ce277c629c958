"""Numbers of a setting by which the theories of wide networks are bounded.

Each is computed from the network, its first step and its update; the limits (limits.py) say up to
which of their values a theory serves, and the modules that predict refuse beyond them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.accuracy import VANISHING
from giantstep.prediction.wide.batch_nodes import kappa_square
from giantstep.prediction.wide.gradient import gradient_matrix
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.prediction.wide.seen_inputs import seen_inputs
from giantstep.prediction.wide.slopes import start_rule
from giantstep.prediction.wide.step import learned_step
from giantstep.prediction.wide.update import batch_of, update_after
from giantstep.problem.frames import block_profiles
from giantstep.problem.setting import Setting

MOST_STEPS = 4
"""Steps up to which the recursion of fresh steps was compared with simulation."""


def many_steps(setting: Setting, least: int = 2) -> bool:
    """Whether there are so many steps or more, and no more than a theory has."""
    most = MOST_STEPS if setting.batches.kind.fresh else 2
    return least <= setting.steps <= most


def fitted_on_batch(setting: Setting) -> bool:
    """Whether the readout is fitted on the samples of the last step itself."""
    return setting.readout_on_last and setting.steps > 0


# -- rows -----------------------------------------------------------------------------------------


def turn(setting: Setting) -> float | None:
    """How far the target's degree 2 turns a row outside the learned direction in the first step.

    Row i gains eta a_i E[sigma'(z) z] T_2 w_i, a multiple of its own part along V*, at a_i^2 = 1/p.

    docs/derivations/quadratic.md, eq. (5).
    """
    if setting.steps == 0:
        return None
    kept = 1.0 - 2.0 * setting.corruption
    inputs = seen_inputs(setting)
    curvature = kept * inputs.target.series.tensor(2)
    step = learned_step(setting)
    along = step.overlap
    length = float(np.linalg.norm(along))
    if length > VANISHING:
        outside = np.eye(setting.target.r) - along.T @ along / length**2
        curvature = outside @ curvature @ outside
    tilt = inputs.activation.moments.tilt
    largest = float(np.max(np.abs(np.linalg.eigvalsh(curvature))))
    return step.size / math.sqrt(setting.p) * abs(tilt) * largest


def noise_of_steps(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> float | None:
    """Square length that the noise of the steps adds to the rows, in what they keep of theirs.

    None before any step.
    """
    if setting.steps == 0:
        return None
    if setting.steps == 1:
        noise = learned_step(setting, statistics=statistics).noise_square / setting.p
        return noise * seen_inputs(setting).moment(2)
    network = Network(setting)
    return update_after(network).noise_added(network.readout[1])


def _one_step_of_even_inputs(setting: Setting) -> bool:
    """Whether noise longer than the rows was compared: one step, inputs of equal variance."""
    return setting.steps <= 1 and not setting.inputs.in_blocks


def noise_of_one_step(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> float | None:
    """``noise_of_steps`` of one step, None for more and for inputs in blocks."""
    return noise_of_steps(setting, statistics) if _one_step_of_even_inputs(setting) else None


def noise_beside_one_step(
    setting: Setting, statistics: ReadoutStatistics = TYPICAL
) -> float | None:
    """``noise_of_steps`` of several steps and for inputs in blocks, None for one plain step."""
    return None if _one_step_of_even_inputs(setting) else noise_of_steps(setting, statistics)


def noise_by_samples(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> float | None:
    """d/n times the noise of one step, None where no part of it is linear in a row."""
    noise = noise_of_one_step(setting, statistics)
    if noise is None or learned_step(setting, statistics=statistics).linear_share == 0.0:
        return None
    return noise * setting.d / setting.n


def noise_of_more_steps(setting: Setting) -> float | None:
    """``noise_of_steps`` of three steps or more, None for fewer."""
    return noise_of_steps(setting) if many_steps(setting, 3) else None


def lengths_moved(setting: Setting) -> float | None:
    """By how many of their lengths two steps or more move the rows, root mean square."""
    if not many_steps(setting):
        return None
    network = Network(setting)
    return update_after(network).moved(network.readout[1], setting.p)


def carrying_axes(setting: Setting) -> float:
    """Number of equal axes whose inputs would make a step as even: d for N(0, I)."""
    return seen_inputs(setting).carrying(setting.d, setting.steps)


def fewest_axes(setting: Setting) -> float | None:
    """Axes of the smallest block, None where there are no blocks."""
    inputs = setting.inputs
    return float(np.min(inputs.blocks(setting.d).sizes)) if inputs.in_blocks else None


def axes_beside_target(setting: Setting) -> float | None:
    """Axes of the smallest block that target directions are put into, None if they are random."""
    inputs, frame = setting.inputs, setting.frame
    if not inputs.in_blocks or frame == "random":
        return None
    profiles = block_profiles(frame, inputs, setting.d, setting.target.r)
    return float(np.min(inputs.blocks(setting.d).sizes[np.any(profiles > 0.0, axis=0)]))


def left_out(setting: Setting) -> float:
    """What the leading order leaves out, relative, as a standard deviation: of order 1/d and 1/p.

    Measured, not derived (benchmarks/finite_size.py): over 18 settings of one step at d = 100, 200,
    400 the root mean square deviation of features' outliers is 3.1, 3.0, 4.1 over d, that of
    lengths, errors and outliers of W below 3.9 over d.  Two steps of little noise, 26 settings of
    benchmarks/hunt.py at d = 100 to 300: overlaps, lengths and outliers of W and of the features
    below 2.7 over d.  Steps that move rows by up to 7,000 times their length: none of 48 settings
    disagreed.  Errors at p, readout_n ~ d^2 and d = 20 to 30: train 2.1 and test 0.6 over d.

    Where the noise of two steps adds 0.2 to 1 of what rows keep of their square length, lengths are
    5 over d off, outliers of W 9, of the features 4, train errors 12 (14 random settings); beyond,
    lengths 20 and outliers of W 50 (34 settings).  Of few rows, 31 had squared lengths 8 % off
    after two steps at d = 609 without the own part of the output, which is left out of pairs and of
    used batches.  For inputs in blocks d is the number of axes that carry the step:
    tests/prediction/wide/test_wide_blocks.py.
    """
    over_d = 4.0
    if many_steps(setting):
        network = Network(setting)
        added = update_after(network).noise_added(network.readout[1])
        over_d = 60.0 if added > 1.0 else 12.0 if added > 0.2 else 4.0
    inputs = seen_inputs(setting)
    # What features see of a label's degree 2 along directions of large variance.
    bent = float(np.max(inputs.along_target(2) / inputs.along_target(1))) ** 2
    return max(over_d / carrying_axes(setting), bent / setting.d, 2.0 / setting.p)


def left_out_of_errors(setting: Setting) -> float:
    """What the leading order leaves out of the readout's errors, relative: more after two steps.

    Measured, not derived (benchmarks/finite_size.py), after two fresh steps in 30 random settings
    at d = 100 with labels of degree 2: root mean squares of 1.2 over d for test and train errors.
    The largest are 4 and 7 over d, with sampling errors of 1.3 and 3.  Where little error is left
    it is more: 13 over d for tanh(2 x1) at d = 113, of which a sixteenth is left.  Reused batches
    are predicted with noise that is the same in all directions: fresh ones were then 8 over d off.
    On the batch of one step (benchmarks/own_batch.py, d = 100 to 140, 58 settings) root mean
    squares are 1.5 over d for test errors and 7 for train errors.  A second draw (57 settings, d to
    300) has 1.5 and 3.6 with given penalties, a third one (55 settings) below 1 and 3.5.  Of two
    steps (31 settings) train errors have 2.2; test errors have 5.0, of which two settings make all:
    25 % where a fourteenth of the label is left, and 7 % at a noise of 0.5.
    """
    over_d = 12.0 if many_steps(setting) else 7.0 if fitted_on_batch(setting) else 0.0
    return max(left_out(setting), over_d / setting.d)


def own_pull(setting: Setting) -> float | None:
    """c s c_1, by which the network's own output shortens rows along the readout in one step.

    0 where the noise of the mean gradient makes up for it, on new samples and on the batch; None
    unless the readout is fitted on the batch of one step.
    """
    if not fitted_on_batch(setting) or setting.steps != 1:
        return None
    network, step = Network(setting), learned_step(setting)
    moments = network.moments
    pull = step.size * moments.slope * network.start_feedback * moments.linear
    least = min(kappa_square(network, step, on_batch=on_batch) for on_batch in (False, True))
    return pull if least < 0.0 else 0.0


def own_output_share(setting: Setting) -> float:
    """Share of E r_1^2 that the fluctuation of the network's own output makes up at the start."""
    network = Network(setting)
    own = network.start_feedback**2 * network.moments.variance
    return own / network.residual_square


def directions_before(setting: Setting) -> float:
    """Directions along which the first of two steps moves rows, as samples of the second see it."""
    return float(batch_of(Network(setting)).coordinates.shape[1])


# -- residuals ------------------------------------------------------------------------------------


def network_answer(network: Network) -> float:
    """Root mean square of s M over that of r_1: M = e_1 (c_1^2 t + [reused] delta E sigma'^2 r_1).

    t = beta.x of variance b2, whose covariance with r_1 is |E[r_1 x]|^2.
    """
    moments, residual = network.moments, network.residual_square
    along = network.gain**2
    itself = network.noise_ratio * (moments.slope_variance + along)
    itself *= network.reused
    learned = float(np.sum(network.gram[0, 1:] ** 2))
    square = along**2 * network.gram[0, 0] + 2.0 * along * itself * learned + itself**2 * residual
    return network.feedback * network.size(0) * math.sqrt(square / residual)


def residual_tails(setting: Setting, statistics: ReadoutStatistics = TYPICAL) -> float | None:
    """E r^4/(n (E r^2)^2), the relative variance of the mean of r^2; None before any step.

    S = X^T diag(r) X/n enters a spectrum by the moments of r, which few samples make.
    """
    if setting.steps == 0:
        return None
    step = learned_step(setting, statistics=statistics)
    return gradient_matrix(setting, step, statistics).kurtosis / setting.n


# -- a second direction, where the first step finds none ------------------------------------------


@dataclass(frozen=True)
class LabelPowers:
    """Moments of the noisy label: E y^2, E y^3, E y^4, E[y^2 z], E[y^2 z z^T], E[y (z z^T - 1)]."""

    second: float
    third: float
    fourth: float
    linear: Float[np.ndarray, " r"]
    spread: Float[np.ndarray, "r r"]
    hessian: Float[np.ndarray, "r r"]


def label_powers(network: Network) -> LabelPowers:
    """Moments of y = f(z) + noise on the nodes of the label."""
    mean, variance, _ = network.label
    points, weights, signs = network.label_points
    y, noise = signs * network.label_at(points), network.setting.noise**2
    shares = weights * (y**2 + noise)
    return LabelPowers(
        second=variance + mean**2 + noise,
        third=float(weights @ (y**3 + 3.0 * noise * y)),
        fourth=float(weights @ (y**4 + 6.0 * noise * y**2 + 3.0 * noise**2)),
        linear=shares @ points,
        spread=(points.T * shares) @ points,
        hessian=(points.T * (weights * y)) @ points - mean * np.eye(points.shape[1]),
    )


def second_direction(
    network: Network, powers: LabelPowers
) -> tuple[Float[np.ndarray, " r"], float]:
    """Squares of Q along each w*_k and of Q off beta, reused batches, over delta^2."""
    activation = network.setting.activation
    h, weights = start_rule(activation.kinks or ())
    slopes = np.asarray(activation.derivative(h), dtype=float)
    # kappa = E[sigma' sigma''] = E[z sigma'^2]/2
    kappa = 0.5 * float(weights @ (h * slopes**2))
    # (Q.w*_k)^2/delta^2 = kappa^2 M_k^2
    signal = kappa**2 * powers.linear**2
    # 2 c_1 c_2 q, the part of t x; tilt = 2 c_2.
    plain = (network.gain * network.moments.tilt * powers.second) ** 2
    # delta kappa^2 (E y^4 - (E y^3)^2/q), the label of a sample itself
    itself = kappa**2 * (powers.fourth - powers.third**2 / powers.second)
    return signal, float(signal.sum()) + plain + network.noise_ratio * itself


def linear_part(setting: Setting) -> float:
    """|E[y z]| over the root mean square label."""
    network = Network(setting)
    return float(np.linalg.norm(network.label[2])) / math.sqrt(label_powers(network).second)


def size_of_second_direction(setting: Setting) -> float:
    """Square of Q off beta in units of E sigma'^2 and E y^2."""
    network = Network(setting)
    powers = label_powers(network)
    unit = (network.moments.slope_square * powers.second) ** 2
    return second_direction(network, powers)[1] / unit
