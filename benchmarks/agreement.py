"""Theory against the deferred engine over a grid of narrow networks, and the time of each.

For every case the largest deviation in standard errors, the share of comparisons beyond 3 (0.3 %
are expected by chance), and the seconds of ``predict`` (aim below 2) beside the simulation's.
``--full``: 200 runs at d = 10^4 and 10^5; otherwise 40 runs at d = 10^4.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting
from giantstep.records.comparison import compare
from giantstep.simulation.simulate import simulate

ACTIVATIONS = ("relu", "erf", "tanh", "He1 + He2/2")
TARGETS = ("staircase", "equal-links", "joint-step", "split-step", "tanh-cubic", "linear")
BATCHES = ("d/2", "2d", "8d")
SIZES = (0.3, 1.0, "giant")
SCALES = ("1/p", "1/sqrt(p)")


def cases(full: bool) -> list[dict[str, Any]]:
    """Every activation with every target; the other choices take turns."""
    turns = itertools.cycle(itertools.product(BATCHES, SIZES, SCALES, (1, 2, 3, 4)))
    found = []
    for d in (10_000, 100_000) if full else (10_000,):
        for activation, target in itertools.product(ACTIVATIONS, TARGETS):
            # Step through the product by a number prime to its length, so that all turns come up.
            n, size, scale, steps = next(itertools.islice(turns, 6, None))
            # A square grows on itself: giant steps of He2 explode beyond two.
            if "He" in activation:
                size, steps = 0.3, min(steps, 2)
            found.append(
                {"target": target, "activation": activation, "d": d, "n": n, "steps": steps}
                | {"step_size": size, "output_scale": scale}
            )
    return found


def main() -> None:
    """Print one line a case and a summary."""
    full = "--full" in sys.argv
    deviations, slowest = [], 0.0
    for fields in cases(full):
        setting = Setting(
            p=4, runs=200 if full else 40, readout_n=20_000, test_n=2000, ridge=1e-4, **fields
        )
        predicted = predict(setting)
        simulated = simulate(setting)
        compared = compare(predicted, simulated)
        slowest = max(slowest, predicted.seconds)
        flat = np.concatenate([np.abs(v).ravel() for v in compared.deviations.values()])
        deviations.append(flat)
        print(
            f"agreement {fields['target']:12s} {fields['activation']:11s} d = {setting.d:6d} "
            f"n = {fields['n']:3s} T = {setting.steps} eta = {setting.step_size[0]:4.2g} "
            f"{setting.output_scale:9s}: largest {compared.largest:4.1f}, p-value "
            f"{compared.p_value:.2g}, predict {predicted.seconds:.2f} s, "
            f"simulate {simulated.seconds:.1f} s"
        )
    everything = np.concatenate(deviations)
    print(
        f"agreement {len(deviations)} cases, {len(everything)} comparisons, "
        f"{np.mean(everything > 3):.2%} beyond 3 standard errors, largest {everything.max():.1f}, "
        f"slowest prediction {slowest:.2f} s (aim 2 s)"
    )


if __name__ == "__main__":
    main()
