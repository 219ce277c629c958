"""Does the second step find a target without a linear part?  Fresh against reused batches.

|<v_2, w*>| over p = d = n/4, both steps of size p^0.3: on fresh batches it falls as p^(-1/2), on
reused ones it tends to a constant.  Exponents with 99 % bootstrap intervals; the predicted values
and limit beside them.  p = 250..1000; with ``--gpu`` 500..4000.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from benchmarks.two_step import plain_spectrum
from giantstep.prediction.wide.alignment import second_alignment
from giantstep.prediction.wide.outlier_count import with_exponents
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CLIPPED_EXPONENTIAL
from giantstep.problem.setting import Setting
from giantstep.records.scaling import scaling_exponent

TARGETS = {1: "threshold", 2: "threshold-deep"}
"""Catalog names by the Hermite degree up to which 1{z > 1.5} has nothing left."""


def main() -> None:
    """Both targets, fresh and reused."""
    gpu = "--gpu" in sys.argv
    sizes = (500, 1000, 2000, 4000) if gpu else (250, 500, 1000)
    for removed, target in TARGETS.items():
        for batches in ("fresh", "reused"):
            values, predicted, settings = [], [], []
            for p in sizes:
                # Many runs where they are cheap.
                runs = int(np.clip(8 * (1000 / p) ** 2, 16 if gpu else 4, 64))
                setting = with_exponents(
                    Setting(
                        target,
                        activation=centred(CLIPPED_EXPONENTIAL),
                        d=p,
                        n="4d",
                        p=p,
                        start="gaussian",
                        readout_start="gaussian",
                        output_scale="1/sqrt(p)",
                        batches=batches,
                    ),
                    0.3,
                    0.3,
                )
                settings.append(setting)
                found = [plain_spectrum(setting, k, gpu)[1][1] for k in range(runs)]
                values.append(np.array(found))
                overlap = weight_outliers(setting)[-1].overlap
                predicted.append(float(overlap[1, 0]) if len(overlap) > 1 else 0.0)
            scaling = scaling_exponent(sizes, values)
            closed = second_alignment(settings[-1])
            rows = ", ".join(
                f"{p}: {v.mean():.3f}+-{v.std(ddof=1) / math.sqrt(len(v)):.3f} ({q:.3f})"
                for p, v, q in zip(sizes, values, predicted, strict=True)
            )
            limit = closed.limit[0] if batches == "reused" else 0.0
            print(
                f"alignment degrees <= {removed} removed, {batches:6s}: measured (predicted) "
                f"{rows}; "
                f"exponent {scaling.exponent:+.2f} in [{scaling.low:+.2f}, {scaling.high:+.2f}], "
                f"in the limit {closed.exponent:+.1f}, cosine {limit:.3f}, "
                f"chance at the last size {closed.floor[0]:.3f}"
            )


if __name__ == "__main__":
    main()
