"""Measured exponents of one giant step at n = d^kappa, beside the predicted ones.

Leap 2 and 3, kappa from l - 1/2 to l + 1/2, random starts.  Two predictions stand beside each
measurement: the slope of the predicted medians at the very same sizes, and the exponent of the
limit, which corrections of relative order d^(-1/4) approach slowly below the boundary.  The largest
batch is 10^7 samples, with ``--full`` 10^10: leap 2 up to d = 10^4, leap 3 up to d = 500 (an hour
on two cores).
"""

from __future__ import annotations

import sys

import numpy as np

from giantstep.observables import scaling_exponent
from giantstep.setting import Setting
from giantstep.simulation import simulate
from giantstep.theory.overlaps import cosine_quantiles
from giantstep.theory.phase import cosine_exponent


def measure(leap: int, kappa: float, sizes: tuple[int, ...], most: float) -> None:
    """Print the exponent of the median cosine with its 99 % interval beside the predicted ones."""
    used = [d for d in sizes if d**kappa <= most]
    cosines, medians = [], []
    for d in used:
        setting = Setting(
            f"He{leap}(x1)",
            activation="tanh(z + 0.5)",  # every coefficient; relu has no third one
            d=d,
            n=f"d^{kappa}",
            p=2,
            steps=1,
            step_size=f"20*d^{(leap - 1) / 2}",
            # Many runs where they are cheap.
            runs=int(np.clip(1e8 / d**kappa, 24, 800)),
            readout_n=0,
            test_n=0,
        )
        cosines.append(np.abs(simulate(setting).cosine[:, 1, 0, 0]))
        medians.append(cosine_quantiles(setting, np.array([0.5]))[0, 0])
    found = scaling_exponent(used, cosines)
    x = np.log(used) - np.mean(np.log(used))
    expected = float(np.log(medians) @ x / (x @ x))
    print(
        f"phase    leap {leap}, n = d^{kappa:.2f}, d = {used[0]}..{used[-1]}: exponent "
        f"{found.exponent:+.3f} in [{found.low:+.3f}, {found.high:+.3f}], predicted at these sizes "
        f"{expected:+.3f}, in the limit {cosine_exponent(leap, kappa):+.3f}"
    )


def main() -> None:
    """Both leaps over the range of kappa."""
    most = 1.01e10 if "--full" in sys.argv else 1e7
    for kappa in (1.5, 1.75, 2.0, 2.25, 2.5):
        measure(2, kappa, (100, 316, 1000, 3162, 10_000), most)
    for kappa in (2.5, 2.75, 3.0, 3.25, 3.5):
        measure(3, kappa, (30, 60, 120, 250, 500), most)


if __name__ == "__main__":
    main()
