"""What a network with its fitted readout computes, over a plane of target directions.

With u the coordinates of an input along the plane, m_i those of row i, v_i the row outside the
plane, b_i its bias and a the ridge readout of the rows,

    E[f(x) | u] = s_p sum_i a_i E_t sigma(<m_i, u> + b_i + |v_i| t),   t ~ N(0, 1),

and beside it stands the same mean of the target (docs/derivations/readout.md, eq. (5)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from jaxtyping import Float, Int

from giantstep.analysis.subspace import completed
from giantstep.gaussian.points import normal_points
from giantstep.prediction.limits import first_complaint
from giantstep.prediction.narrow.mean_gradient import smoothed
from giantstep.prediction.narrow.part_limits import PARTS
from giantstep.prediction.narrow.points import points_for
from giantstep.prediction.narrow.readout import fitted_readout
from giantstep.prediction.narrow.state import State, coordinates
from giantstep.problem.network import start_biases
from giantstep.problem.target import Target
from giantstep.records.trajectory import Trajectory

TINY = np.finfo(float).tiny

Plane = Float[np.ndarray, "k r"]
"""One or two orthonormal combinations of the target directions, a row each."""


@dataclass(frozen=True)
class FittedFunction:
    """Conditional means of target and network over a plane, after some of the recorded steps.

    ``places`` are numbers of recorded steps, ``grid`` the values of a coordinate of the plane; the
    first axis of a surface is the first coordinate.  ``readout`` is a, fitted after each step.
    ``varies[t, k]`` is the variance that the network's surface loses where coordinate k is averaged
    out, and ``explained`` 1 - E (network - target)^2 / Var(target): both are shares of the
    target's variance over the plane.  Their means are those of normal coordinates, which also lie
    beyond the ends of the grid.
    """

    places: Int[np.ndarray, " t"]
    grid: Float[np.ndarray, " g"]
    target: Float[np.ndarray, "*k"]
    network: Float[np.ndarray, "t *k"]
    readout: Float[np.ndarray, "t p"]
    varies: Float[np.ndarray, "t k"]
    explained: Float[np.ndarray, " t"]


def fitted_function(
    prediction: Trajectory,
    plane: Plane,
    *,
    log2_points: int = 14,
    most_steps: int = 12,
    reach: float = 2.0,
    size: int = 31,
) -> FittedFunction:
    """The functions of the first row of a prediction that lacks nothing for them (``lacks``).

    The readout is that of infinitely many samples, fitted on 2^log2_points points.  At most so many
    steps are taken, evenly spread, and ``size`` places of a coordinate in -reach..reach: 2 % of
    the inputs are beyond on either side.
    """
    setting = prediction.setting
    assert lacks(prediction) is None
    count = len(prediction.steps)
    places = sorted({round(at) for at in np.linspace(0, count - 1, min(count, most_steps))})
    readout = np.stack([_readout(prediction, place, log2_points) for place in places])

    def surfaces(values: Float[np.ndarray, " g"]) -> tuple[np.ndarray, np.ndarray]:
        u, shape = _on_grid(values, len(plane)), (len(values),) * len(plane)
        networks = [
            _network(prediction, place, plane, a, u).reshape(shape)
            for place, a in zip(places, readout, strict=True)
        ]
        return target_on_plane(setting.target, plane, u).reshape(shape), np.stack(networks)

    grid = np.linspace(-reach, reach, size)
    nodes, weights = _normal_rule()
    varies, explained = _shares(*surfaces(nodes), weights)
    return FittedFunction(np.array(places), grid, *surfaces(grid), readout, varies, explained)


def lacks(prediction: Trajectory) -> str | None:
    """What a prediction lacks to say what its network computes, None where it has all."""
    setting = prediction.setting
    if prediction.many_neurons or prediction.from_runs:
        return f"the {prediction.theory} theory predicts no single neurons"
    if prediction.gram is None:
        return "the inner products of so many neurons are not kept"
    if setting.readout_n == 0:
        return "no readout is fitted, readout_n is 0"
    if setting.inputs.known_directions:
        return f"the inputs must be isotropic, got {setting.inputs}"
    return first_complaint(PARTS["readout errors"], setting)


def _readout(prediction: Trajectory, place: int, log2_points: int) -> Float[np.ndarray, " p"]:
    """The readout fitted after a recorded step; its points are the same after every step."""
    setting = prediction.setting
    assert prediction.gram is not None
    rows = coordinates(prediction.overlap[0, place], prediction.gram[0, place])
    state = State(rows, np.zeros(setting.p), biases=start_biases(setting, 0))
    return fitted_readout(setting, state, points_for(setting, 0, log2_points)(rows, 0))


def _network(
    prediction: Trajectory,
    place: int,
    plane: Plane,
    readout: Float[np.ndarray, " p"],
    u: Float[np.ndarray, "n k"],
) -> Float[np.ndarray, " n"]:
    """E[f | u] of the network after a recorded step.

    docs/derivations/readout.md, eq. (5).
    """
    setting = prediction.setting
    inside = prediction.overlap[0, place] @ plane.T
    squares = prediction.norms[0, place] ** 2 - np.sum(inside**2, axis=1)
    centres = inside @ u.T + start_biases(setting, 0)[:, None]
    means, _, _ = smoothed(setting.activation, centres, np.sqrt(np.maximum(squares, 0.0)))
    return setting.scale * readout @ means


def target_on_plane(
    target: Target, plane: Plane, u: Float[np.ndarray, "n k"], *, log2_points: int = 9
) -> Float[np.ndarray, " n"]:
    """E[f(z) | u] of the target: f itself where the plane holds all of its directions.

    Other coordinates are averaged over 2^log2_points points and their mirror images, which leave
    nothing of odd terms.
    """
    others = completed(plane)[len(plane) :]
    along = u @ plane
    if len(others) == 0:
        return _values(target, along)
    half = normal_points(len(others), 0, log2_points) @ others
    z = along[:, None] + np.concatenate([half, -half])
    return _values(target, z.reshape(-1, target.r)).reshape(len(u), -1).mean(axis=1)


def _values(target: Target, z: Float[np.ndarray, "n r"]) -> Float[np.ndarray, " n"]:
    """f at points, a number for each."""
    columns = [z[:, k] for k in range(target.r)]
    return np.broadcast_to(np.asarray(target(columns), dtype=float), len(z)).copy()


def _on_grid(grid: Float[np.ndarray, " g"], dimension: int) -> Float[np.ndarray, "n k"]:
    """All points of the plane on the grid, the last coordinate running fastest."""
    return np.stack(np.meshgrid(*[grid] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)


def _normal_rule(
    reach: float = 6.4, size: int = 33
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Nodes and weights of the trapezoidal rule for the mean of a function of a normal number.

    With nodes 0.4 apart the rule integrates smooth functions to rounding, and a function with a
    kink to 0.4^2/12 times the change of its slope.  The fourth moment beyond 6.4 is 1e-6.
    """
    nodes = np.linspace(-reach, reach, size)
    weights = np.exp(-0.5 * nodes**2)
    return nodes, weights / np.sum(weights)


def _shares(
    target: Float[np.ndarray, "*k"],
    network: Float[np.ndarray, "t *k"],
    weights: Float[np.ndarray, " m"],
) -> tuple[Float[np.ndarray, "t k"], Float[np.ndarray, " t"]]:
    """What the surfaces vary by along each coordinate, and how much of the target they explain.

    Surfaces are given at the nodes of a rule for normal coordinates with these weights.
    """
    joint = reduce(np.multiply.outer, [weights] * target.ndim)

    def average(values: Float[np.ndarray, "*k"]) -> float:
        return float(np.sum(joint * values))

    def along(surface: Float[np.ndarray, "*k"], axis: int) -> float:
        mean = np.expand_dims(np.tensordot(surface, weights, axes=(axis, 0)), axis)
        return average((surface - mean) ** 2)

    variance = average((target - average(target)) ** 2)
    varies = [[along(surface, axis) for axis in range(target.ndim)] for surface in network]
    left = [average((surface - target) ** 2) for surface in network]
    # A target that is flat over the plane has no variance to share.
    return np.array(varies) / max(variance, TINY), 1.0 - np.array(left) / max(variance, TINY)
