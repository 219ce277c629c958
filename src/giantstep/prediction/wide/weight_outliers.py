"""Outliers of the weights after giant steps at linear width.

W = X + (1/sqrt p) sum_i e_i R(u_i)^T: a bulk X of independent rows, of variance v(u_i)/d, and an
update whose rows depend on the readout only.  With G and h the limits of the two diagonal blocks
of (z - [[0, X], [X^T, 0]])^-1, z is an outlier when, on functions of u,

    det( [[0, 1], [1, 0]] - [[G, T], [T^T, Y]] ) = 0,
    T = G h kept u (R.g)^T,    Y = h K + h^2 E[u^2 kept^2 G] (R.g)(R.g)^T,

T and the second term of Y because g = W0^T u/sqrt(p), which the residual puts into R, is not
independent of the bulk.  Without them, and with v = 1, it is K's eigenvalue theta^2 = 1/(G h), the
transition of Baik, Ben Arous and Peche.  arXiv 2605.17767; docs/derivations/two_step.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import NotConvergedError
from giantstep.language.brief import brief
from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.limits import ONE_OR_TWO, ONE_TO_FOUR
from giantstep.prediction.wide.network import TYPICAL, Network, ReadoutStatistics
from giantstep.prediction.wide.update import (
    RowUpdate,
    added_beside,
    batch_of,
    gradient_of,
    orthonormal_powers,
    updates_of,
)
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class WeightOutliers:
    """Predicted outliers of W after a step, largest first.

    ``overlap`` -> |<v_k, w*_j>| for the right singular vector v_k, ``alignment`` its length in the
    span of the target; ``strengths`` theta_k, outliers or not; ``left`` the left singular vector
    times sqrt(p) as a function of ``readout`` u, whose law has the ``weights``; ``edge`` the end of
    the bulk of independent rows.

    W = W_0 + sum_k theta_k u_k v_k^T, a finite-rank sum over orders of the readout (arXiv
    2605.17767; docs/derivations/two_step.md).  n, d, p large and in proportion.
    """

    singular_values: Float[np.ndarray, " k"]
    overlap: Float[np.ndarray, "k r"]
    alignment: Float[np.ndarray, " k"]
    strengths: Float[np.ndarray, " m"]
    edge: float
    left: Float[np.ndarray, "k q"]
    readout: Float[np.ndarray, " q"]
    weights: Float[np.ndarray, " q"]

    __repr__ = brief

    @property
    def count(self) -> int:
        return len(self.singular_values)


def weight_outliers(
    setting: Setting, statistics: ReadoutStatistics = TYPICAL
) -> tuple[WeightOutliers, ...]:
    """Deterministic prediction after every step, n, d, p in proportion, given a run's readout.

    W = W_0 + sum_k theta_k u_k v_k^T with u_k functions of the readout.  In the limit the second
    step adds floor(alpha_2/(1/2 - alpha_1)) outliers for step sizes p^alpha_1, p^alpha_2 (arXiv
    2605.17767; docs/derivations/two_step.md); here they are those of the actual sizes.

    docs/derivations/two_step.md, eq. (9).

    >>> from giantstep import Setting, weight_outliers
    >>> setting = Setting.linear_width("x1 + He2(x1)/1.4", d=1000, step_size="n^0.4")
    >>> weight_outliers(setting)[-1].count
    1
    """
    refuse_beyond(ONE_TO_FOUR, setting)
    network = Network(setting, statistics)
    return tuple(outliers_of(network, update) for update in updates_of(network))


def outliers_of(network: Network, update: RowUpdate) -> WeightOutliers:
    """The outliers of the weights at the start plus an update."""
    return _OutlierEquation(network, update).outliers()


class _OutlierEquation:
    """The outlier equation of one update, as a function of the parameter m = h/z of the bulk.

    docs/derivations/two_step.md, eqs. (8) and (9).
    """

    def __init__(self, network: Network, update: RowUpdate) -> None:
        self.update = update
        self.u, self.weights = network.readout
        self.ratio = network.setting.p / network.setting.d
        # Rows beyond the largest of p readouts do not exist; the tail of the rule would move the
        # edge.  sqrt(2 log p) is the largest of p normals.
        largest = math.sqrt(2.0 * math.log(max(network.setting.p, 2)))
        capped = np.clip(self.u, -largest, largest)
        kept, spread = (np.interp(capped, self.u, v) for v in (update.kept, update.spread))
        noise = np.sign(self.u) * np.sqrt(np.maximum(spread, 0.0))
        self.turn = _independent_rows(kept, noise) if network.paired else np.eye(len(self.u))
        start, noise = self.turn @ kept, self.turn @ noise
        self.start_variance, self.variance = start**2, start**2 + noise**2
        root = np.sqrt(self.weights)
        self.kernel = self.turn @ (root[:, None] * update.kernel * root) @ self.turn.T
        self.pull = root * update.network
        self.side = root * self.u * kept
        self.target = self.turn @ (root[:, None] * update.target)
        share = update.target_spread / np.maximum(update.spread, 1e-300)[:, None, None]
        self.target_spread = (noise**2)[:, None, None] * share
        self.last = self._last()

    def square(self, m: float) -> float:
        """z^2 = 1/m + (p/d) E[v/(1 - v m)]."""
        return 1.0 / m + self.ratio * float(
            self.weights @ (self.variance / (1.0 - self.variance * m))
        )

    def _last(self) -> float:
        """The m of the edge: where z^2 is least on (0, 1/max v)."""
        from scipy.optimize import brentq

        def slope(m: float) -> float:
            return (
                self.ratio
                * float(self.weights @ (self.variance * m / (1.0 - self.variance * m)) ** 2)
                - 1.0
            )

        # -1 at 0; at 1/max v the sum is infinite, whatever the weight of that node.
        return float(brentq(slope, 0.0, (1.0 - 1e-14) / float(self.variance.max())))

    def limits(self, m: float) -> tuple[float, Float[np.ndarray, "two_q two_q"]]:
        """z and the limit of E^T (z - H)^-1 E, E the left functions and the right vectors R."""
        z = math.sqrt(self.square(m))
        h = z * m
        diagonal = 1.0 / (z * (1.0 - self.variance * m))
        corner = h * np.outer(diagonal * self.side, self.pull)
        bulk = h**2 * float(self.side @ (diagonal * self.side))
        right = h * self.kernel + bulk * np.outer(self.pull, self.pull)
        right += self.target @ (self.along(m, z) - h * np.eye(self.target.shape[1])) @ self.target.T
        return z, np.block([[np.diag(diagonal), corner], [corner.T, right]])

    def along(self, m: float, z: float) -> Float[np.ndarray, "r r"]:
        """The right block along the target: (z - (p/d) E[G (kept^2 + spread along it)])^-1."""
        return np.linalg.inv(self._along_inverse(m, z))

    def _along_inverse(self, m: float, z: float) -> Float[np.ndarray, "r r"]:
        diagonal = self.weights / (z * (1.0 - self.variance * m))
        eye = np.eye(self.target.shape[1])
        noise = np.tensordot(diagonal, self.target_spread, axes=1)
        return (z - self.ratio * diagonal @ self.start_variance) * eye - self.ratio * noise

    def _end(self) -> float:
        """The m up to which outliers are looked for: the edge, or before it a noisy direction.

        The noise of a step is larger along the target: by enough, one of its directions stands out
        of the bulk without any mean, and the block along it has a pole there.
        """
        from scipy.optimize import brentq

        def least(m: float) -> float:
            return float(np.linalg.eigvalsh(self._along_inverse(m, math.sqrt(self.square(m))))[0])

        if least(self.last) > 0:
            return self.last
        return float(brentq(least, 1e-12 * self.last, self.last))

    def gap(self, m: float) -> Float[np.ndarray, "two_q two_q"]:
        """J minus the limit: loses one positive eigenvalue at every outlier as z comes down."""
        size = len(self.u)
        exchange = np.roll(np.eye(2 * size), size, axis=1)
        return exchange - self.limits(m)[1]

    def outliers(self, strengths: int = 8) -> WeightOutliers:
        """All outliers with their vectors, and so many strengths, beyond the bulk or not."""
        from scipy.optimize import brentq

        size, r = len(self.u), self.update.target.shape[1]
        root = np.sqrt(self.weights)
        # Just inside the edge, where the derivative of z in m is still not 0 to rounding.
        end = self._end()
        last = end * (1.0 - 1e-7)
        count = int(np.sum(np.linalg.eigvalsh(self.gap(last)) < 0)) - size
        values, overlaps, lefts = np.empty(count), np.empty((count, r)), np.empty((count, size))
        # Far above all strengths nothing is left: 1/z^2 < m.
        far = 0.1 / (1.0 / last + float(np.trace(self.kernel)) + float(self.pull @ self.pull))
        for k in range(count):
            m = float(brentq(lambda x, k=k: np.linalg.eigvalsh(self.gap(x))[size + k], far, last))
            z, _ = self.limits(m)
            vectors = np.linalg.eigh(self.gap(m))[1]
            null = vectors[:, size + k]
            step = 1e-5 * min(m, end - m)
            (above, low), (below, high) = self.limits(m - step), self.limits(m + step)
            norm = -float(null @ ((high - low) / (below - above)) @ null)
            if not norm > 0.0:
                raise NotConvergedError(
                    f"outlier {k + 1} of the weights is lost to rounding: strengths reach from "
                    f"{z:.3g} to {values[:1].max(initial=z):.3g}"
                )
            # Half of the norm is the left vector's, half the right's.
            scale = 1.0 / math.sqrt(0.5 * norm)
            alpha = null[size:] * scale
            values[k] = z
            overlaps[k] = np.abs(self.along(m, z) @ (alpha @ self.target))
            lefts[k] = self.turn.T @ alpha / root
        theta = np.sqrt(np.maximum(np.linalg.eigvalsh(self.kernel)[::-1][:strengths], 0.0))
        return WeightOutliers(
            singular_values=values,
            overlap=overlaps,
            alignment=np.linalg.norm(overlaps, axis=1),
            strengths=theta,
            edge=math.sqrt(self.square(self.last)),
            left=lefts,
            readout=self.u,
            weights=self.weights,
        )


def _independent_rows(
    kept: Float[np.ndarray, " q"], noise: Float[np.ndarray, " q"]
) -> Float[np.ndarray, "q q"]:
    """A rotation of the pairs (u, -u) of nodes to rows without correlation.

    Partners have covariance kept kept^T + noise noise^T, the noise with its sign; nodes of u are in
    order and symmetric.
    """
    q = len(kept)
    rotation = np.eye(q)
    for low in range(q // 2):
        pair = [low, q - 1 - low]
        covariance = np.outer(kept[pair], kept[pair]) + np.outer(noise[pair], noise[pair])
        rotation[np.ix_(pair, pair)] = np.linalg.eigh(covariance)[1].T
    return rotation


def second_strengths(
    setting: Setting, count: int = 3, statistics: ReadoutStatistics = TYPICAL
) -> Float[np.ndarray, " count"]:
    """|q_k^T (W_2 - W_1)| for k = 1 .. count: strength of step 2 along each power of the readout.

    Rows of W_2 - W_1 are e_2 Q(u_i)/sqrt(p) plus noise.  With q_k the powers u, u^2, .. made
    orthonormal over the neurons, strength_k^2 = e_2^2 <q_k, Q.Q' q_k> + <q_k^2, noise>, which grows
    as p^(alpha_2 - (k-1)(1/2 - alpha_1)) once e_1/sqrt(p) is small (arXiv 2605.17767).
    """
    refuse_beyond(ONE_OR_TWO, setting)
    network = Network(setting, statistics)
    batch = batch_of(network)
    kernel = network.size(1) ** 2 * gradient_of(network, batch).inner
    u, weights = network.readout
    root = np.sqrt(weights)
    powers = orthonormal_powers(u, root, count)
    square = np.einsum("qk,qs,sk->k", root[:, None] * powers, kernel, root[:, None] * powers)
    # Orders that are zero may round to less.
    return np.sqrt(np.maximum(square, 0.0) + (powers**2).T @ added_beside(network, batch))
