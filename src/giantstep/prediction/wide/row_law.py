"""The law of a row after any number of giant steps, given its entry u of the readout.

    row = kept(u) w + sum_k along_k(u) v_k + noise,    |noise|^2 = spread(u),

w as random as at the start and independent of the learned directions v_k, which are orthonormal.
After one step there is one direction, and the numbers are closed (giantstep.prediction.wide.step).
After more, the network's linear part g = W_0^T u/sqrt(p) is in the update R(u), rho = R.g, and made
of the rows: with rows independent of the learned directions, the kernel of the update is

    K_eff(u, u') = R.R' + kept(u) u rho(u') + rho(u) kept(u') u'.

Its eigenfunctions theta_k phi_k(u) under the law of u are sqrt(p) along_k.  Rows, features and
errors all follow from this law.  The first display is docs/derivations/closed_system.md, eq. (9),
the second docs/derivations/two_step.md, eq. (10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.labels import outside_of
from giantstep.prediction.wide.along_target import (
    AlongTarget,
    along_target_after_more,
    along_target_after_one,
)
from giantstep.prediction.wide.both_steps import (
    Learned,
    applies_to,
    learned_of,
    matrix_of_both,
)
from giantstep.prediction.wide.directions import directions_of
from giantstep.prediction.wide.gradient import GradientMatrix, gradient_matrix
from giantstep.prediction.wide.lengths import longer_after_more, longer_after_one
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics, between
from giantstep.prediction.wide.part_limits import ANSWER_IN_ROWS, MOVED, PILED_NOISE
from giantstep.prediction.wide.quantities import network_answer
from giantstep.prediction.wide.runs import statistics_nodes
from giantstep.prediction.wide.step import LearnedStep, learned_step
from giantstep.prediction.wide.update import RowUpdate, update_after
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class RowLaw:
    """The law of rows at given entries u of the readout, E u^2 = 1.

    ``along`` -> along_k(u); ``overlap`` -> v_k.w*_j; ``target`` -> <row, w*_j> on average;
    ``kept`` and ``noise`` -> what is left of the start, and the length of the noise with the sign
    of u: partners of a pair have opposite noise.  The part ``linear_share`` of the noise is a
    matrix that all rows share times w.  The squared length of a row changes with <w, v_1> by
    ``length_slope``, and varies beside by ``length_deviation``/sqrt(d).  ``along_target`` -> what
    rows have along the target beside that average, and ``longer`` -> what the order 1/d adds to the
    squared length.

    docs/derivations/closed_system.md, eq. (9).
    """

    along: Float[np.ndarray, "*u k"]
    overlap: Float[np.ndarray, "k r"]
    target: Float[np.ndarray, "*u r"]
    kept: Float[np.ndarray, "*u"]
    noise: Float[np.ndarray, "*u"]
    linear_share: float
    length_slope: Float[np.ndarray, "*u"]
    length_deviation: Float[np.ndarray, "*u"]
    along_target: AlongTarget
    longer: Float[np.ndarray, "*u"]

    @property
    def square_length(self) -> Float[np.ndarray, "*u"]:
        """Mean squared length of a row, to the order 1/d."""
        return self.random_square + np.sum(self.along**2, axis=-1) + self.longer

    @property
    def random_square(self) -> Float[np.ndarray, "*u"]:
        """Squared length of a row outside the learned directions."""
        return self.kept**2 + self.noise**2


def law_after_one(network: Network, step: LearnedStep, u: Float[np.ndarray, "*u"]) -> RowLaw:
    """The law after the first step, or before it where its size is 0.

    docs/derivations/closed_system.md, eqs. (1), (2), (3), (4), (5) and (6).
    """
    entry = u / math.sqrt(network.setting.p)
    kept = step.kept(entry)
    along = step.shift * entry[..., None]
    return RowLaw(
        along=along,
        overlap=step.overlap,
        target=along * step.overlap[0],
        kept=kept,
        noise=step.noise(entry),
        linear_share=step.linear_share,
        length_slope=2.0 * kept * step.length_slope * entry,
        length_deviation=step.length_deviation * kept * entry,
        along_target=along_target_after_one(network, u, step.size),
        longer=longer_after_one(network, u, step.size),
    )


def weight_law_after_one(network: Network, step: LearnedStep, u: Float[np.ndarray, "*u"]) -> RowLaw:
    """The law of the rows of W themselves, not as features see them: another one for blocks.

    docs/derivations/wide_blocks.md, eqs. (4) and (8).
    """
    law = law_after_one(network, step, u)
    entry = u / math.sqrt(network.setting.p)
    along = step.weight_shift * entry[..., None]
    # What a row keeps of its start differs from block to block: the mean is kept, the rest noise.
    uneven = step.start_growth**2 * (network.inputs.moment(2) - 1.0)
    return replace(
        law,
        along=along,
        overlap=step.weight_overlap,
        target=along * step.weight_overlap[0],
        noise=np.sign(entry) * np.hypot(law.noise, math.sqrt(max(uneven, 0.0)) * entry),
    )


def law_after_more(
    network: Network,
    update: RowUpdate,
    u: Float[np.ndarray, "*u"],
    most_directions: int | None = None,
) -> RowLaw:
    """The law after two steps or more: at the nodes of the readout's law, and between them.

    Beyond ``most_directions``, and where a squared strength is below p/(10 d), directions count as
    noise: rows at the start have p/d along any direction.

    docs/derivations/two_step.md, eq. (10).
    """
    p, d = network.setting.p, network.setting.d
    nodes, weights = network.readout
    effective = independent_rows(network, update)
    directions = directions_of(effective.kernel, effective.target, weights)
    k = len(directions.squares)
    if most_directions is not None:
        k = max(1, min(int(np.sum(directions.squares > 0.1 * p / d)), most_directions))
    weak = np.sum(directions.along[:, k:] ** 2, axis=1) / p
    columns = [directions.along[:, :k], update.target, longer_after_more(network)]
    columns += [update.kept, update.spread + weak]
    at = between(nodes, np.column_stack(columns), u.ravel()).reshape(*u.shape, -1)
    none = np.zeros(u.shape)
    return RowLaw(
        along=at[..., :k] / math.sqrt(p),
        overlap=directions.overlap[:k],
        target=at[..., k:-3] / math.sqrt(p),
        kept=at[..., -2],
        # A spline through squares may fall below zero between the nodes.
        noise=np.sign(u) * np.sqrt(np.maximum(at[..., -1], 0.0)),
        linear_share=0.0,
        length_slope=none,
        length_deviation=none,
        along_target=AlongTarget.between(nodes, along_target_after_more(network), u),
        longer=at[..., -3],
    )


def laws_of_runs(setting: Setting, readouts: Float[np.ndarray, "runs p"]) -> list[RowLaw]:
    """The law of the rows of every run after the setting's last step, given its readout."""
    entries = math.sqrt(setting.p) * readouts / np.linalg.norm(readouts, axis=1, keepdims=True)
    if setting.steps > 1:
        network, updates = Network(setting), updates_of_runs(setting, readouts)
        MOVED.refuse(updates[0].moved(network.readout[1], setting.p), setting)
        ANSWER_IN_ROWS.refuse(network_answer(network), setting)
        if setting.steps > 2:
            PILED_NOISE.refuse(updates[0].noise_added(network.readout[1]), setting)
        return [law_after_more(network, each, u) for each, u in zip(updates, entries, strict=True)]
    statistics = [ReadoutStatistics.of(setting, readout) for readout in readouts]
    return [
        weight_law_after_one(Network(setting, each), learned_step(setting, statistics=each), u)
        for each, u in zip(statistics, entries, strict=True)
    ]


def law_of_features(
    setting: Setting,
    u: Float[np.ndarray, "*u"],
    size: float | None = None,
    statistics: ReadoutStatistics = TYPICAL,
    *,
    prune: bool = False,
) -> tuple[RowLaw, GradientMatrix]:
    """The law of rows that features and errors need, and what the samples do to all of them.

    ``size`` in place of the size of the one step.  ``prune``, for spectra, drops labels that no
    batch has and, after two steps, directions of the label beside those learned.
    """
    if setting.steps > 1:
        network = Network(setting, statistics)
        # The nodes over learned coordinates grow as the power of their number.
        law = law_after_more(network, update_after(network), u, most_directions=3)
        if not prune and applies_to(network):
            return _with_both_steps(network, law, u)
        special = len(law.overlap) + (0 if prune else len(outside_of(law.overlap)))
        return law, GradientMatrix.even(special)
    step = learned_step(setting, size, statistics)
    law = law_after_one(Network(setting, statistics), step, u)
    return law, gradient_matrix(setting, step, statistics, prune)


def _with_both_steps(
    network: Network, law: RowLaw, u: Float[np.ndarray, "*u"]
) -> tuple[RowLaw, GradientMatrix]:
    """The law after two fresh steps with the part of its noise that is linear in a row, and S."""
    nodes, weights = network.readout
    learned = learned_by_two(network, len(law.overlap))
    matrix, carried, strength = matrix_of_both(network, learned)
    square = float(weights @ update_after(network).spread)
    share = min(strength / math.sqrt(square), 1.0) if square > 0 else 0.0
    size = carried.shape[-1]
    at = between(nodes, carried.reshape(len(nodes), -1), u.ravel())
    special = at.reshape(*u.shape, size, size)
    return replace(law, linear_share=share), replace(matrix, carried=special)


def learned_by_two(network: Network, k: int) -> Learned:
    """The ``k`` strongest directions after two fresh steps, and how the samples are in them."""
    weights, update = network.readout[1], update_after(network)
    effective = independent_rows(network, update)
    directions = directions_of(effective.kernel, effective.target, weights)
    # v_k = sum_u weight phi_k(u) R(u)/theta_k
    shares = weights[:, None] * directions.along[:, :k] / directions.squares[:k]
    return learned_of(network, directions.overlap[:k], shares)


def independent_rows(network: Network, update: RowUpdate) -> RowUpdate:
    """The update with the kernel K_eff of rows independent of the directions.

    Along the target rows are independent as they are; a deficit, where the part of K_eff beside it
    is negative, is one direction that the label does not see, without weight in the limit.

    docs/derivations/two_step.md, eq. (10).
    """
    u, weights = network.readout
    start = update.kept * u
    beside = update.kernel - update.target @ update.target.T
    beside += np.outer(start, update.network) + np.outer(update.network, start)
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * beside * root)
    factors = vectors * np.sqrt(np.maximum(values, 0.0)) / root[:, None]
    return replace(update, kernel=factors @ factors.T + update.target @ update.target.T)


def updates_of_runs(setting: Setting, readouts: Float[np.ndarray, "runs p"]) -> list[RowUpdate]:
    """``update_after`` for every run, smooth in its norm and sum: from a few computed ones."""
    nodes = statistics_nodes(setting, readouts, signed=True)
    computed = [update_after(Network(setting, each)) for each in nodes.statistics]
    carried = {
        field.name: nodes.carried([getattr(update, field.name) for update in computed])
        for field in fields(RowUpdate)
    }
    return [
        RowUpdate(**{name: values[run] for name, values in carried.items()})
        for run in range(len(readouts))
    ]
