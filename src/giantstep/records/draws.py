"""Runs drawn around a prediction: what single runs show of it, fluctuations included.

A run has overlaps M + dM and the Gram matrix (M + dM)(M + dM)^T + P', where P', the Gram matrix of
what its rows have outside the target directions, has the law of a sample covariance matrix
(Wishart's) around its mean P.  The theory of narrow networks gives the standard deviations of the
overlaps M and of the Gram matrix Q; P and the degrees of freedom of P' follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from giantstep.records.trajectory import Trajectory

ALIKE = 1e-6
"""Squared lengths that differ by less than a thousandth are all alike: no line is fitted to them.
Directions whose squared length is below this share of the longest one's are none of the span's."""

TINY = np.finfo(float).tiny


def draw_runs(prediction: Trajectory, runs: int) -> Trajectory:
    """At least so many runs around a prediction, around its rows with deviations in turn.

    Without ``overlap_deviation`` what a row has outside the target is taken for a random direction,
    of which every target direction holds 1/d; where nothing fluctuates it is the prediction itself.
    """
    deviation = prediction.overlap_deviation
    if deviation is not None and not deviation.any():
        return prediction
    centres = rows_with_deviations(prediction)
    place = np.tile(np.arange(len(centres)), -(-runs // len(centres)))
    rows = centres[place]
    key = np.random.default_rng(0)
    normals = key.standard_normal((len(rows), *prediction.overlap.shape[1:]))
    mean = prediction.overlap[rows]
    if prediction.gram is None or prediction.gram_deviation is None:
        overlap, norms = _wide_rows(prediction, centres, normals, key)
        span = _wide_spans(prediction, rows, key)
        return replace(prediction, overlap=overlap, norms=norms, span=span)
    outside = _outside(prediction, centres)
    together = outside.root[place] @ normals
    overlap = mean + outside.deviations[place] * together / _lengths(outside.root)[place][..., None]
    factor = outside.factor(place, key)
    squares = np.sum(overlap**2, axis=-1) + outside.squares(place, factor)
    alike = mean + outside.unit_deviations[place] * together
    span = outside.span(place, factor, alike)
    if deviation is not None and prediction.span is not None:
        # A start that is given is the same in all runs, however close its rows come to the target.
        deviations = (deviation[rows], prediction.gram_deviation[rows])
        moves = np.any([np.any(each, axis=(2, 3)) for each in deviations], axis=0)
        span = np.where(moves[..., None, None], span, prediction.span[rows])
    return replace(prediction, overlap=overlap, norms=np.sqrt(squares), span=span)


def _moves(
    prediction: Trajectory,
    rows: Int[np.ndarray, " rows"],
    normals: Float[np.ndarray, "k t p r"],
    key: np.random.Generator,
) -> Float[np.ndarray, "k t p r"]:
    """What the overlaps of drawn runs have beside their means: each row alone, and all together."""
    place = np.arange(len(normals)) % len(rows)
    deviations, shared = _overlap_deviations(prediction, rows), prediction.overlap_shared_deviation
    if shared is None:
        return deviations[place] * normals
    alone = np.sqrt(np.maximum(deviations**2 - shared[rows] ** 2, 0.0))
    together = key.standard_normal(normals[:, :, :1].shape)
    return alone[place] * normals + shared[rows][place] * together


def _wide_rows(
    prediction: Trajectory,
    rows: Int[np.ndarray, " rows"],
    normals: Float[np.ndarray, "k t p r"],
    key: np.random.Generator,
) -> tuple[Float[np.ndarray, "k t p r"], Float[np.ndarray, "k t p"]]:
    """Overlaps M + dM of many rows, and their lengths: a row longer along the target is longer.

    dM has a part as even as in all d directions, of the variance v of an unlearned one, and the
    noise of samples that the label makes larger.  The even part is that of a random vector, whose
    squared length varies with 2/d for normal starts.  Rows of fixed length at the start keep it:
    dM has the law of the sphere, and only what it has beyond v makes a row longer.  The mean over
    all drawn squared lengths is that of the prediction.
    """
    place, (d, r) = np.arange(len(normals)) % len(rows), (prediction.setting.d, normals.shape[-1])
    mean, variance = prediction.overlap[rows], _overlap_deviations(prediction, rows) ** 2
    squares, others = prediction.norms[rows] ** 2, max(d - r, 1)
    outside = np.maximum(squares - np.sum(mean**2 + variance, axis=-1), 0.0)
    even = np.minimum(variance.min(axis=-1), outside / others)[..., None]
    share = (even / np.maximum(variance, TINY))[place]
    mean, even, moves = mean[place], even[place], _moves(prediction, rows, normals, key)
    beside = 2.0 * key.standard_gamma(0.5 * others, moves.shape[:-1])[..., None]
    if prediction.setting.start.kind.normal:
        random = even[..., 0] * (beside[..., 0] - others)
        beyond = moves**2 - variance[place]
    else:
        unit = share * moves**2 / np.maximum(variance[place], TINY)
        moves = moves * np.sqrt(d / (np.sum(unit, axis=-1, keepdims=True) + beside))
        random, beyond = 0.0, (1.0 - share) * (moves**2 - variance[place])
    drawn = squares[place] + np.sum(2.0 * mean * moves + beyond, axis=-1) + random
    drawn += (squares[place] - drawn).mean(axis=(0, 2), keepdims=True)
    overlap = mean + moves
    norms = np.sqrt(np.maximum(drawn, np.sum(overlap**2, axis=-1)))
    # Lengths may be known where overlaps are not.
    return overlap, np.where(np.isnan(norms), prediction.norms[rows][place], norms)


def rows_with_deviations(prediction: Trajectory) -> Int[np.ndarray, " rows"]:
    """The rows of a prediction around which runs can be drawn; all of one without deviations."""
    deviation = prediction.overlap_deviation
    if deviation is None:
        return np.arange(prediction.runs)
    return np.flatnonzero(np.isfinite(deviation).all(axis=(1, 2, 3)))


def _overlap_deviations(
    prediction: Trajectory, rows: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, "rows t p r"]:
    """Standard deviations of overlaps around rows of a prediction.

    Those of many rows are rough, each from a few columns or runs: a law s^2 = alpha + beta P_ii for
    all rows and neurons is fitted to them, P_ii the squared length outside the target, of which the
    random start has one share in the target and the noise of a step another.  Less the squared
    error of the rows themselves, which differs from row to row as the noise of runs does.
    """
    overlap, deviation = prediction.overlap[rows], prediction.overlap_deviation
    outside = prediction.norms[rows] ** 2 - np.sum(overlap**2, axis=-1)
    outside = np.maximum(outside, TINY)[..., None]
    if deviation is None:
        return np.broadcast_to(np.sqrt(outside / prediction.setting.d), overlap.shape)
    if len(rows) == 1 or prediction.many_neurons:  # derived, not estimated
        return deviation[rows]
    # Least squares of s^2/P = alpha/P + beta, step by step and direction by direction.
    error = prediction.overlap_uncertainty
    squares = deviation[rows] ** 2 - (0.0 if error is None else error[rows] ** 2)
    ratio, inverse = squares / outside, 1.0 / outside
    over = (0, 2)
    centre, size = ratio.mean(axis=over), inverse.mean(axis=over)
    moved = inverse - size[None, :, None]
    spread = np.mean(moved**2, axis=over)
    slope = np.mean(moved * ratio, axis=over) / np.maximum(spread, ALIKE * size**2)
    fitted = centre[None, :, None] + slope[None, :, None] * moved
    return np.sqrt(np.maximum(fitted, 0.0) * outside)


@dataclass(frozen=True)
class Outside:
    """The law of what rows have outside the target, by row and step of the prediction.

    ``values`` and ``vectors`` are those of P, ``freedom`` -> nu; ``looseness`` is the standard
    deviation of the squared length of a row over that of nu degrees of freedom: 0 for lengths that
    are fixed.  ``deviations`` are the standard deviations of overlaps, ``unit_deviations`` those of
    a row of length one outside the target, root mean squares over the neurons.
    """

    values: Float[np.ndarray, "rows t p"]
    vectors: Float[np.ndarray, "rows t p p"]
    freedom: Float[np.ndarray, "rows t"]
    looseness: Float[np.ndarray, "rows t p"]
    deviations: Float[np.ndarray, "rows t p r"]
    unit_deviations: Float[np.ndarray, "rows t 1 r"]

    @property
    def root(self) -> Float[np.ndarray, "rows t p p"]:
        """L with L L^T = P."""
        return self.vectors * np.sqrt(self.values)[..., None, :]

    def factor(
        self, place: Int[np.ndarray, " k"], key: np.random.Generator
    ) -> Float[np.ndarray, "k t p p"]:
        """A with A A^T of Wishart's law and mean 1 in the directions that P has."""
        there = self.values > ALIKE * self.values.max(axis=-1, keepdims=True)
        factor = bartlett(key, self.freedom[place], self.values.shape[-1])
        both = there[..., None] & there[..., None, :] | np.eye(there.shape[-1], dtype=bool)
        return factor * both[place]

    def squares(
        self, place: Int[np.ndarray, " k"], factor: Float[np.ndarray, "k t p p"]
    ) -> Float[np.ndarray, "k t p"]:
        """Squared lengths of drawn rows outside the target, with the deviations of theory."""
        root = self.root[place]
        mean, drawn = (np.sum(rows**2, axis=-1) for rows in (root, root @ factor))
        return np.maximum(mean + self.looseness[place] * (drawn - mean), 0.0)

    def span(
        self,
        place: Int[np.ndarray, " k"],
        factor: Float[np.ndarray, "k t p p"],
        overlap: Float[np.ndarray, "k t p r"],
    ) -> Float[np.ndarray, "k t r r"]:
        """R with R^T R = M^T (M M^T + P')^-1 M = S (1 + S)^-1, S = M^T P'^-1 M."""
        least = ALIKE * self.values.max(axis=-1, keepdims=True)
        sizes = np.sqrt(np.maximum(self.values, np.maximum(least, TINY)))[place]
        along = (self.vectors[place].mT @ overlap) / sizes[..., None]
        return _span_of(np.linalg.solve(factor, along))


def bartlett(
    key: np.random.Generator, freedom: Float[np.ndarray, "*k"], size: int
) -> Float[np.ndarray, "*k p p"]:
    """Triangular A with A A^T of Wishart's law of so many degrees of freedom, over their number."""
    squares = 2.0 * key.standard_gamma(0.5 * (freedom[..., None] - np.arange(size)))
    factor = np.tril(key.standard_normal((*freedom.shape, size, size)), -1)
    factor += np.sqrt(squares)[..., None] * np.eye(size)
    return factor / np.sqrt(freedom)[..., None, None]


def _span_of(rows: Float[np.ndarray, "*k p r"]) -> Float[np.ndarray, "*k r r"]:
    """R with R^T R = S (1 + S)^-1, S = Y^T Y."""
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    span = np.zeros((*rows.shape[:-2], rows.shape[-1], rows.shape[-1]))
    span[..., : values.shape[-1], :] = (values / np.hypot(1.0, values))[..., None] * vectors
    return span


def _wide_spans(
    prediction: Trajectory, rows: Int[np.ndarray, " k"], key: np.random.Generator
) -> Float[np.ndarray, "k t r r"] | None:
    """Spans of many rows around the predicted H = R^T R, of the law of random subspaces.

    S' = Y^-1 S^1/2 X X^T S^1/2 Y^-T, S = H/(1 - H), X X^T and Y Y^T of Wishart's law with p and
    d - p degrees of freedom.
    """
    span, (d, p) = prediction.span, (prediction.setting.d, prediction.setting.p)
    if span is None:
        return None
    r = span.shape[-1]
    if min(p, d - p) < r:
        return span[rows]
    _, cosines, vectors = np.linalg.svd(span[rows])
    squares = np.minimum(cosines**2, 1.0 - ALIKE)
    strength = np.sqrt(squares / (1.0 - squares))
    shape = strength.shape[:-1]
    within, beside = (bartlett(key, np.full(shape, float(part)), r) for part in (p, d - p))
    turned = np.linalg.solve(beside, strength[..., None] * within)
    return _span_of(turned.mT) @ vectors


def _lengths(rows: Float[np.ndarray, "*k p q"]) -> Float[np.ndarray, "*k p"]:
    return np.maximum(np.linalg.norm(rows, axis=-1), TINY)


def _outside(
    prediction: Trajectory, rows: Int[np.ndarray, " rows"], most_freedom: float = 1e12
) -> Outside:
    """P = Q - M M^T - E dM dM^T, and nu from that part of Var Q which overlaps do not explain.

    Wishart's law has Var P'_ij = (P_ij^2 + P_ii P_jj)/nu; nu is that of the sum over i != j.  A
    Gram matrix that does not fluctuate has ``most_freedom``: its standard deviation is 1e-6.
    """
    gram, gram_deviation = prediction.gram, prediction.gram_deviation
    assert gram is not None
    assert gram_deviation is not None
    overlap, deviations = prediction.overlap[rows], _overlap_deviations(prediction, rows)
    outside = gram[rows] - overlap @ overlap.mT
    lengths = np.sqrt(np.maximum(np.diagonal(outside, axis1=-2, axis2=-1), TINY))
    correlation = outside / (lengths[..., None] * lengths[..., None, :])
    mean = outside - correlation * (deviations @ deviations.mT)
    values, vectors = np.linalg.eigh(mean)
    # Var (M dM^T + dM M^T)_ij, the directions independent of each other.
    explained = overlap**2 @ (deviations**2).mT
    explained = explained + explained.mT
    explained += 2.0 * correlation * ((overlap * deviations) @ (overlap * deviations).mT)
    variance = np.maximum(gram_deviation[rows] ** 2 - explained, 0.0)
    squares = np.maximum(np.diagonal(mean, axis1=-2, axis2=-1), TINY)
    of_wishart = mean**2 + squares[..., None] * squares[..., None, :]
    p = overlap.shape[-2]
    pairs = ~np.eye(p, dtype=bool) if p > 1 else np.ones((1, 1), dtype=bool)
    above, below = (np.sum(part * pairs, axis=(-2, -1)) for part in (of_wishart, variance))
    freedom = np.maximum(above / np.maximum(below, above / most_freedom), p + 1.0)
    of_lengths = np.diagonal(variance, axis1=-2, axis2=-1)
    return Outside(
        values=np.maximum(values, 0.0),
        vectors=vectors,
        freedom=freedom,
        looseness=np.sqrt(of_lengths * freedom[..., None] / 2.0) / squares,
        deviations=deviations,
        unit_deviations=np.sqrt(
            np.mean(deviations**2 / squares[..., None], axis=-2, keepdims=True)
        ),
    )
