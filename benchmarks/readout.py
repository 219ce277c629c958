"""The readout against the steps: a run with it over the same run without.

Aim: below 3 times at d = 2000, n = 20000, p = 6, T = 2, where the steps draw 40,000 samples and the
readout 120,000 (n to fit on and 20,000 to test on, after 0, 1 and 2 steps) for 40 penalties.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks._timing import best
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

FIELDS: dict[str, Any] = {"d": 2000, "n": 20_000, "p": 6, "steps": 2}
STEPS_ONLY: dict[str, Any] = {"readout_n": 0, "test_n": 0}


def main() -> None:
    """Print both ratios, with penalties to choose from and with one."""
    runs = {
        "steps": STEPS_ONLY,
        "40 penalties": {},
        "one penalty": {"ridge": 1e-3},
    }
    settings = {
        name: Setting("x1 + x2 + x1^2 - x2^2", **FIELDS, **fields) for name, fields in runs.items()
    }
    times = {name: best(partial(simulate, setting), 15) for name, setting in settings.items()}
    steps = times.pop("steps")
    setting = settings["one penalty"]
    drawn = (setting.steps + 1) * (setting.readout_n + setting.test_n)
    for name, seconds in times.items():
        print(
            f"readout  {name}: {seconds * 1e3:.1f} ms with, {steps * 1e3:.1f} ms without, ratio "
            f"{seconds / steps:.1f} (aim below 3); a sample {(seconds - steps) / drawn * 1e9:.0f} "
            f"ns, in a step {steps / setting.steps / setting.n * 1e9:.0f} ns"
        )


if __name__ == "__main__":
    main()
