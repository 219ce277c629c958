"""Learning curves from n ~ d to n ~ d^2, before and after one giant step, against exact runs.

A line a size of the readout's batch: train and test error, simulated and predicted, with the
deviation in standard errors and relative to 1/d (aim 4), and the seconds of a prediction (aim 2).
p = d^2/2, so that the error peaks at readout_n = d^2/2 and falls again; d = 24 and 6 runs,
``--full``: d = 40, 12 runs and more activations.
"""

from __future__ import annotations

import math
import sys
import time

from giantstep.prediction.wide.losses import losses
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import simulate

SIZES = ("d", "4d", "d^2/4", "d^2/2", "d^2", "3d^2")


def main() -> None:
    """Print one line a size, activation and step."""
    full = "--full" in sys.argv
    for activation in ("relu", "tanh", "erf", "gelu", "He1 + He2/2") if full else ("relu", "tanh"):
        for size in SIZES:
            setting = Setting(
                "tanh(x1) + sin(x1)*sin(x2)",
                activation=activation,
                d=40 if full else 24,
                n="d^2",
                p="d^2/2",
                readout_n=size,
                steps=1,
                step_size=20.0,
                output_scale="1",
                start="sphere",
                readout_start="gaussian",
                residual="labels",
                noise=0.3,
                ridge=1e-3,
                runs=12 if full else 6,
                precision="float64",
            )
            compare(setting)


def compare(setting: Setting) -> None:
    """One line for the start and one after the step."""
    found = simulate(setting)
    for step in (0, 1):
        begin = time.perf_counter()
        predicted = losses(setting.vary(steps=step))
        seconds = time.perf_counter() - begin
        shown = []
        for name in ("train", "test"):
            runs, theory = getattr(found, f"{name}_error")[:, step], getattr(predicted, name)
            mean, error = runs.mean(), runs.std(ddof=1) / math.sqrt(len(runs))
            shown.append(
                f"{name} {mean:.4f} / {theory:.4f} ({(theory - mean) / error:+.1f} s.e., "
                f"{setting.d * (theory / mean - 1):+.1f}/d)"
            )
        print(
            f"quadratic {setting.activation.name[:12]:12s} d = {setting.d} p = {setting.p} "
            f"readout_n = {setting.readout_n:5d} step {step}: {', '.join(shown)}, {seconds:.2f} s"
        )


if __name__ == "__main__":
    main()
