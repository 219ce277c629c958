"""Simulate a setting with its runs in a store: what is there is not computed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory, keeps_gram
from giantstep.simulation.simulate import MEMORY, simulate_runs
from giantstep.store.folder import Store, run_bytes, stacked
from giantstep.store.identity import resolved, run_name


def simulate_stored(
    setting: Setting,
    store: Store,
    *,
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
    partial: bool = False,
    directions: Float[np.ndarray, "r d"] | None = None,
) -> Trajectory:
    """What ``simulate`` returns, each run kept in the store as soon as it is finished.

    ``partial`` and the others are those of ``simulate``.  A file that is damaged, or of another
    setting, is refused before anything is computed.
    """
    store.prepare()
    chosen, interrupted = resolved(setting, memory), False
    asked = store.missing(chosen, directions)
    missing = set(asked)
    stored = [run for run in range(setting.runs) if run not in missing]
    runs = {run: store.run(chosen, run, directions) for run in stored}
    try:
        pending = simulate_runs(
            chosen, asked, memory=memory, progress=progress, directions=directions
        )
        for run, trajectory in pending:
            # A comparison needs the Gram matrices, whatever their size.
            store.write(
                run_name(chosen, run, directions), run_bytes(trajectory, run, keep=("gram",))
            )
            runs[run] = store.run(chosen, run, directions)
            missing.remove(run)
    except KeyboardInterrupt:
        # The runs before the first that is missing are whole.
        if not (partial and min(missing, default=setting.runs) > 0):
            raise
        interrupted = True
    held = min(missing, default=setting.runs)
    trajectory = stacked(chosen, [runs[run] for run in range(held)])
    gram = trajectory.gram if keeps_gram(setting) else None
    return replace(trajectory, setting=setting, interrupted=interrupted, gram=gram)
