"""Directions that a giant step would find next, and the test of each against noise.

With the residual e of what is fitted already and Z' = Z (1 - U U^T):

first order    G = A^T Z'/sqrt(n), A the whitened columns e phi_q, phi_q the leading principal
               functions of sigma'(v . u + b) on the span (1 alone where there is none): what a
               giant step of random neurons weighs the inputs by;
label slices   G with A_j = sqrt 2 cos(pi j rank(y)), before there is a span: a transform of the
               label, as reused batches make one;
second order   H = sum_q (Z'^T diag(A_q) Z'/n)^2.

Were the labels noise, G would be a matrix of independent standard normals, whose largest singular
value exceeds the Tracy-Widom edge at the stated level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.estimator.coordinates import Turned
from giantstep.estimator.moments import largest, leading, weighed
from giantstep.estimator.network import RELU, SpanModel, draw_neurons
from giantstep.estimator.recipe import Recipe
from giantstep.spectra.outliers import upper_limit
from giantstep.spectra.start import weight_bulk

FIRST_ORDER, LABEL_SLICES, SECOND_ORDER = "first order", "label slices", "second order"


@dataclass(frozen=True)
class Candidate:
    """Directions of one kind of step, the strongest first, with their statistics.

    ``edge`` says how many directions are tried at once.  ``noise`` is the edge of the test: what
    noise exceeds at a level.  Where it comes from permutations (``permuted``) it takes a second
    number, and any edge beyond that number will do.
    """

    kind: str
    directions: Float[np.ndarray, "c q"]
    statistics: Float[np.ndarray, " q"]
    edge: float
    noise: Callable[[float, float], float]
    permuted: bool = False

    @property
    def count(self) -> int:
        """Directions to take at once: the outliers, one at least and two at most."""
        return int(np.clip(np.sum(self.statistics[:2] > self.edge), 1, 2))


def clipped(e: Float[np.ndarray, "n m"], recipe: Recipe) -> Float[np.ndarray, "n m"]:
    """Residuals within ``Recipe.residual_clip`` robust deviations of zero."""
    # The standard deviation of N(0, 1) is 1.4826 times the median of its absolute value.
    reach = recipe.residual_clip * 1.4826 * np.median(np.abs(e), axis=0)
    # Where more than half of the residuals vanish their deviation must serve.
    reach = np.where(reach > 0, reach, recipe.residual_clip * e.std(axis=0))
    return np.clip(e, -reach, reach)


def label_slices(
    y: Float[np.ndarray, "n m"], weight: Float[np.ndarray, " n"], recipe: Recipe
) -> Float[np.ndarray, "n q"]:
    """sqrt 2 cos(pi j rank(y)) for j = 1 .. ``Recipe.label_slices``, ties at their mean rank."""
    columns, slices = [], range(1, recipe.label_slices + 1)
    for column in y.T:
        values, place = np.unique(column, return_inverse=True)
        mass = np.bincount(place, weights=weight, minlength=len(values))
        rank = ((np.cumsum(mass) - mass / 2) / mass.sum())[place]
        columns += [math.sqrt(2.0) * np.cos(math.pi * j * rank) for j in slices]
    return np.column_stack(columns)


def span_functions(model: SpanModel, z: Turned, recipe: Recipe) -> Float[np.ndarray, "n q"]:
    """1 and the leading principal functions of sigma'(v . u + b) on the span."""
    n, most = len(z), recipe.span_functions
    if model.k == 0:
        return np.ones((n, 1))
    u = z @ model.basis
    neurons = draw_neurons(u, 1, recipe.search_mix, recipe)
    slopes = RELU.derivative(u @ neurons.rows.T + neurons.bias)
    slopes -= slopes.mean(axis=0)
    values, vectors = np.linalg.eigh(slopes.T @ slopes / n)
    values, vectors = values[::-1][:most], vectors[:, ::-1][:, :most]
    kept = values > 1e-6 * max(float(values[0]), 1e-300)
    return np.column_stack([np.ones(n), slopes @ (vectors[:, kept] / np.sqrt(values[kept]))])


def weights_of_inputs(
    e: Float[np.ndarray, "n m"], functions: Float[np.ndarray, "n q"]
) -> Float[np.ndarray, "n f"]:
    """All products of a residual and a function."""
    return (e[:, :, None] * functions[:, None, :]).reshape(len(e), -1)


def first_order(
    a: Float[np.ndarray, "n q"],
    z: Turned,
    weight: Float[np.ndarray, " n"],
    level: float,
    *,
    kind: str = FIRST_ORDER,
) -> Candidate:
    """Singular vectors of A^T Z/sqrt(n), A whitened, against the Tracy-Widom edge."""
    n, c = z.shape
    values, vectors = np.linalg.eigh((a * weight[:, None] ** 2).T @ a / n)
    kept = values > 1e-8 * max(float(values[-1]), 1e-300)
    if not kept.any() or values[-1] <= 0:
        return Candidate(kind, np.eye(c, 1), np.zeros(1), math.inf, lambda *_: math.inf)
    whitened = (a * weight[:, None]) @ (vectors[:, kept] / np.sqrt(values[kept]))
    gradient = z.adjoint(whitened).T / math.sqrt(n)
    _, singular, right = np.linalg.svd(gradient, full_matrices=False)
    return Candidate(
        kind=kind,
        directions=right.T,
        statistics=singular,
        edge=noise_edge(len(gradient), c, level),
        noise=lambda level, _: noise_edge(len(gradient), c, level),
    )


@lru_cache(maxsize=256)
def noise_edge(rows: int, columns: int, level: float) -> float:
    """What the largest singular value of a matrix of standard normals exceeds at this level."""
    rows, columns = max(rows, 2), max(columns, 2)
    # The bulk is that of rows of variance 1/columns.
    bulk = weight_bulk(rows, columns, "gaussian")
    return math.sqrt(columns) * upper_limit(bulk, level)


def second_order(
    a: Float[np.ndarray, "n q"], z: Turned, weight: Float[np.ndarray, " n"], recipe: Recipe
) -> Candidate:
    """Eigenvectors of sum_q (Z^T diag(A_q) Z/n)^2.

    The edge of a semicircle whose radius comes from the median of the eigenvalues is good enough to
    say how many directions are tried at once; permutations of the labels give the edge of the test.
    """
    dense = recipe.dense_coordinates
    values, vectors, radius = leading(weighed(a, weight), z, dense)

    def permuted_edge(level: float, enough: float) -> float:
        """The largest statistic of 1/level - 1 permutations of A's rows, or one beyond enough.

        Were the labels noise, the statistic would be the largest of these and itself with
        probability level, whatever the law of the inputs: with heavy tails a row may make it.
        """
        key, edge, rows = np.random.default_rng(0), 0.0, z.single()
        for _ in range(max(math.ceil(1.0 / level) - 1, 1)):
            columns = weighed(a[key.permutation(len(a))], weight)
            edge = max(edge, math.sqrt(largest(columns, rows, dense)))
            if edge > enough:
                break
        return edge

    return Candidate(
        kind=SECOND_ORDER,
        directions=vectors,
        statistics=np.sqrt(values),
        edge=recipe.second_order_margin * radius,
        noise=permuted_edge,
        permuted=True,
    )
