"""The network at the start, and one gradient, sample by sample, for NumPy and for JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.language.functions import NUMPY, Namespace
from giantstep.problem.batches import set_size
from giantstep.problem.frames import directions_in_blocks, frame_shares
from giantstep.problem.losses import residual
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import Given, Space
from giantstep.problem.tables import frame_columns


def coefficients(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    namespace: Namespace = NUMPY,
) -> Any:
    """c (p x n) with sum_mu c_i(x_mu) x_mu the descent direction of neuron i.

    c_i = r s_p a_i sigma'(h_i), h = W x + b (p x n) and r = y - s_p sum_k a_k sigma(h_k) for the
    squared loss; residual = labels drops the network's own output.  A neuron is a row: its samples
    lie side by side in memory.  Preactivations of several networks (k x p x n) give the
    coefficients of each, which may have labels (k x n) and readouts (k x p) of their own.

    docs/theory/index.md, eq. (1).
    """
    if setting.labels_only:
        slopes = setting.activation.derivative(preactivations, namespace)
        return slopes * (setting.scale * readout)[..., None] * labels[..., None, :]
    return network_and_coefficients(setting, preactivations, labels, readout, namespace)[1]


def displaced(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    square_lengths: Callable[[], Any],
    namespace: Namespace = NUMPY,
) -> Any:
    """h + rho |x|^2 c(h): preactivations after a step of size rho on the sample alone.

    They are h itself where gradients are not taken ahead on the sample, and ``square_lengths``, the
    |x|^2 of the samples, are not asked for.

    docs/derivations/lookahead.md, eq. (1).
    """
    if not setting.lookahead.kind.on_sample:
        return preactivations
    c = coefficients(setting, preactivations, labels, readout, namespace)
    return preactivations + setting.lookahead.size * square_lengths()[..., None, :] * c


def network_and_coefficients(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    namespace: Namespace = NUMPY,
) -> tuple[Any, Any]:
    """The network's output s_p sum_k a_k sigma(h_k) on the samples, and c."""
    features, slopes = setting.activation.with_slope(preactivations, namespace)
    output = network_output(setting, features, readout)
    errors = residuals(setting, labels, output, namespace)
    return output, slopes * (setting.scale * readout)[..., None] * errors[..., None, :]


def network_output(setting: Setting, features: Any, readout: Any) -> Any:
    """s_p sum_k a_k sigma(h_k), of a network or of several with a readout of their own each."""
    if readout.ndim == 1:
        return setting.scale * (readout @ features)
    # Of small networks: stacked matrix products take ten times as long.
    return setting.scale * (readout[..., None] * features).sum(axis=-2)


def readout_descent(
    setting: Setting,
    preactivations: Any,
    labels: Any,
    readout: Any,
    namespace: Namespace = NUMPY,
    counts: Any = 1.0,
) -> Any:
    """s_p sum_mu r sigma(h_i), the descent direction of a, where a moves with W; else zero.

    ``counts`` is 0 for samples that do not count.
    """
    if not setting.readout_between.kind.moved:
        return 0 * readout
    features = setting.activation(preactivations, namespace)
    output = network_output(setting, features, readout)
    errors = counts * residuals(setting, labels, output, namespace)
    return setting.scale * (features @ errors[..., None])[..., 0]


def residuals(setting: Setting, labels: Any, output: Any, namespace: Namespace = NUMPY) -> Any:
    """Minus the derivative of the loss in the output f = s_p sum_k a_k sigma(h_k), or y alone."""
    if setting.labels_only:
        return labels
    return residual(setting.loss, labels, output, namespace)


def start_rows(setting: Setting, space: Space) -> Float[np.ndarray, "p q"]:
    """Rows of W at the start, by their coordinates in a space."""
    if setting.start_rows is not None:
        return space.hold(setting.start_rows.values)
    gram = None if setting.start_gram is None else np.array(setting.start_gram)
    return setting.start.kind.draw(space, setting.p, Given(given_overlaps(setting), gram))


def target_frame(setting: Setting, run: int) -> Float[np.ndarray, "r d"]:
    """The target directions of a run in R^d: axes, named columns, or random, by blocks or not."""
    r, d = setting.target.r, setting.d
    named = frame_columns(setting.frame)
    if named is not None and setting.data is not None:
        return np.eye(d)[setting.data.axes(named)]
    # Where directions are alike any frame serves, and the axes spare a matrix product.
    if setting.on_axes or setting.turns or r == 0:
        return np.eye(r, d)
    key = generator(setting.seed, run, Purpose.FRAME)
    shares = frame_shares(setting.frame, setting.inputs, d, r)
    if shares is not None:
        return directions_in_blocks(setting.inputs.blocks(d), shares, r, key)
    return np.linalg.qr(key.standard_normal((d, r)))[0].T


def start_readout(setting: Setting, run: int) -> Float[np.ndarray, " p"]:
    """Entries of a; a paired start gives neuron i + p/2 the opposite of neuron i's."""
    start = setting.start.kind
    key = generator(setting.seed, run, Purpose.START, 1)
    a = setting.readout_law.draw(key, setting.p // start.copies, setting.p)
    return np.concatenate([a, -a]) if start.paired else a


def start_biases(setting: Setting, run: int) -> Float[np.ndarray, " p"]:
    """Biases b of the neurons, N(0, bias^2) and never moved; those of a pair are the same."""
    copies = setting.start.kind.copies
    key = generator(setting.seed, run, Purpose.START, 2)
    return setting.bias * np.tile(key.standard_normal(setting.p // copies), copies)


def chosen_samples(setting: Setting, run: int, step: int) -> Int[np.ndarray, " n"] | None:
    """Which samples of its set a step draws, in order; None where it takes them all."""
    size = set_size(setting.batches, setting.n)
    if size == setting.n:
        return None
    key = generator(setting.seed, run, Purpose.SUBSET, step)
    return np.sort(key.choice(size, setting.n, replace=False))


def moved_readout(
    setting: Setting, readout: Float[np.ndarray, "*k p"], gradient: Float[np.ndarray, "*k p"]
) -> Float[np.ndarray, "*k p"]:
    """a after a step of W on the same batch, where it moves by gradient steps of its own."""
    between = setting.readout_between
    return readout + between.numbers[0] * gradient if between.kind.moved else readout


def given_overlaps(setting: Setting) -> Float[np.ndarray, "p r"]:
    """Overlaps of an orthogonal or given start with the target directions, zero unless given."""
    if setting.start_overlaps is None:
        return np.zeros((setting.p, setting.target.r))
    return np.array(setting.start_overlaps, dtype=float)
