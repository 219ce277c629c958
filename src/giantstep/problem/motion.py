"""What a step makes of the rows of W, of their velocities, and of the gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.coordinates import compressed, widened
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Motion:
    """Rows and their velocities in one basis, of which the velocities may lack the last vectors.

    Without momentum there are no velocities; an update with memory has that in their place.
    """

    rows: Any
    velocity: Any = None

    @staticmethod
    def at_rest(setting: Setting) -> Float[np.ndarray, "p 0"] | None:
        """Velocities at the start: zero, which takes no coordinates."""
        return np.zeros((setting.p, 0)) if setting.momentum else None

    def grown(self, columns: int) -> Motion:
        """The same vectors in a basis of so many vectors, which begins with this one."""
        velocity = self.velocity
        if isinstance(velocity, np.ndarray):
            velocity = widened(velocity, columns)
        return Motion(widened(self.rows, columns), velocity)

    def compressed(self, known: int) -> Motion:
        """The same vectors in a basis of as few as may be, the ``known`` first ones unchanged."""
        if self.velocity is None:
            return Motion(compressed(self.rows, known))
        together = self.grown(self.rows.shape[1])
        vectors = compressed(np.concatenate([together.rows, together.velocity]), known)
        return Motion(*np.split(vectors, 2))


def used_gradient(
    setting: Setting, rows: Float[np.ndarray, "p q"], gradient: Float[np.ndarray, "p k"]
) -> Float[np.ndarray, "p k"]:
    """The part of a gradient that a step uses, in its basis, which begins with that of the rows."""
    if not setting.gradient.kind.tangent:
        return gradient
    return np.asarray(setting.gradient.kind.part(widened(rows, gradient.shape[1]), gradient))


def combined(
    setting: Setting, gradient: Any, velocity: Any, update: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """What the step size multiplies, and the velocities or the memory after the step."""
    if setting.update.kind.remembered is not None:
        return setting.update.remembered(gradient, velocity)
    if setting.update.kind.clips:
        return setting.momentum.combined(update(gradient), velocity)
    used, velocity = setting.momentum.combined(gradient, velocity)
    return update(used), velocity


def stepped_rows(
    setting: Setting,
    motion: Motion,
    gradient: Float[np.ndarray, "p k"],
    size: float,
    basis: Float[np.ndarray, "k d"] | None = None,
) -> Motion:
    """Rows after a step along a gradient, in its basis, which begins with that of the rows.

    ``basis`` are its vectors in R^d, for an update that depends on the axes.
    """
    motion = motion.grown(gradient.shape[1])
    if setting.update.kind.remembered is not None and basis is not None:
        entries, memory = combined(setting, gradient @ basis, motion.velocity, setting.update)
        moved = moved_rows(setting, motion.rows, entries @ basis.T, size)
        return Motion(np.asarray(moved), memory)

    def update(used: Float[np.ndarray, "p k"]) -> Float[np.ndarray, "p k"]:
        if basis is None:
            return setting.update(used)
        return setting.update(used @ basis) @ basis.T

    direction, velocity = combined(setting, gradient, motion.velocity, update)
    return Motion(np.asarray(moved_rows(setting, motion.rows, direction, size)), velocity)


def moved_rows(setting: Setting, rows: Any, direction: Any, size: Any) -> Any:
    """Rows after a step: (1 - decay) W + size times the direction, normalised if they are to be."""
    moved = (1.0 - setting.decay) * rows + size * direction
    if not setting.normalises_rows:
        return moved
    return moved / ((moved**2).sum(axis=1) ** 0.5)[:, None]
