"""The sentence about a run whose numbers left the finite ones."""

from __future__ import annotations

from giantstep.errors import DivergenceError
from giantstep.problem.setting import Setting
from giantstep.problem.step_size import size_list


def divergence(
    setting: Setting, run: int, step: int, what: str = "its numbers are"
) -> DivergenceError:
    """What to raise about a run that is no longer finite after a step."""
    return DivergenceError(
        f"run {run} diverged: {what} not finite after step {step}, with step_size "
        f"{size_list(setting.step_size)}. Use a smaller step"
    )
