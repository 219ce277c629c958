"""What giant steps make of the small parts that rows have along the target directions.

A row starts with a part gamma ~ N(0, I/d) along the r target directions.  A step moves it along
this part too, by (e u/sqrt p) E[r sigma''(A) z z^T] gamma, and adds noise of its n samples: some
that differs from row to row, and some that all rows share.  Labels make both larger along the
directions that they depend on, by E[r^2 z z^T] in place of E[r^2].

The derivation is docs/derivations/finite_size.md; for inputs in blocks, whose parts of a target
direction grow at their own rates, docs/derivations/wide_blocks.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.batch import Batch
from giantstep.prediction.wide.network import Network, between
from giantstep.prediction.wide.update import batch_of, update_after


@dataclass(frozen=True)
class AlongTarget:
    """Parts of rows along the target beside their mean, at given entries u of the readout.

    ``carried`` -> C(u), the part gamma of the start becomes C gamma, eq. (1).  ``noise`` -> d times
    the covariance of the noise of a row by itself, eq. (2), and ``shared`` -> d times that of the
    noise which rows of equal u share, eq. (3).
    """

    carried: Float[np.ndarray, "*u r r"]
    noise: Float[np.ndarray, "*u r r"]
    shared: Float[np.ndarray, "*u r r"]

    @property
    def variance(self) -> Float[np.ndarray, "*u r"]:
        """d times the variance of an overlap with each target direction."""
        start = np.sum(self.carried**2, axis=-1)
        return start + _diagonal(self.noise) + self.shared_variance

    @property
    def shared_variance(self) -> Float[np.ndarray, "*u r"]:
        """d times the variance of the part that rows share."""
        return np.maximum(_diagonal(self.shared), 0.0)

    @classmethod
    def between(
        cls, nodes: Float[np.ndarray, " q"], at_nodes: AlongTarget, u: Float[np.ndarray, "*u"]
    ) -> AlongTarget:
        """The parts at entries u from those at the nodes of the law of u."""
        r = at_nodes.carried.shape[-1]
        parts = {
            field.name: between(nodes, getattr(at_nodes, field.name).reshape(-1, r * r), u.ravel())
            for field in fields(cls)
        }
        return cls(**{name: part.reshape(*u.shape, r, r) for name, part in parts.items()})


def along_target_after_one(
    network: Network, u: Float[np.ndarray, "*u"], size: float | None = None
) -> AlongTarget:
    """The parts of rows of W after the first step, or before it where its ``size`` is 0.

    What the start has along Sigma w*_k beside w*_k counts as noise of a row by itself.

    docs/derivations/finite_size.md, eqs. (1), (2) and (3); docs/derivations/wide_blocks.md,
    eqs. (10), (11) and (12).
    """
    moments, inputs = network.moments, network.inputs
    step = network.size(0) if size is None else size
    moved = (step / math.sqrt(network.setting.p) * u)[..., None, None]
    turned = np.diag(inputs.target_deviations)
    means, squares = turned @ network.target_means, turned @ network.target_squares @ turned
    # |Sigma w*_k|^2/tau_k^2 less the part along w*_k.
    beside = inputs.along_target(2) / inputs.along_target(1) - inputs.along_target(1)
    noise = network.noise_ratio * moments.slope_variance * squares
    noise += moments.tilt**2 * (means * np.maximum(beside, 0.0)) @ means.T
    return AlongTarget(
        carried=np.eye(len(squares)) + moments.tilt * moved * (means @ turned),
        noise=moved**2 * noise,
        shared=moments.slope**2 * moved**2 * _noise_of_beta(network),
    )


def along_target_after_more(network: Network) -> AlongTarget:
    """The parts after the last step at the nodes of u.

    docs/derivations/finite_size.md, eqs. (1), (2) and (3).
    """
    return _at_nodes(network)[0]


def along_unseen_after_one(
    network: Network, u: Float[np.ndarray, "*u"], size: float | None = None
) -> AlongTarget:
    """The parts along a direction that the label does not see: 1 stands in place of z z^T."""
    moments, step = network.moments, network.size(0) if size is None else size
    moved = (step / math.sqrt(network.setting.p) * u)[..., None, None]
    noise = network.noise_ratio * network.residual_square
    own = (network.start_feedback * moments.linear) ** 2
    return AlongTarget(
        carried=1.0 + moments.tilt * moved * network.residual_mean,
        noise=moved**2 * noise * moments.slope_variance,
        shared=(moments.slope * moved) ** 2 * (noise + own),
    )


def excess_along_target(network: Network) -> Float[np.ndarray, " q"]:
    """Variance along the target beyond that along as many unseen directions, at the nodes of u.

    docs/derivations/finite_size.md, eq. (8).
    """
    r = network.setting.target.r
    seen, unseen = (_at_nodes(network, each)[0].variance for each in (True, False))
    # Huge steps on a batch that is used again may leave a negative variance.
    return np.sum(np.maximum(seen, 0.0), axis=1) - r * unseen[:, 0]


@dataclass(frozen=True)
class _Pairs:
    """Masses of z z^T times 1, r, r^2 and r_1 r_2, and of r z: of one unseen direction, of 1."""

    mass: Float[np.ndarray, "m r r"]
    mean: Float[np.ndarray, "m r r"]
    square: Float[np.ndarray, "m r r"]
    along: Float[np.ndarray, "m r"]
    crossed: Float[np.ndarray, "m r r"] | None

    @classmethod
    def of(cls, batch: Batch, r: int, *, seen: bool) -> _Pairs:
        """Of the target directions where they are ``seen``, else of one that the label ignores."""
        if seen:
            means = batch.target_mass, batch.target_mean, batch.target_square
            return cls(*means, batch.along[:, -1 - r : -1], batch.target_crossed)
        mass, mean, square = (
            each[:, None, None] for each in (batch.mass, batch.mean, batch.square)
        )
        crossed = None if batch.crossed is None else batch.crossed[:, None, None]
        return cls(mass, mean, square, np.zeros((len(mass), 1)), crossed)


@lru_cache(maxsize=64)
def _at_nodes(
    network: Network, seen: bool = True
) -> tuple[AlongTarget, Float[np.ndarray, "q q r r"]]:
    """The parts after the last step, and the covariance of the shared noise of any two u; kept."""
    u, root = network.readout[0], math.sqrt(network.setting.p)
    if network.setting.steps == 1:
        first = (along_target_after_one if seen else along_unseen_after_one)(network, u)
        # What rows share is proportional to u.
        one = first.shared[-1] / u[-1] ** 2
        return first, np.multiply.outer(np.outer(u, u), one)
    earlier = network.with_steps(network.setting.steps - 1)
    before, shared = _at_nodes(earlier, seen)
    batch = batch_of(network)
    slopes, delta = batch.slopes, network.noise_ratio
    pairs = _Pairs.of(batch, network.setting.target.r, seen=seen)
    moved = (network.size(network.setting.steps - 1) / root * u)[:, None, None]
    turned = np.eye(before.carried.shape[-1]) + moved * _mean(slopes.curvature, pairs.mean)
    # On a batch that is used again the start h of a row is in the slope of the sample itself.
    again = slopes.on_start - update_after(earlier).kept[:, None] * slopes.curvature
    noise = delta * moved**2 * _mean(slopes.square - slopes.mean**2, pairs.square)
    if pairs.crossed is not None:
        first_moved = (network.size(0) / root * u)[:, None, None]
        both = _mean(slopes.cross - network.gain * slopes.mean, pairs.crossed)
        crossed = delta * moved * first_moved * turned @ both
        noise = noise + crossed + np.swapaxes(crossed, 1, 2)
    shared = _passed(network, slopes.mean, pairs, turned, shared)
    at = np.arange(len(u))
    parts = AlongTarget(
        carried=turned @ before.carried + moved * _mean(again, pairs.mean),
        noise=_carried(turned, before.noise) + noise,
        shared=shared[at, at],
    )
    return parts, shared


def _passed(
    network: Network,
    slope: Float[np.ndarray, "q m"],
    pairs: _Pairs,
    turned: Float[np.ndarray, "q r r"],
    shared: Float[np.ndarray, "q q r r"],
) -> Float[np.ndarray, "q q r r"]:
    """Covariance of the shared noise after the step: what is passed on, and that of its samples.

    The network's answer to the noise of the steps before is in the residual: noise b(u) along the
    target becomes turned b - s e u E[sigma' z z^T sum_u' u' sigma'(u') b(u')], a linear map.
    """
    u, weights = network.readout
    q, r = turned.shape[:2]
    size = network.size(network.setting.steps - 1)
    both = np.einsum("qm,pm,mrs->qrps", slope, slope, pairs.mass, optimize=True)
    answered = network.feedback * size * np.einsum("q,p,qrps->qrps", u, weights * u, both)
    passed = -answered.reshape(q * r, q * r)
    passed += np.einsum("qp,qrs->qrps", np.eye(q), turned).reshape(q * r, q * r)
    old = shared.transpose(0, 2, 1, 3).reshape(q * r, q * r)
    carried = (passed @ old @ passed.T).reshape(q, r, q, r).transpose(0, 2, 1, 3)
    along = slope @ pairs.along
    squares = np.einsum("qm,pm,mrs->qprs", slope, slope, pairs.square, optimize=True)
    new = squares - np.einsum("qr,ps->qprs", along, along)
    moved = size / math.sqrt(network.setting.p) * u
    noise = network.noise_ratio * np.einsum("q,p,qprs->qprs", moved, moved, new)
    return np.asarray(carried + noise)


def _mean(
    values: Float[np.ndarray, "q m"], masses: Float[np.ndarray, "m r r"]
) -> Float[np.ndarray, "q r r"]:
    """E of a function of u and of the atom, times z z^T."""
    return np.tensordot(values, masses, axes=1)


def _noise_of_beta(network: Network) -> Float[np.ndarray, "r r"]:
    """d times the covariance of X^T r_1/n along the target, and of its part by g.

    docs/derivations/wide_blocks.md, eq. (12).
    """
    turned = np.diag(network.inputs.target_deviations)
    own = (network.start_feedback * network.moments.linear) ** 2
    noise = turned @ network.gradient_noise @ turned
    return noise + own * np.diag(network.inputs.along_target(2))


def _carried(
    turned: Float[np.ndarray, "q r r"], covariance: Float[np.ndarray, "*q r r"]
) -> Float[np.ndarray, "q r r"]:
    return turned @ covariance @ np.swapaxes(turned, 1, 2)


def _diagonal(matrices: Float[np.ndarray, "*u r r"]) -> Float[np.ndarray, "*u r"]:
    return np.diagonal(matrices, axis1=-2, axis2=-1)
