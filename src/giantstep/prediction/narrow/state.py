"""The state of a narrow network, its start, labels on points, and mean squared errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import DENSE_START
from giantstep.problem.motion import Motion
from giantstep.problem.network import start_biases, start_readout, start_rows, target_frame
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import (
    known_span,
    typical_span,
    whole_space,
)
from giantstep.simulation.simulate import choose_engine


@dataclass(frozen=True)
class State:
    """A network: coordinates of its rows in an orthonormal basis, readout a, and biases b.

    The first r coordinates are along the target directions, then come other known ones.
    ``biases`` -> b in the steps, of every neuron, or one for all of them; ``readout_biases`` -> b
    in the features that the readout is fitted on.  ``basis`` -> the basis itself, of R^d, where an
    update depends on the axes.  ``velocity`` -> velocities of the rows, with momentum, or what an
    update remembers.
    """

    rows: Float[np.ndarray, "p q"]
    readout: Float[np.ndarray, " p"]
    biases: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(1))
    readout_biases: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(1))
    basis: Float[np.ndarray, "d d"] | None = None
    velocity: object = None

    @property
    def motion(self) -> Motion:
        """The rows and their velocities."""
        return Motion(self.rows, self.velocity)

    def compressed(self, known: int) -> State:
        """The same network in as few coordinates as may be, the ``known`` first ones unchanged."""
        motion = self.motion.compressed(known)
        return replace(self, rows=motion.rows, velocity=motion.velocity)

    def preactivations(self, x: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "p n"]:
        """W x + b on the points."""
        return self.rows @ x.T + self.biases[:, None]


def typical_start(setting: Setting, readout: Float[np.ndarray, " p"] | None = None) -> State:
    """The start with its O(d^-1/2) random overlaps set to zero: what runs average to.

    Rows are of norm one and orthogonal, to each other and to the target, unless overlaps are given;
    the symmetric start pairs row i with row i + p/2.  Unless the readout is given, signs are
    balanced, negative first, as ``canonical_order`` sorts them.
    """
    p = setting.p
    if readout is None:
        if setting.readout_law.fixed and not setting.start.kind.paired:
            readout = start_readout(setting, 0)
        else:
            readout = np.where(np.arange(p) >= p // 2, 1.0, -1.0)
    space = typical_span(setting.target.r, setting.d, setting.inputs.known_directions)
    return State(start_rows(setting, space), readout, velocity=Motion.at_rest(setting))


def start_of_run(setting: Setting, run: int, *, on_axes: bool = False) -> State:
    """The start of one run as the engine that simulates it draws it.

    ``on_axes``: with a basis of R^d, where an update depends on the axes.
    """
    r, d, others = setting.target.r, setting.d, setting.inputs.known_directions
    key = generator(setting.seed, run, Purpose.START, 0)
    readout, drawn = start_readout(setting, run), start_biases(setting, run)
    biases = drawn if setting.bias_at == "start" else np.zeros_like(drawn)
    velocity = Motion.at_rest(setting)
    if choose_engine(setting) == "deferred":
        rows = start_rows(setting, known_span(key, r, d, others))
        return State(rows, readout, biases, drawn, velocity=velocity)
    DENSE_START.refuse(float(setting.p * d), setting)
    rows, directions = dense_start(setting, run)
    if on_axes and not setting.update.kind.turns:
        basis = whole_basis(directions)
        return State(rows @ basis.T, readout, biases, drawn, basis, velocity)
    rows = coordinates(rows @ directions.T, rows @ rows.T)
    return State(rows, readout, biases, drawn, velocity=velocity)


def dense_start(
    setting: Setting, run: int
) -> tuple[Float[np.ndarray, "p d"], Float[np.ndarray, "k d"]]:
    """Rows in R^d as the dense engine draws them, and the directions known from the start."""
    d, others = setting.d, setting.inputs.known_directions
    key = generator(setting.seed, run, Purpose.START, 0)
    frame = target_frame(setting, run)
    rows = start_rows(setting, whole_space(key, frame, others))
    return rows, np.concatenate([frame, np.eye(others, d, d - others)])


def whole_basis(directions: Float[np.ndarray, "k d"]) -> Float[np.ndarray, "d d"]:
    """An orthonormal basis of R^d that begins with these directions."""
    basis = np.linalg.qr(np.concatenate([directions, np.eye(directions.shape[1])]).T)[0].T
    basis[: len(directions)] = directions  # up to signs, which QR is free to choose
    return basis


def coordinates(
    overlap: Float[np.ndarray, "p r"], gram: Float[np.ndarray, "p p"]
) -> Float[np.ndarray, "p q"]:
    """C = [M, S] with C C^T = Q: Cholesky's factor, so that near states have near coordinates.

    A Q - M M^T that is singular has its square root.
    """
    outside = gram - overlap @ overlap.T
    # Rows that span fewer directions leave eigenvalues of the size of rounding.
    rounding = 1e-13 * float(np.trace(gram))
    values, vectors = np.linalg.eigh(outside)
    if values[0] > rounding:
        return np.concatenate([overlap, np.linalg.cholesky(outside)], axis=1)
    kept = values > rounding
    return np.concatenate([overlap, vectors[:, kept] * np.sqrt(values[kept])], axis=1)


def labels_at(
    setting: Setting, points: Float[np.ndarray, "n q"], noise: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """y on the points: f(z) and its noise."""
    columns = [points[:, k] for k in range(setting.target.r)]
    return np.asarray(setting.labels(np.asarray(setting.target(columns), dtype=float), noise))


def second_moment_gap(
    setting: Setting, labels: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"]
) -> float:
    """E y^2, which is known for standard inputs and most of an error, less its quadrature."""
    if not setting.inputs.taken_for_gaussian:
        return 0.0
    known = setting.label_noise.mean_square(setting.target.series.square)
    return known - float(weights @ labels**2)


def squared_error(
    setting: Setting,
    labels: Float[np.ndarray, " n"],
    output: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
) -> float:
    """E (y - output)^2 on weighted points."""
    return float(weights @ (labels - output) ** 2) + second_moment_gap(setting, labels, weights)
