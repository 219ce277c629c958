"""How far a single run strays from the mean on fresh batches: the covariance V of (M, Q).

    V' = J V J^T + Cov_step,    V_0 from the random start,

J the derivative of the mean map (M, Q) -> (M', Q'), Cov_step what one batch adds
(docs/derivations/fluctuations.md).  V is held by columns F, V = F F^T: each is a displacement of
(M, Q), its image a difference of the map at the state displaced to either side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import root
from giantstep.prediction.narrow.fresh import MeanStep, deflated, mean_square, mean_step
from giantstep.prediction.narrow.points import Quadrature, points_for
from giantstep.prediction.narrow.start import Start, coordinates, labels_at, typical_start
from giantstep.problem.network import coefficients
from giantstep.problem.setting import Setting
from giantstep.problem.starts import STARTS

COLUMNS = (4, 64)
"""Columns of F, at least and at most: exact where (M, Q) has no more entries (p = 8), else as many
random combinations.  64 give a standard deviation to 1/sqrt(128), 9 %; 4 that of one of many rows,
whose errors average out, to 35 %."""

POINTS = (2**10, 2**12)
"""Points of a difference, the same on either side: most of their error falls out of it."""

WORK = 2**22
"""Points times neurons of all differences at all steps of all rows: some tenths of a second."""

MOST_WORK = 2**26
"""What the fewest columns and points may take: some seconds."""

LOG2_SAMPLES = (11, 17)
"""Points of Cov_step, as a power of two, at least and at most."""

LOG2_NUMBERS = 22
"""Points times entries of phi in Cov_step: fourth moments of the labels converge slowly (3 % of a
standard deviation for x1 + He2(x1) x2 at p = 8)."""

IN_CACHE = 2**17
"""Values of neurons on points that are computed together: a megabyte."""

REACH = 0.1
"""Relative displacement of the rows in a difference: the jumps of sigma' pass over a few hundred
points, and what a central difference leaves out is REACH^2."""


@dataclass(frozen=True)
class Effort:
    """Columns, points of a difference and points of Cov_step, the last two as powers of two."""

    columns: int
    log2_coarse: int
    log2_fine: int


def effort(setting: Setting, rows: int) -> Effort:
    """What each of many rows may take."""
    steps = max(setting.steps, 1)
    affordable = WORK // (2 * setting.p * steps * rows)
    columns = min(max(affordable // POINTS[0], COLUMNS[0]), COLUMNS[1])
    points = min(max(affordable // columns, POINTS[0]), POINTS[1])
    fine = LOG2_NUMBERS - math.ceil(math.log2(rows * steps * entries(setting)))
    fewest, most = LOG2_SAMPLES
    return Effort(
        columns=columns,
        log2_coarse=int(math.log2(points)),
        log2_fine=min(max(fine, fewest), most),
    )


@dataclass(frozen=True)
class Deviations:
    """Standard deviations over runs of what one run has after steps 0..T."""

    overlap: Float[np.ndarray, "t p r"]
    norms: Float[np.ndarray, "t p"]
    gram: Float[np.ndarray, "t p p"]


def affordable_rows(setting: Setting) -> int:
    """Rows of a prediction for which deviations are estimated."""
    return MOST_WORK // (2 * COLUMNS[0] * POINTS[0] * setting.p * max(setting.steps, 1))


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

    Squared lengths have 2/d, or none on the sphere; pairs of a paired start share their row.  What
    is given is so, and only directions that are not the target's meet it by chance.
    """
    kind, r, known = STARTS[setting.start], setting.target.r, setting.known
    half = setting.p // kind.copies
    if kind.framed:
        rest = typical_start(setting).rows[:, known:].T / math.sqrt(setting.d)
        along = np.zeros((known - r, len(rest), setting.p, known))
        for other in range(known - r):
            along[other, :, :, r + other] = rest
        count = (known - r) * len(rest)
        none = np.zeros((count, setting.p, setting.p))
        return packed(along.reshape(count, setting.p, known), none)
    columns = np.eye(half * known + half * (half + 1) // 2) / math.sqrt(setting.d)
    overlap, gram = unpacked(columns, half, known)
    diagonal = np.eye(half, dtype=bool)
    gram[:, diagonal] *= 0.0 if kind.unit else math.sqrt(2.0)
    copies = kind.copies
    return packed(np.tile(overlap, (1, copies, 1)), np.tile(gram, (1, copies, copies)))


def deviations(
    setting: Setting,
    overlap: Float[np.ndarray, "t p known"],
    gram: Float[np.ndarray, "t p p"],
    *,
    begin: Start,
    start: Float[np.ndarray, "k m"],
    rows: int = 1,
    seed: int = 0,
) -> Deviations:
    """Standard deviations around the means after every step, from those of the start.

    ``overlap`` is with all directions that are known, those of the target and of the inputs.
    ``begin`` has the readout and the biases, ``start`` are the columns of V_0; ``rows`` is how many
    such predictions share the work.
    """
    p, known = setting.p, setting.known
    key = np.random.default_rng(seed)
    work = effort(setting, rows)
    columns = work.columns
    coarse, fine = (points_for(setting, seed, k) for k in (work.log2_coarse, work.log2_fine))
    factor = fewer(start, columns, key)
    exact = entries(setting) <= columns
    if not exact:  # every column one more deviation, of a run of its own
        factor = np.concatenate([factor, np.zeros((columns - len(factor), entries(setting)))])
    found = [np.sum(factor**2, axis=0)]
    for step in range(setting.steps):
        state = replace(begin, rows=coordinates(overlap[step], gram[step]))
        batch = batch_columns(setting, state, fine, step=step, columns=columns, key=key)
        passed = images(setting, state, factor, quadrature=coarse, step=step)
        factor = fewer(np.concatenate([passed, batch]), columns, key) if exact else passed + batch
        found.append(np.sum(factor**2, axis=0))
    of_overlap, of_gram = unpacked(np.sqrt(np.stack(found)), p, known)
    norms = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    of_squares = np.diagonal(of_gram, axis1=1, axis2=2)
    of_norms = of_squares / (2.0 * np.maximum(norms, np.finfo(float).tiny))
    return Deviations(of_overlap, of_norms, of_gram)


def fewer(
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


def images(
    setting: Setting,
    state: Start,
    factor: Float[np.ndarray, "k m"],
    *,
    quadrature: Quadrature,
    step: int,
) -> Float[np.ndarray, "k m"]:
    """J F, column by column.

    The rows C = [M, R] move by R [K, L/2], R K = dM and R L R^T = dQ - dM M^T - M dM^T, so that
    the same points serve on either side and z stays what it is.
    """
    p, known, rows = setting.p, setting.known, state.rows
    points = quadrature(rows, step)
    seen = deflated(setting, points, labels_at(setting, points.x, points.noise))
    inverse = np.linalg.pinv(rows[:, known:])
    overlap, gram = unpacked(factor, p, known)
    cross = overlap @ rows[:, :known].T
    inner = inverse @ (gram - cross - cross.mT) @ inverse.T
    changes = np.concatenate([inverse @ overlap, 0.5 * inner], axis=2)
    sizes = np.linalg.norm(changes, 2, axis=(1, 2))
    found = np.zeros_like(factor)
    moved = np.flatnonzero(sizes > 0.0)  # the length of a row on the sphere does not
    count = max(IN_CACHE // (2 * p * len(points.x)), 1)
    for some in np.split(moved, range(count, len(moved), count)) if len(moved) else []:
        scales = (REACH / sizes[some])[:, None, None]
        displaced = rows[:, known:] @ (scales * changes[some])
        sides = np.concatenate([rows + displaced, rows - displaced])
        inputs = sides @ points.x.T + state.biases[:, None]
        g = coefficients(setting, inputs, seen.labels, state.readout)
        ends = mean_step(setting, sides, points, step=step, seen=seen, g=g)
        ahead, behind = np.split(packed(ends.overlap, ends.gram), 2)
        found[some] = (ahead - behind) / (2.0 * scales[:, :, 0])
    return found


def batch_columns(
    setting: Setting,
    state: Start,
    quadrature: Quadrature,
    *,
    step: int,
    columns: int,
    key: np.random.Generator,
) -> Float[np.ndarray, "k m"]:
    """Columns of Cov_step: the samples' own shares, and the directions outside.

    Where (M, Q) has more entries than there are ``columns``, so many random combinations of both.

    phi = (eta g_i z_k, eta (g_i P_j + g_j P_i) + eta^2 (d - q)/n g_i g_j) has Cov(phi)/n, where
    P = ((1 - decay) C + eta G) x; the Gaussian part outside the q known directions adds
    eta^4 (d - q)/n^2 (A_ik A_jl + A_il A_jk).
    """
    known, n, eta = setting.known, setting.n, setting.step_size[step]
    points = quadrature(state.rows, step)
    seen = deflated(setting, points, labels_at(setting, points.x, points.noise))
    x = seen.known
    g = coefficients(setting, state.preactivations(points.x), seen.labels, state.readout)
    moved = mean_step(setting, state.rows, points, step=step, seen=seen, g=g)
    outside = setting.d - x.shape[1]
    kept = (1.0 - setting.decay) * state.rows
    along = (kept + eta * moved.mean) @ x.T + 0.5 * eta * outside / n * g
    root_weights = np.sqrt(points.weights / n)
    exact = entries(setting) <= columns
    if exact:
        overlaps = (g[:, None] * x.T[:known]).reshape(-1, len(x))
        grams = [g[i] * along[i:] + g[i:] * along[i] for i in range(setting.p)]
        samples = eta * np.concatenate([overlaps, *grams])
        samples = (samples - (samples @ points.weights)[:, None]) * root_weights
        inside = root(samples @ samples.T).T
    else:
        # Each row of ``signs`` combines the samples' columns: no sample has its own in memory.
        signs = key.choice([-1.0, 1.0], size=(columns, len(x))) / math.sqrt(columns)
        signs = root_weights * signs
        signs -= points.weights * signs.sum(axis=1, keepdims=True)
        overlaps = np.stack([(g * row) @ x[:, :known] for row in signs])
        crosses = np.stack([(g * row) @ along.T for row in signs])
        inside = eta * packed(overlaps, crosses + crosses.mT)
    outer = root(mean_square(points, seen, g))
    free = outer @ (_basis(setting.p) if exact else _drawn(setting.p, columns, key)) @ outer.T
    free *= eta**2 * math.sqrt(outside) / n
    around = packed(np.zeros((len(free), setting.p, known)), free)
    found = np.concatenate([inside, around]) if exact else inside + around
    return found if setting.rows == "free" else _normalised(found, moved)


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


def _drawn(p: int, count: int, key: np.random.Generator) -> Float[np.ndarray, "k p p"]:
    """The same on average over random ones."""
    drawn = key.standard_normal((count, p, p))
    return (drawn + drawn.mT) / math.sqrt(2.0 * count)
