"""The sentence about a run whose numbers left the finite ones."""

from __future__ import annotations

from giantstep.errors import DivergenceError
from giantstep.problem.setting import Setting

FEW = 8
"""Step sizes that are all shown."""


def divergence(
    setting: Setting, run: int, step: int, what: str = "its numbers are"
) -> DivergenceError:
    """What to raise about a run that is no longer finite after a step."""
    sizes = setting.step_size
    shown = ", ".join(f"{size:g}" for size in sizes[:FEW])
    more = ", ..." if len(sizes) > FEW else ""
    return DivergenceError(
        f"run {run} diverged: {what} not finite after step {step}, with step_size {shown}{more}"
    )
