"""One sample a step: the error of a committee of eight neurons, and the seconds of a hundred steps.

Aim: 1 s of a core for 100 steps.
"""

from __future__ import annotations

import time

import numpy as np

from giantstep.prediction.predict import predict
from giantstep.problem.setting import Setting


def main() -> None:
    """Print the error after every hundred steps, and the time."""
    labels = " + ".join(f"erf(x{k}/sqrt(2))" for k in range(1, 5))
    setting = Setting(
        f"({labels})/4", activation="erf", d=200, n=1, p=8, steps=500, step_size=0.08,
        output_scale="1/p", start="orthogonal", readout_start="alternating", noise=0.0316,
        readout_n=0, test_n=0,
    )  # fmt: skip
    begin = time.process_time()
    found = predict(setting)
    seconds = (time.process_time() - begin) / (setting.steps / 100)
    assert found.network_error is not None
    errors = (found.network_error[0, ::100] - setting.noise**2) / 2
    print(f"one_pass half the error every 100 steps {np.round(errors, 4).tolist()}")
    print(f"one_pass predict {seconds:.2f} s for 100 steps (aim 1 s)")


if __name__ == "__main__":
    main()
