"""Measured exponents of one giant step at n = d^kappa, beside the predicted curve.

Leap 2 and 3, kappa from l - 1/2 to l + 1/2, from overlaps of exactly d^(-1/2), the size random ones
have; twenty times the giant size, so that what the step adds outweighs the start.  The largest
batch is 10^7 samples, with ``--full`` 10^9 (hours; leap 2 up to d = 10^4, leap 3 up to d = 500).
"""

from __future__ import annotations

import sys

import numpy as np

from giantstep.observables import scaling_exponent
from giantstep.setting import Setting
from giantstep.simulation import simulate
from giantstep.theory.phase import cosine_exponent


def measure(leap: int, kappa: float, sizes: tuple[int, ...], most: float) -> None:
    """Print the exponent of the median cosine with its 99 % interval beside the predicted one."""
    used = [d for d in sizes if d**kappa <= most]
    cosines = []
    for d in used:
        setting = Setting(
            f"He{leap}(x1)",
            activation="tanh(z + 0.5)",  # every coefficient; relu has no third one
            d=d,
            n=f"d^{kappa}",
            p=2,
            steps=1,
            step_size=f"20*d^{(leap - 1) / 2}",
            start="orthogonal",
            start_overlaps=((d**-0.5,), (d**-0.5,)),
            readout_start="alternating",
            residual="labels",
            # Below the boundary a run is mostly noise: many where they are cheap.
            runs=int(np.clip(2e8 / d**kappa, 16, 400)),
            readout_n=0,
            test_n=0,
        )
        # The two neurons differ by the sign of a only.
        cosines.append(np.abs(simulate(setting).cosine[:, 1, :, 0]).ravel())
    found = scaling_exponent(used, cosines)
    print(
        f"phase    leap {leap}, n = d^{kappa:.2f}, d = {used[0]}..{used[-1]}: exponent "
        f"{found.exponent:+.3f} in [{found.low:+.3f}, {found.high:+.3f}], predicted "
        f"{cosine_exponent(leap, kappa):+.3f}"
    )


def main() -> None:
    """Both leaps over the range of kappa."""
    most = 1e9 if "--full" in sys.argv else 1e7
    for kappa in (1.5, 1.75, 2.0, 2.25, 2.5):
        measure(2, kappa, (100, 316, 1000, 3162, 10_000), most)
    for kappa in (2.5, 2.75, 3.0, 3.25, 3.5):
        measure(3, kappa, (30, 60, 120, 250, 500), most)


if __name__ == "__main__":
    main()
