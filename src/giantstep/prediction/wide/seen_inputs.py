"""Inputs with blocks of axes by normals: what labels and neurons are as functions of z ~ N(0, I).

Inputs are x = tau Sigma^(1/2) z with tr Sigma = d.  A row w acts on z as Sigma^(1/2) w, with the
activation sigma(tau .), and the gradient of a step is Sigma^(1/2) times that for inputs z.  With
one block Sigma = 1: these are the inputs of all other pages.  See docs/derivations/wide_blocks.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.rules import Rule
from giantstep.problem.activation import Activation
from giantstep.problem.frames import block_profiles
from giantstep.problem.setting import Setting
from giantstep.problem.target import Target

SHIFTS = (0.1, 1.0, 10.0)
"""What ridge leaves of a direction is 1/(1 + a v) of its variance v, with a of order one."""


@dataclass(frozen=True, eq=False)
class SeenInputs:
    """The inputs of a setting by normals z.

    ``target`` and ``activation`` -> f and sigma as functions of unit normals; ``scale`` -> tau;
    ``shares`` -> pi_b of the axes and ``variances`` -> v_b, of mean one, for each block;
    ``profiles`` -> |P_b w*_k|^2, the squared part of a target direction in each block.

    docs/derivations/wide_blocks.md, eqs. (1), (2) and (3).
    """

    target: Target
    activation: Activation
    scale: float
    shares: Float[np.ndarray, " m"]
    variances: Float[np.ndarray, " m"]
    profiles: Float[np.ndarray, "r m"]

    def moment(self, k: int) -> float:
        """m_k = tr Sigma^k/d."""
        return float(self.shares @ self.variances**k)

    def carrying(self, d: int, steps: int) -> float:
        """Number of equally large variances that have as uneven a sum of squares, at most d.

        (tr C)^2/tr C^2 with C = Sigma for the lengths of rows and inputs before a step, and
        C = Sigma^2 for the noise that a step learns.

        docs/derivations/wide_blocks.md, eq. (13).
        """
        axes = np.where(self.shares > 0, d * self.shares, 1.0)
        power = self.variances ** (1 if steps == 0 else 2)
        return float((axes @ power) ** 2 / (axes @ power**2))

    def along_target(self, k: int) -> Float[np.ndarray, " r"]:
        """w*^T Sigma^k w* for each target direction."""
        return self.profiles @ self.variances**k

    @property
    def target_deviations(self) -> Float[np.ndarray, " r"]:
        """tau_k = |Sigma^(1/2) w*_k|."""
        return np.sqrt(self.along_target(1))

    def variances_of(self, count: int) -> Float[np.ndarray, " j"]:
        """Variances of so many axes, at the quantiles (j + 1/2)/count of all axes."""
        ends = np.cumsum(self.shares)
        at = np.searchsorted(ends, (np.arange(count) + 0.5) / count)
        return self.variances[np.minimum(at, len(ends) - 1)]


@lru_cache(maxsize=64)
def seen_inputs(setting: Setting) -> SeenInputs:
    """The inputs of a setting; anything but blocks and a spike counts as N(0, I).

    docs/derivations/wide_blocks.md, eqs. (1), (2) and (3).
    """
    inputs, r = setting.inputs, setting.target.r
    if inputs.in_blocks:
        blocks = inputs.blocks(setting.d)
        shares, variances = blocks.sizes / setting.d, blocks.variances
        profiles = block_profiles(setting.frame, inputs, setting.d, r)
    elif inputs.spike is not None:
        # One direction has no share of the axes.
        shares, variances = np.array([1.0, 0.0]), np.array([1.0, inputs.spike[0]])
        profiles = np.tile(shares, (r, 1))
        profiles[0] = 1.0 - inputs.spike[1] ** 2, inputs.spike[1] ** 2
    else:
        one = np.ones(1)
        return SeenInputs(setting.target, setting.activation, 1.0, one, one, np.ones((r, 1)))
    square = float(shares @ variances)
    scale = math.sqrt(square)
    return SeenInputs(
        target=setting.target.compose(np.diag(np.sqrt(profiles @ variances))),
        activation=setting.activation.stretched(scale),
        scale=scale,
        shares=shares,
        variances=variances / square,
        profiles=profiles,
    )


@dataclass(frozen=True, eq=False)
class SpecialAxes:
    """Orthonormal axes of one variance each that hold the target and the learned direction.

    ``variances`` -> Sigma along each; ``target`` -> unit vectors along Sigma^(1/2) w*_k;
    ``learned`` -> the unit vector v of the features; ``held`` -> what a sample of the step has
    along each axis beside a normal part, in units of its residual.

    docs/derivations/wide_blocks.md, eqs. (5) and (7).
    """

    variances: Float[np.ndarray, " a"]
    target: Float[np.ndarray, "a r"]
    learned: Float[np.ndarray, " a"]
    held: Float[np.ndarray, " a"]

    def basis(self, outside: Float[np.ndarray, "q r"]) -> Float[np.ndarray, "a a"]:
        """Columns: v, the directions of the label outside v, and what is left of the axes.

        ``outside`` -> the coordinates of the second in the target: w = overlap v + outside e.
        """
        beside = self.target - np.outer(self.learned, self.learned @ self.target)
        known = np.column_stack([self.learned, beside @ np.linalg.pinv(outside)])
        left = np.linalg.svd(known, full_matrices=True)[0][:, known.shape[1] :]
        return np.column_stack([known, left])

    def covariance(self, basis: Float[np.ndarray, "a a"]) -> Float[np.ndarray, "a a"]:
        """Sigma in a basis."""
        return (basis.T * self.variances) @ basis


def special_axes(
    inputs: SeenInputs,
    signal: Float[np.ndarray, " r"],
    added: Callable[[Float[np.ndarray, " k"]], Float[np.ndarray, " k"]],
    pull: float,
) -> SpecialAxes:
    """The axes of a step that learns Sigma times ``signal`` along the target, and noise.

    ``added`` -> the square of what is learned beside the target in the weights, by the variance of
    a block, and ``pull`` -> c delta, its product with a sample in units of the residual and of the
    variance.  Few nodes take the place of many blocks.  A step that learns nothing has one axis of
    unit variance that no label sees.
    """
    v, r = inputs.variances, len(signal)
    rules = [few_nodes(v, profile * v) for profile in inputs.profiles]
    variances, squares = (np.concatenate(part) for part in zip(*rules, strict=True))
    axis = np.repeat(np.arange(r), [len(nodes) for nodes, _ in rules])
    target = np.eye(r)[axis] * np.sqrt(squares)[:, None]
    learned = variances * (target @ signal)
    noise = inputs.shares * v * np.maximum(added(v), 0.0)
    nodes, shares = few_nodes(v, noise)
    beside = np.sqrt(np.sum(noise) * shares)
    held = pull * beside / np.maximum(added(nodes), np.finfo(float).tiny)
    if len(nodes) == 0 and not np.any(learned):
        nodes, beside, held = np.ones(1), np.ones(1), np.zeros(1)
    # A direction without share of the axes counts even where neither label nor step know it.
    alone = v[(inputs.shares == 0) & np.all(inputs.profiles == 0, axis=0)]
    nodes, beside, held = (
        np.append(part, [other] * len(alone) if other is not None else alone)
        for part, other in ((nodes, None), (beside, 0.0), (held, 0.0))
    )
    direction = np.concatenate([learned, beside])
    return SpecialAxes(
        variances=np.concatenate([variances, nodes]),
        target=np.concatenate([target, np.zeros((len(nodes), r))]),
        learned=direction / np.linalg.norm(direction),
        held=np.concatenate([np.zeros(len(axis)), held]),
    )


def few_nodes(places: Float[np.ndarray, " m"], masses: Float[np.ndarray, " m"]) -> Rule:
    """Few nodes and weights in the place of many atoms, of total one; few atoms are themselves.

    With w the roots of the masses and Sigma = diag(places), they are the eigenvalues of Sigma on
    the span of w, Sigma w and (shift + Sigma)^-1 w for each of SHIFTS: moments to the third are
    exact, and means of 1/(shift + place) and of its square.
    """
    there = masses > 0
    places, at = np.unique(places[there], return_inverse=True)
    masses = np.bincount(at, masses[there], minlength=len(places)) / np.sum(masses[there])
    if len(places) <= 2 + len(SHIFTS):
        return places, masses
    functions = [np.ones_like(places), places, *(1.0 / (shift + places) for shift in SHIFTS)]
    basis = np.linalg.qr((np.array(functions) * np.sqrt(masses)).T)[0]
    nodes, turned = np.linalg.eigh((basis.T * places) @ basis)
    return nodes, (turned.T @ (basis.T @ np.sqrt(masses))) ** 2
