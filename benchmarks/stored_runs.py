"""Stored runs of arXiv 2406.02157: a committee of two neurons, 10^4 small-batch steps, beside ours.

d = 10^4, p = r = 2, erf, rows normalised after every step, labels with noise .1; the start is
orthogonal to the target.  What is stored of a run is E(f - fhat)^2/4 + .005: half of half the error
and half the variance of the noise.  Only step 10 of the second series is off, by 4 deviations
between runs; ours is there one step earlier.  ``--steps 1000`` stops early, ``--runs`` (2 or
more) sets ours.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from jaxtyping import Float

from giantstep.problem.setting import Setting
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import simulate

STEPS = (0, 10, 100, 1000, 10_000)

STORED = {
    (10, 0.09487): (0.08845, 0.1112, 0.1213, 0.1190, 0.1197),
    (100, 0.08): (0.08845, 0.0809, 0.0406, 0.0184, 0.0154),
    (100, 0.001): (0.08845, 0.0883, 0.0866, 0.0707, 0.0122),
}
"""Batch size and step size -> what is stored at ``STEPS``, one run each."""

PRODUCT = 0.0029
"""<w_1, w_2> at the start, from the stored .08845 = (1/3 + asin(product/2)/pi)/4 + .005."""


def setting(n: int, step_size: float, *, steps: int, runs: int) -> Setting:
    """One of the three series."""
    return Setting(
        "(erf(x1/sqrt(2)) + erf(x2/sqrt(2)))/2", activation="erf", d=10_000, n=n, p=2, steps=steps,
        step_size=step_size, output_scale="1/p", readout_start="ones", rows="normalised", noise=0.1,
        start="given", start_overlaps=[[0.0, 0.0]] * 2,
        start_gram=[[1.0, PRODUCT], [PRODUCT, 1.0]], record="log", runs=runs, readout_n=0, test_n=0,
    )  # fmt: skip


def converted(found: Trajectory) -> Float[np.ndarray, "runs t"]:
    """What is stored of a run: E(f - fhat)^2/4 + .005."""
    return clean_error(found) / 4 + 0.005


def clean_error(found: Trajectory) -> Float[np.ndarray, "runs t"]:
    """E(f - fhat)^2 of means of erf neurons: E erf erf of normals is 2/pi asin of their products.

    With the p + r rows (w_i, w*_k) of Gram matrix C: 2/pi asin(C_ij/sqrt((1 + C_ii)(1 + C_jj))).
    """
    p, r = found.overlap.shape[-2:]
    known = np.broadcast_to(np.eye(r), (*found.overlap.shape[:2], r, r))
    across = np.swapaxes(found.overlap, -1, -2)
    gram = np.block([[found.gram, found.overlap], [across, known]])
    lengths = np.sqrt(1.0 + np.diagonal(gram, axis1=-2, axis2=-1))
    products = 2 / np.pi * np.arcsin(gram / (lengths[..., :, None] * lengths[..., None, :]))
    shares = np.concatenate([np.full(p, 1 / p), np.full(r, -1 / r)])
    return np.asarray(shares @ products @ shares)


def main() -> None:
    """Print ours (mean and standard deviation of the runs) beside theirs, and the time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=STEPS[-1])
    parser.add_argument("--runs", type=int, default=10)
    given, _ = parser.parse_known_args()
    for (n, step_size), stored in STORED.items():
        begin = time.process_time()
        found = simulate(setting(n, step_size, steps=given.steps, runs=given.runs))
        seconds = time.process_time() - begin
        ours = converted(found)
        for step, theirs in zip(STEPS, stored, strict=True):
            if step in found.steps:
                values = ours[:, list(found.steps).index(step)]
                print(
                    f"stored_runs n = {n}, step size {step_size:g}, step {step}: "
                    f"{values.mean():.5f}, runs differ by {values.std(ddof=1):.5f}, "
                    f"stored {theirs:g}"
                )
        print(f"stored_runs n = {n}, step size {step_size:g}: {given.runs} runs in {seconds:.1f} s")


if __name__ == "__main__":
    main()
