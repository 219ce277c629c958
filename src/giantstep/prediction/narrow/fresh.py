"""Several giant steps on fresh batches: exact recursion for the mean overlaps and Gram matrix.

With coordinates C (p x q, the first r columns M = W W*^T), Q = C C^T, x ~ N(0, I_q), or stretched
along a spike, whose direction outside the target then is known like those of the target, g the
coefficient of x in a neuron's update (of any loss, on transformed labels, with the neuron's bias),
k = 1 - decay, and G = E[g x], A = E[g g^T], B = E[g g^T |x|^2]:

    E[M'] = k M + eta G[:, :r]
    E[Q'] = k^2 Q + k eta (G C^T + C G^T) + eta^2 H,  H = (1 - 1/n) G G^T + (B + (d - q) A)/n

for one step from a given state, at any n and d, where a moves too by the mean of its gradient; the
next state is the mean.  Fluctuations around it
are of relative order n^(-1/2) and shift the following means by order 1/n.  To the same order
normalised updates are F G and F H F, F = diag(H)^(-1/2), orthogonal ones the same with F = H^(-1/2)
on its range (up to p/d, which 320 runs at p/d = 1/25 did not show, and to what ``unsteadiness``
says of heavy tails), and normalised rows are divided by the roots of the diagonal of E[Q'].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.prediction.narrow.evolution import Evolution, direction_cosines
from giantstep.prediction.narrow.points import Points, Quadrature, points_for
from giantstep.prediction.narrow.state import State, coordinates, labels_at, squared_error
from giantstep.prediction.narrow.velocity import MeanGradient, moved_with_velocity
from giantstep.problem.network import (
    coefficients,
    displaced,
    moved_readout,
    network_and_coefficients,
    readout_descent,
)
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Seen:
    """Points as a step sees them: ``labels`` are ``outcomes`` y after transform and deflation.

    ``coordinates`` are x and the direction that a deflation reveals, ``pulled`` is the unit vector
    of coefficients that it used, None without one; ``outside`` are the squared lengths outside the
    coordinates.
    """

    points: Points
    outcomes: Float[np.ndarray, " n"]
    coordinates: Float[np.ndarray, "n k"]
    labels: Float[np.ndarray, " n"]
    outside: Float[np.ndarray, " n"]
    pulled: Float[np.ndarray, " n"] | None = None


def seen_points(setting: Setting, points: Points) -> Seen:
    """What a step sees of the points.

    Fitting beta = mean (y - E y) x reveals one direction outside the span, along which a sample
    has the component sqrt((d - q)/n) v + e, v = (y - E y)/sd (docs/derivations/deferred.md).

    docs/derivations/deferred.md, eq. (5).
    """
    x, weights = points.x, points.weights
    outcomes = labels_at(setting, x, points.noise)
    labels = setting.label_transform(outcomes)
    if setting.deflate < 0:
        return Seen(points, outcomes, x, labels, points.outside(setting))
    centred = labels - weights @ labels
    if setting.deflate == 0:
        return Seen(points, outcomes, x, centred, points.outside(setting))
    size = math.sqrt(float(weights @ centred**2))
    pull = math.sqrt((setting.d - x.shape[1]) / setting.n)
    unit = centred / size
    revealed = pull * unit + points.spare
    beta = (weights * centred) @ x
    residual = centred - x @ beta - size * pull * revealed
    outside = np.full(len(x), setting.d - x.shape[1] - 1.0)
    coordinates = np.concatenate([x, revealed[:, None]], axis=1)
    return Seen(points, outcomes, coordinates, residual, outside, unit)


def seen_coefficients(
    setting: Setting, state: State, seen: Seen, inputs: Float[np.ndarray, "p n"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "p n"], Float[np.ndarray, "p n"]]:
    """The network's output on the points, where gradients are taken, and the coefficients there.

    docs/derivations/lookahead.md, eq. (1).
    """
    output, g = network_and_coefficients(setting, inputs, seen.labels, state.readout)
    if not setting.lookahead.kind.on_sample:
        return output, inputs, g
    ahead = displaced(
        setting,
        inputs,
        seen.labels,
        state.readout,
        lambda: np.sum(seen.coordinates**2, axis=1) + seen.outside,
    )
    return output, ahead, np.asarray(coefficients(setting, ahead, seen.labels, state.readout))


@dataclass(frozen=True)
class Drift:
    """Means of a step: G along the known directions, G C^T, and H, the gradients' Gram matrix."""

    pull: Float[np.ndarray, "*k p known"]
    cross: Float[np.ndarray, "*k p p"]
    gradient: Float[np.ndarray, "*k p p"]


@dataclass(frozen=True)
class MeanStep:
    """One step from a given state, in the mean over batches.

    ``mean`` is G = E[g x]; ``overlap`` (with all known directions) and ``gram`` are what the step
    makes of the state, ``lengths`` what it divides the rows by: one where they are free.
    """

    mean: Float[np.ndarray, "*k p q"]
    drift: Drift
    overlap: Float[np.ndarray, "*k p known"]
    gram: Float[np.ndarray, "*k p p"]
    lengths: Float[np.ndarray, "*k p"]


def mean_drift(
    setting: Setting,
    rows: Float[np.ndarray, "*k p q"],
    seen: Seen,
    g: Float[np.ndarray, "*k p n"],
) -> tuple[Float[np.ndarray, "*k p m"], Drift]:
    """G = E[g x] and the means of a step from ``rows``, of one network or several.

    docs/derivations/tangent.md, eqs. (1) and (2).
    """
    weights, x = seen.points.weights, seen.coordinates
    weighted = g * weights
    mean, product = seen.points.mean_and_square(weighted, x)
    # B + (d - q) A, in one product
    spread = (g * (weights * (np.sum(x**2, axis=1) + seen.outside))) @ g.mT
    if seen.pulled is not None:
        spread -= (setting.d - x.shape[1]) * _pulled(seen.pulled, weighted)
    if setting.gradient.kind.tangent:
        inner = rows @ x[:, : rows.shape[-1]].mT
        spread -= _along_rows(rows, weighted, g, inner)
        mean, product = _without_rows(mean, product, rows)
    return mean, Drift(
        pull=mean[..., : setting.known],
        cross=mean[..., : rows.shape[-1]] @ rows.mT,
        gradient=(1.0 - 1.0 / setting.n) * product + spread / setting.n,
    )


def mean_step(
    setting: Setting,
    rows: Float[np.ndarray, "*k p q"],
    seen: Seen,
    g: Float[np.ndarray, "*k p n"],
    step: int,
) -> MeanStep:
    """Giant step ``step`` from ``rows``, of one network or several, g their coefficients.

    docs/theory/index.md, eq. (5); docs/derivations/long_runs.md, eq. (1).
    """
    mean, drift = mean_drift(setting, rows, seen, g)
    state = (rows[..., : setting.known], rows @ rows.mT)
    return MeanStep(mean, drift, *moved_state(setting, step, *state, drift))


def _without_rows(
    mean: Float[np.ndarray, "*k p m"],
    product: Float[np.ndarray, "*k p p"],
    rows: Float[np.ndarray, "*k p q"],
) -> tuple[Float[np.ndarray, "*k p m"], Float[np.ndarray, "*k p p"]]:
    """G and G G^T of gradients at right angles to the row of each.

    G_i - t_i w_i with t_i = G_i.w_i/|w_i|^2; the product is corrected and not formed anew, since
    its own error is smaller than that of a square (docs/derivations/tangent.md).
    """
    q, gram = rows.shape[-1], rows @ rows.mT
    cross = mean[..., :q] @ rows.mT
    shares = np.diagonal(cross, axis1=-2, axis2=-1) / np.diagonal(gram, axis1=-2, axis2=-1)
    lost = shares[..., :, None] * cross.mT
    kept = shares[..., :, None] * shares[..., None, :] * gram
    tangent = mean.copy()
    tangent[..., :q] -= shares[..., None] * rows
    return tangent, product - lost - lost.mT + kept


def _along_rows(
    rows: Float[np.ndarray, "*k p q"],
    weighted: Float[np.ndarray, "*k p n"],
    g: Float[np.ndarray, "*k p n"],
    inner: Float[np.ndarray, "*k p n"],
) -> Float[np.ndarray, "*k p p"]:
    """What B + (d - q) A loses where samples are taken at right angles to the row of each neuron.

    With u_i = <w_i, x> (``inner``) and P_i the projection off w_i,
    |x|^2 - <P_i x, P_j x> = u_i^2/|w_i|^2 + u_j^2/|w_j|^2 - u_i u_j Q_ij/(|w_i| |w_j|)^2.
    """
    gram = rows @ rows.mT
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    one = (weighted * inner**2 / squares[..., None]) @ g.mT
    both = (weighted * inner) @ (g * inner).mT
    return one + one.mT - both * gram / (squares[..., :, None] * squares[..., None, :])


def mean_square(seen: Seen, g: Float[np.ndarray, "p n"]) -> Float[np.ndarray, "p p"]:
    """A = E[g g^T], less what the coefficients share with those that the deflation used."""
    weighted = g * seen.points.weights
    square = weighted @ g.T
    return square if seen.pulled is None else square - _pulled(seen.pulled, weighted)


def _pulled(
    unit: Float[np.ndarray, " n"], weighted: Float[np.ndarray, "*k p n"]
) -> Float[np.ndarray, "*k p p"]:
    along = weighted @ unit
    return along[..., :, None] * along[..., None, :]


def moved_state(
    setting: Setting,
    step: int,
    overlap: Float[np.ndarray, "*k p known"],
    gram: Float[np.ndarray, "*k p p"],
    drift: Drift,
) -> tuple[Float[np.ndarray, "*k p known"], Float[np.ndarray, "*k p p"], Float[np.ndarray, "*k p"]]:
    """What a step makes of (M, Q), and the lengths it divides rows by."""
    eta, kept = setting.step_size[step], 1.0 - setting.decay
    pull, cross, gradient = drift.pull, drift.cross, drift.gradient
    if not setting.update.kind.plain:
        factor = setting.update.factor(gradient)
        pull, cross, gradient = factor @ pull, factor @ cross, factor @ gradient @ factor
    overlap = kept * overlap + eta * pull
    gram = kept**2 * gram + kept * eta * (cross + cross.mT) + eta**2 * gradient
    lengths = np.ones(gram.shape[:-1])
    if setting.normalises_rows:
        lengths = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    return (
        overlap / lengths[..., None],
        gram / (lengths[..., :, None] * lengths[..., None, :]),
        lengths,
    )


def state_evolution(setting: Setting, start: State, quadrature: Quadrature) -> Evolution:
    """Overlaps, Gram matrices, gradient cosines and errors after each step."""
    r, state = setting.target.r, start
    overlaps, grams, errors = [], [], []
    cosines = [np.zeros((0, setting.p, r))]
    for step in range(setting.steps + 1):
        rows, readout = state.rows, state.readout
        points = quadrature(rows, step)
        overlaps.append(rows[:, : setting.known])
        grams.append(rows @ rows.T)
        seen, inputs = seen_points(setting, points), state.preactivations(points.x)
        output, inputs, g = seen_coefficients(setting, state, seen, inputs)
        errors.append(squared_error(setting, seen.outcomes, output, points.weights))
        if step == setting.steps:
            break
        moved = mean_step(setting, rows, seen, g, step)
        # Where the gradient is all drift its length is known to the accuracy of the points only.
        pull, squares = moved.mean[:, :r], np.diagonal(moved.drift.gradient)
        lengths = np.sqrt(np.maximum(squares, np.sum(pull**2, axis=1)))
        cosines.append(direction_cosines(pull, lengths)[None])
        descent = readout_descent(setting, inputs, seen.labels, readout, counts=points.weights)
        state = replace(
            _moved(setting, step, state, moved), readout=moved_readout(setting, readout, descent)
        )
    return Evolution(np.stack(overlaps), np.stack(grams), np.concatenate(cosines), np.array(errors))


def _moved(setting: Setting, step: int, state: State, moved: MeanStep) -> State:
    """The mean rows after a step, and their velocities where they have some."""
    if setting.momentum:
        gradient = MeanGradient(moved.mean, moved.drift.gradient)
        return moved_with_velocity(setting, step, state, gradient)
    return replace(state, rows=coordinates(moved.overlap, moved.gram))


def unsteadiness(setting: Setting, start: State, *, log2_points: int = 14) -> float:
    """What F of the mean H leaves out in the first step, relative: (3/8) Var(H_ii)/H_ii^2.

    F goes as H^(-1/2), and where noise prevails H_ii of a run is d/n times the mean of g_i^2 over
    its samples: Var(H_ii)/H_ii^2 = (E g^4/(E g^2)^2 - 1)/n, large where labels have heavy tails.
    The first order in 1/n, of the neuron that has most of it; where it is large runs stray by less
    (2 % where it says 13 %, a label of degree 4 at n = 588).  Points tell the fourth moment to a
    third of itself.
    """
    if setting.update.kind.plain or setting.steps == 0:
        return 0.0
    points = points_for(setting, 0, log2_points)(start.rows, 0)
    seen, inputs = seen_points(setting, points), start.preactivations(points.x)
    _, _, g = seen_coefficients(setting, start, seen, inputs)
    squares = g**2 @ points.weights
    moved = squares > 0
    strays = (g**4 @ points.weights)[moved] / squares[moved] ** 2 - 1.0
    return 0.375 * float(np.max(strays, initial=0.0)) / setting.n
