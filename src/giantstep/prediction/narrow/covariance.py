"""The covariance V of the state (M, Q) over runs, and what one step on a fresh batch makes of it.

    V' = J V J^T + S,    V_0 from the random start,

J the derivative of the mean map (M, Q) -> (M', Q'), S what one batch adds
(docs/derivations/fluctuations.md).  V is held by columns F, V = F F^T: each is a displacement of
(M, Q), its image a difference of the map at the state displaced to either side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.fresh import MeanStep, Seen, mean_square, mean_step, seen_points
from giantstep.prediction.narrow.points import Quadrature
from giantstep.prediction.narrow.state import State, typical_start
from giantstep.problem.network import coefficients
from giantstep.problem.setting import Setting


def entries(setting: Setting) -> int:
    """Numbers in (M, Q): overlaps and the upper triangle of the Gram matrix."""
    return setting.p * setting.known + setting.p * (setting.p + 1) // 2


def packed(
    overlap: Float[np.ndarray, "k p r"], gram: Float[np.ndarray, "k p p"]
) -> Float[np.ndarray, "k m"]:
    """(M, Q) as one vector: the overlaps, then the upper triangle of the Gram matrix."""
    above = np.triu_indices(gram.shape[-1])
    flat = overlap.reshape(len(overlap), math.prod(overlap.shape[1:]))
    return np.concatenate([flat, gram[:, above[0], above[1]]], axis=1)


def unpacked(
    entries: Float[np.ndarray, "k m"], p: int, r: int
) -> tuple[Float[np.ndarray, "k p r"], Float[np.ndarray, "k p p"]]:
    """The inverse of ``packed``."""
    above = np.triu_indices(p)
    gram = np.zeros((len(entries), p, p))
    gram[:, above[0], above[1]] = gram[:, above[1], above[0]] = entries[:, p * r :]
    return entries[:, : p * r].reshape(-1, p, r), gram


def start_columns(setting: Setting) -> Float[np.ndarray, "k m"]:
    """F of the start: every inner product of rows with rows and target has variance 1/d.

    Squared lengths have 2/d, or none on the sphere; pairs of a paired start share their row.  Given
    overlaps do not vary, and given rows meet only directions outside the target by chance.
    """
    kind, p, r = setting.start.kind, setting.p, setting.target.r
    directions = setting.known  # those of the target, then those of the inputs
    half = p // kind.copies
    if kind.framed:
        outside = typical_start(setting).rows[:, directions:].T / math.sqrt(setting.d)
        along = np.zeros((directions - r, len(outside), p, directions))
        for other in range(directions - r):
            along[other, :, :, r + other] = outside
        count = (directions - r) * len(outside)
        none = np.zeros((count, p, p))
        return packed(along.reshape(count, p, directions), none)
    columns = np.eye(half * directions + half * (half + 1) // 2) / math.sqrt(setting.d)
    overlap, gram = unpacked(columns, half, directions)
    diagonal = np.eye(half, dtype=bool)
    gram[:, diagonal] *= 0.0 if kind.unit else math.sqrt(2.0)
    copies = kind.copies
    return packed(np.tile(overlap, (1, copies, 1)), np.tile(gram, (1, copies, copies)))


def fewer_columns(
    columns: Float[np.ndarray, "k m"], most: int, key: np.random.Generator
) -> Float[np.ndarray, "j m"]:
    """At most ``most`` columns of the same covariance, exactly so where m is no larger."""
    count, size = columns.shape
    if count <= most:
        return columns
    if size <= most:
        return root(columns.T @ columns).T
    signs = key.choice([-1.0, 1.0], size=(most, count))
    return signs @ columns / math.sqrt(most)


def passed_columns(
    setting: Setting,
    state: State,
    columns: Float[np.ndarray, "k m"],
    *,
    quadrature: Quadrature,
    step: int,
    reach: float = 0.1,
    in_cache: int = 2**17,
) -> Float[np.ndarray, "k m"]:
    """J F, column by column: what the covariance V = F F^T before a step passes on.

    The rows C = [M, R] move by R [K, L/2], R K = dM, R L R^T = dQ - dM M^T - M dM^T, so
    that the same points serve on either side and z stays what it is.  ``reach`` is the relative
    displacement of the rows: the jumps of sigma' pass over a few hundred points, and a central
    difference leaves out its square.  ``in_cache`` values of neurons are computed together, a
    megabyte.

    docs/derivations/fluctuations.md, eqs. (3) and (4).
    """
    p, directions, rows = setting.p, setting.known, state.rows
    points = quadrature(rows, step)
    seen = seen_points(setting, points)
    inverse = np.linalg.pinv(rows[:, directions:])
    overlap, gram = unpacked(columns, p, directions)
    cross = overlap @ rows[:, :directions].T
    inner = inverse @ (gram - cross - cross.mT) @ inverse.T
    changes = np.concatenate([inverse @ overlap, 0.5 * inner], axis=2)
    sizes = np.linalg.norm(changes, 2, axis=(1, 2))
    images = np.zeros_like(columns)
    moved = np.flatnonzero(sizes > 0.0)  # the length of a row on the sphere does not
    count = max(in_cache // (2 * p * len(points.x)), 1)
    for some in np.split(moved, range(count, len(moved), count)) if len(moved) else []:
        scales = (reach / sizes[some])[:, None, None]
        displaced = rows[:, directions:] @ (scales * changes[some])
        sides = np.concatenate([rows + displaced, rows - displaced])
        inputs = sides @ points.x.T + state.biases[:, None]
        g = coefficients(setting, inputs, seen.labels, state.readout)
        ends = mean_step(setting, sides, seen, g, step)
        ahead, behind = np.split(packed(ends.overlap, ends.gram), 2)
        images[some] = (ahead - behind) / (2.0 * scales[:, :, 0])
    return images


def batch_columns(
    setting: Setting,
    state: State,
    quadrature: Quadrature,
    *,
    step: int,
    columns: int,
    key: np.random.Generator,
) -> Float[np.ndarray, "k m"]:
    """Columns of S: what the samples of a batch add, and the directions outside.

    Where (M, Q) has more entries than there are ``columns``, so many random combinations of both.

    docs/derivations/fluctuations.md, eq. (2).
    """
    points = quadrature(state.rows, step)
    seen = seen_points(setting, points)
    g = coefficients(setting, state.preactivations(points.x), seen.labels, state.readout)
    moved = mean_step(setting, state.rows, seen, g, step)
    batch = BatchNoise(setting, state, seen, g, moved, setting.step_size[step])
    if entries(setting) <= columns:
        added = batch.columns()
    else:
        added = batch.drawn_of_samples(columns, key)
        drawn = key.standard_normal((columns, setting.p, setting.p))
        added += batch.of_outside((drawn + drawn.mT) / math.sqrt(2.0 * columns))
    return _normalised(added, moved) if setting.normalises_rows else added


@dataclass(frozen=True)
class BatchNoise:
    """What one batch adds to (M, Q) beside the mean: S = Cov(phi)/n + Wishart.

    A sample has phi = (eta g_i z_k, eta (g_i P_j + g_j P_i) + eta^2 (d - q)/n g_i g_j) with
    P = ((1 - decay) C + eta G) x; ``seen`` are the points, ``moved`` is the mean step.

    docs/derivations/fluctuations.md, eq. (2).
    """

    setting: Setting
    state: State
    seen: Seen
    g: Float[np.ndarray, "p n"]
    moved: MeanStep
    eta: float

    @property
    def outside(self) -> int:
        """d - q, directions that are not known."""
        return self.setting.d - self.seen.coordinates.shape[1]

    @property
    def along(self) -> Float[np.ndarray, "p n"]:
        """P + eta (d - q)/(2 n) g, so that phi in Q_ij is eta (g_i along_j + g_j along_i)."""
        rows = (1.0 - self.setting.decay) * self.state.rows + self.eta * self.moved.mean
        per_sample = 0.5 * self.eta * self.outside / self.setting.n
        return rows @ self.seen.coordinates.T + per_sample * self.g

    def columns(self) -> Float[np.ndarray, "k m"]:
        """Columns of S, as many as (M, Q) has entries and those of Q again."""
        return np.concatenate([self.of_samples(), self.of_outside(_basis(len(self.g)))])

    def of_samples(self) -> Float[np.ndarray, "k m"]:
        """A root of Cov(phi)/n."""
        g, x, along = self.g, self.seen.coordinates, self.along
        overlaps = (g[:, None] * x.T[: self.setting.known]).reshape(-1, len(x))
        grams = [g[i] * along[i:] + g[i:] * along[i] for i in range(len(g))]
        phi = self.eta * np.concatenate([overlaps, *grams])
        weights = self.seen.points.weights
        phi = (phi - (phi @ weights)[:, None]) * np.sqrt(weights / self.setting.n)
        return root(phi @ phi.T).T

    def drawn_of_samples(self, columns: int, key: np.random.Generator) -> Float[np.ndarray, "k m"]:
        """So many random combinations of the samples' phi, with the covariance Cov(phi)/n.

        Each row of ``signs`` combines the samples: no sample has a column in memory.
        """
        g, x, weights = self.g, self.seen.coordinates, self.seen.points.weights
        signs = key.choice([-1.0, 1.0], size=(columns, len(x))) / math.sqrt(columns)
        signs = np.sqrt(weights / self.setting.n) * signs
        signs -= weights * signs.sum(axis=1, keepdims=True)
        overlaps = np.stack([(g * row) @ x[:, : self.setting.known] for row in signs])
        along = self.along
        crosses = np.stack([(g * row) @ along.T for row in signs])
        return self.eta * packed(overlaps, crosses + crosses.mT)

    def of_outside(self, matrices: Float[np.ndarray, "k p p"]) -> Float[np.ndarray, "k m"]:
        """Columns of the Wishart part, eta^4 (d - q)/n^2 (A_ik A_jl + A_il A_jk), A = E[g g^T].

        ``matrices`` Y have sum_k Y_ij Y_kl = [i=k][j=l] + [i=l][j=k], exactly or on average.
        """
        outer = root(mean_square(self.seen, self.g))
        added = outer @ matrices @ outer.T
        added *= self.eta**2 * math.sqrt(self.outside) / self.setting.n
        return packed(np.zeros((len(added), len(outer), self.setting.known)), added)


def _normalised(columns: Float[np.ndarray, "k m"], moved: MeanStep) -> Float[np.ndarray, "k m"]:
    """Columns of (M, Q) before rows are normalised, as they are thereafter.

    With M' = M/l, Q' = Q/(l l^T) and u_i = dQ_ii/(2 l_i^2): dM' = dM/l - M' u and
    dQ'_ij = dQ_ij/(l_i l_j) - Q'_ij (u_i + u_j).
    """
    lengths = moved.lengths
    overlap, gram = unpacked(columns, *moved.overlap.shape)
    longer = np.diagonal(gram, axis1=1, axis2=2) / (2.0 * lengths**2)
    return packed(
        overlap / lengths[:, None] - moved.overlap * longer[:, :, None],
        gram / np.outer(lengths, lengths) - moved.gram * (longer[:, :, None] + longer[:, None, :]),
    )


def _basis(p: int) -> Float[np.ndarray, "k p p"]:
    """Y_1, Y_2, .. with sum_k Y_ij Y_kl = [i=k][j=l] + [i=l][j=k]."""
    above, count = np.triu_indices(p), p * (p + 1) // 2
    basis = np.zeros((count, p, p))
    basis[np.arange(count), above[0], above[1]] = 1.0
    return np.where(np.eye(p, dtype=bool), math.sqrt(2.0), 1.0) * np.maximum(basis, basis.mT)
