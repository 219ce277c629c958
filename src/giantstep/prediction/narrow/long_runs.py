"""Long runs on fresh batches: the recursion of the means in groups of steps, recorded sparsely.

The map of one step is that of fresh.py, exact at any step size; grouped.py takes many at once.  Its
averages have closed forms where network and target are sums of erf units; of relu units the drift
and the error have them, and for everything else points serve, new ones for every group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.prediction.narrow.committee import Committee, committee_of
from giantstep.prediction.narrow.covariance import packed, unpacked
from giantstep.prediction.narrow.evolution import Evolution, direction_cosines
from giantstep.prediction.narrow.fresh import Drift, mean_step, moved_state, seen_points
from giantstep.prediction.narrow.grouped import Group, groups
from giantstep.prediction.narrow.points import Quadrature
from giantstep.prediction.narrow.state import State, coordinates, squared_error
from giantstep.problem.network import network_and_coefficients
from giantstep.problem.setting import Setting

FEW_STEPS = 100
"""Steps up to which each is taken on its own."""


def is_long(setting: Setting) -> bool:
    """Whether the steps of a setting are taken in groups: the state is (M, Q) alone."""
    frozen = setting.readout_between.kind.frozen and setting.plain_gradient
    frozen = frozen and not setting.update.kind.entrywise
    alone = frozen and not setting.inputs.known_directions and not setting.seen_again
    return alone and setting.steps > FEW_STEPS


def closed_forms(setting: Setting) -> Committee | None:
    """The closed forms of a setting where they leave nothing to points."""
    committee = committee_of(setting)
    return committee if committee is not None and committee.complete(setting.p) else None


@dataclass
class Moves:
    """The map (M, Q) -> (M', Q') of a step for several networks.

    ``committee`` has the closed forms, ``quadrature`` the points where they do not reach; where
    they reach one start serves any number of states.  ``errors`` and ``cosines`` are those at the
    first state of every group.

    docs/derivations/long_runs.md, eq. (1).
    """

    setting: Setting
    starts: Sequence[State]
    committee: Committee | None
    quadrature: Quadrature | None
    errors: list[Float[np.ndarray, " k"]] = field(default_factory=list)
    cosines: list[Float[np.ndarray, "k p r"]] = field(default_factory=list)

    def __call__(
        self, state: Float[np.ndarray, "k m"], step: int, group: int
    ) -> Float[np.ndarray, "k m"]:
        """What a step adds to the packed states."""
        setting = self.setting
        overlap, gram = unpacked(state, setting.p, setting.target.r)
        drift, error = self._drift(overlap, gram, step, group)
        if group == len(self.errors):
            lengths = np.sqrt(np.diagonal(drift.gradient, axis1=1, axis2=2))
            self.errors.append(error)
            self.cosines.append(direction_cosines(drift.pull, lengths))
        moved, square, _ = moved_state(setting, step, overlap, gram, drift)
        return packed(moved, square) - state

    def groups(self, state: Float[np.ndarray, "k m"], tolerance: float) -> Iterator[Group]:
        """All steps from the packed states, in groups of an error of ``tolerance`` row lengths."""
        p, r = self.setting.p, self.setting.target.r
        return groups(
            self,
            state,
            self.setting.step_size,
            scale=lambda state: lengths_of(state, p, r),
            tolerance=tolerance,
        )

    def _drift(
        self,
        overlap: Float[np.ndarray, "k p r"],
        gram: Float[np.ndarray, "k p p"],
        step: int,
        group: int,
    ) -> tuple[Drift, Float[np.ndarray, " k"]]:
        """The means of a step for every network, and its error where points measure it."""
        setting = self.setting
        if self.committee is not None:
            readouts = np.stack([start.readout for start in self.starts])
            readout = np.broadcast_to(readouts, overlap.shape[:2])
            closed = self.committee.drift(setting, overlap, gram, readout)
            if self.committee.complete(setting.p):
                return closed, np.full(len(overlap), np.nan)
        drifts, errors = [], []
        for start, row_overlap, row_gram in zip(self.starts, overlap, gram, strict=True):
            assert self.quadrature is not None
            state = replace(start, rows=coordinates(row_overlap, row_gram))
            seen = seen_points(setting, self.quadrature(state.rows, group))
            inputs = state.preactivations(seen.points.x)
            output, g = network_and_coefficients(setting, inputs, seen.labels, start.readout)
            drifts.append(mean_step(setting, state.rows, seen, g, step).drift)
            errors.append(squared_error(setting, seen.outcomes, output, seen.points.weights))
        parts = zip(*(vars(drift).values() for drift in drifts), strict=True)
        sampled = Drift(*map(np.stack, parts))
        if self.committee is not None:
            sampled = replace(closed, gradient=sampled.gradient)
        return sampled, np.array(errors)


def lengths_of(state: Float[np.ndarray, "k m"], p: int, r: int) -> Float[np.ndarray, "k m"]:
    """What the entries of packed states are measured by: |w_i| and |w_i||w_j|."""
    _, gram = unpacked(state, p, r)
    norms = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    return packed(np.repeat(norms[..., None], r, axis=2), norms[:, :, None] * norms[:, None, :])


def long_evolution(
    setting: Setting,
    starts: Sequence[State],
    quadrature: Quadrature | None,
    tolerance: float,
) -> list[Evolution]:
    """Recorded steps of the recursion from several starts, which share their groups.

    ``tolerance`` is the error of a group in lengths of the rows; where all averages have closed
    forms there is no need of a ``quadrature``.
    """
    p, r, recorded = setting.p, setting.target.r, np.array(setting.recorded)
    overlap = np.stack([start.rows[:, :r] for start in starts])
    gram = np.stack([start.rows @ start.rows.T for start in starts])
    state = packed(overlap, gram)
    moves = Moves(setting, starts, committee_of(setting), quadrature)
    path, ends = np.empty((len(recorded), *state.shape)), [0]
    path[0] = state
    for group in moves.groups(state, tolerance):
        inside = (recorded > group.begin) & (recorded <= group.end)
        path[inside] = group.at(recorded[inside])
        ends.append(group.end)
        state = group.after
    if len(moves.errors) < len(ends):  # the last group is a single step
        moves(state, setting.steps - 1, len(moves.errors))
    cosines = between(np.array(ends), np.stack(moves.cosines), recorded[1:] - 1)
    evolutions = []
    for k, start in enumerate(starts):
        overlap, gram = unpacked(path[:, k], p, r)
        if moves.committee is None:
            errors = between(np.array(ends), np.stack(moves.errors)[:, k], recorded)
        else:
            errors = moves.committee.errors(setting, overlap, gram, start.readout)
        evolutions.append(Evolution(overlap, gram, cosines[:, k], errors))
    return evolutions


def between(
    ends: Int[np.ndarray, " g"], values: Float[np.ndarray, "g ..."], steps: Int[np.ndarray, " t"]
) -> Float[np.ndarray, "t ..."]:
    """Values at the ends of groups, and between them by monotone cubics."""
    from scipy.interpolate import PchipInterpolator  # slow to import

    return np.asarray(PchipInterpolator(ends, values)(steps), dtype=float)
