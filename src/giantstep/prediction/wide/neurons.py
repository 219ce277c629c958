"""Types of neurons after one step, and the small normal coordinates in which they differ.

With |a| = 1 and S, twist, scatter of giantstep.prediction.wide.gradient, row i is

    cu a v + (kept + a third g_v) w + a sqrt(ds) (rho S w + sqrt(1 - rho^2) noise),

kept = 1 + tilt a, g_v = <v, w>, rho the correlation of sigma'(z) and z.  A type is a value of a.
Coordinates of w are N(0, 1/d): those along v, along the label's directions outside v, and along
the rests of S applied to these count to second order, each a *mode*.  See
docs/derivations/closed_system.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import Rule, gauss_hermite
from giantstep.prediction.wide.gradient import GradientMatrix, symmetric_powers
from giantstep.prediction.wide.step import LearnedStep, readout_rule
from giantstep.problem.setting import Setting

KAPPA_NODES = {1: (40,), 2: (12, 8), 3: (10, 7, 5)}
"""Gauss-Hermite nodes over the coordinates along so many directions, strongest first: errors to
5e-4 of rules with twice as many, on one direction to 3e-6."""

SPECTRUM_NODES = {1: (40,), 2: (24, 16), 3: (18, 12, 9)}
"""The same for outliers, which are good to 1e-3; most are too light for a sample and dropped."""

WEIGHTLESS = 1e-14
"""Weight of a node that is none: beyond 7.6, where powers of a label reach 1e9 at most."""

EVEN = 1e-3
"""Differences of the loads of the classes, in the length of a row, up to which they are one class:
what follows differs by their squares."""


@dataclass(frozen=True)
class NeuronTypes:
    """Neurons w = u.v + sum_j load_j omega_j, omega_j independent unit vectors outside v_1 .. v_k.

    A group is one neuron, or for the symmetric start the b = 2 neurons that began with one w.
    ``readout`` are the entries of a at the start, of mean square one.  Directions outside v fall
    into classes q with ``shares``; a row loads each of its own.  ``drift``, ``stretch`` and
    ``sideways`` are what a mode l, times sqrt(d), adds to u, to the square length outside v, and
    along each special direction e.
    """

    weights: Float[np.ndarray, " t"]
    readout: Float[np.ndarray, "t b"]
    along: Float[np.ndarray, "t b k"]
    shares: Float[np.ndarray, " q"]
    load: Float[np.ndarray, "q t b j"]
    drift: Float[np.ndarray, "l t b k"]
    stretch: Float[np.ndarray, "l t b"]
    sideways: Float[np.ndarray, "e l t b"]

    @property
    def spread(self) -> Float[np.ndarray, "t b"]:
        """s: the length of a row outside the learned direction."""
        return np.sqrt(np.einsum("q,qtbj->tb", self.shares, self.load**2))

    @property
    def even(self) -> NeuronTypes:
        """The same with one class of directions: rows load all of them alike."""
        load = _one_class(self.shares, self.load)
        return replace(self, shares=np.ones(1), load=load)


def neuron_types(
    setting: Setting, step: LearnedStep, matrix: GradientMatrix, prune: bool = False
) -> NeuronTypes:
    """Quadrature over a: u = cu a, load^2 = (kept + a sqrt(ds) rho s)^2 + a^2 ds (1 - rho^2) y.

    a has mean square 1/p here.  The partners of a symmetric start have a and -a with one row: they
    share what is even in a, and move apart by what is odd.  ``prune`` drops types that fewer than a
    tenth of a neuron would have.
    """
    a, weights = entries(setting, prune)
    readout = np.stack([a, -a], axis=1) if setting.start == "symmetric" else a[:, None]
    entry = readout / math.sqrt(setting.p)
    kept = 1.0 + step.tilt * entry
    # Amplitudes of S and of the rest of the noise.
    turned = math.sqrt(step.lengthening) * step.correlation * entry
    apart = math.sqrt(step.lengthening * (1.0 - step.correlation**2)) * entry
    common = kept + turned * matrix.values[:, None, None]
    own = apart * np.sqrt(matrix.squares)[:, None, None]
    if setting.start == "symmetric":
        load = np.stack([common, own], axis=3)
    else:
        load = np.sqrt(common**2 + own**2)[..., None]
    # Without a part of the noise that is linear in the row, S leads nowhere.
    special = len(matrix.twist) if np.any(turned) else matrix.known
    inside = np.multiply.outer(np.eye(special), kept)
    inside += np.multiply.outer(matrix.twist[:special, :special], turned)
    scatter = symmetric_powers(matrix.scatter[:special, :special])[0]
    # The last mode is the length alone.
    length = np.zeros((special, 1, *entry.shape))
    noise = np.multiply.outer(scatter, apart)
    components = np.concatenate([inside, noise, length], axis=1)
    stretch = np.zeros(components.shape[1:])
    stretch[0] = 2.0 * kept * step.third * entry
    # A normal vector of square length l in d directions has 2 l^2/d for the variance of l.
    square = 2.0 * (step.lengthening * entry**2) ** 2 + (step.swing * kept * entry) ** 2
    if setting.start == "gaussian":
        square += 2.0 * kept**4
    stretch[-1] = np.sqrt(square)
    shares, load = _classes(matrix.shares, load)
    return NeuronTypes(
        weights=weights,
        readout=readout,
        along=step.shift * entry[..., None],
        shares=shares,
        load=load,
        drift=components[0][..., None],
        stretch=stretch,
        sideways=components[1:],
    )


def _classes(
    shares: Float[np.ndarray, " q"], load: Float[np.ndarray, "q t b j"]
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c t b j"]]:
    """The classes as they are, or one of the same square lengths where they hardly differ."""
    even = _one_class(shares, load)
    length = np.sqrt(np.sum(even**2, axis=3, keepdims=True))
    mean = np.tensordot(shares, load, axes=1)
    if np.any(np.abs(load - mean) > EVEN * length):
        return shares, load
    return np.ones(1), even


def _one_class(
    shares: Float[np.ndarray, " q"], load: Float[np.ndarray, "q t b j"]
) -> Float[np.ndarray, "1 t b j"]:
    """Loads of equal square length that are the same in all directions."""
    mean, square = (np.tensordot(shares, part, axes=1) for part in (load, load**2))
    return np.asarray(np.copysign(np.sqrt(square), mean))[None]


def entries(setting: Setting, prune: bool) -> Rule:
    """Values of a, of mean square one, and their weights; one of (a, -a) and (-a, a) for pairs."""
    a, weights = readout_rule(setting, outside=prune)
    kept = a > 0 if setting.start == "symmetric" else np.full(len(a), True)
    if prune:
        kept = kept & (weights >= 0.1 / setting.p)
    return a[kept], weights[kept] / weights[kept].sum()


def kappa_rule(
    k: int, least: float = 0.0
) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, " m"]]:
    """Tensor rule over the coordinates along k directions, without nodes lighter than ``least``.

    Nodes without weight are left out in any case.
    """
    counts = (SPECTRUM_NODES if least > 0 else KAPPA_NODES)[k]
    rules = [gauss_hermite(nodes) for nodes in counts]
    axes = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weights = np.prod(np.meshgrid(*(w for _, w in rules), indexing="ij"), axis=0).ravel()
    kept = weights >= max(least, WEIGHTLESS)
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    return points[kept], weights[kept] / weights[kept].sum()
