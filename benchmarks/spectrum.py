"""Bulk laws, false-positive rates and feature models at full size, one line a case.

Counting distances are in eigenvalues: the largest gap between the number of singular values below a
point and the predicted number.  Sizes are those of the papers with ``--full`` (about ten minutes on
two cores), else a half of them.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.bulk import bulk_profile
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.setting import Setting
from giantstep.simulation.feature_models import equivalences
from giantstep.simulation.stepped import stepped_runs
from giantstep.spectra.outliers import centre, count_outliers
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.start import feature_bulk


def noise_features(
    activation: Activation, n: int, d: int, p: int, key: np.random.Generator, neurons: bool = False
) -> Float[np.ndarray, "n p"]:
    """Centred features of rows on the sphere, sigma(X W^T)/sqrt(n): pure noise at these sizes."""
    rows = key.standard_normal((p, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    features = np.asarray(activation(key.standard_normal((n, d)) @ rows.T), dtype=float)
    return centre(features, neurons) / math.sqrt(n)


def law(name: str, n: int, d: int, p: int) -> None:
    """Singular values of the features of the start against their law."""
    activation = make_activation(name)
    start = time.perf_counter()
    bulk = feature_bulk(activation, n, d, p)
    key = np.random.default_rng(0)
    phi = noise_features(activation, n, d, p, key, neurons=True)
    values = _nonzero(np.linalg.svd(phi, compute_uv=False))
    middle = (np.arange(len(values)) + 0.5) / len(values)
    gap = len(values) * float(np.max(np.abs(bulk.cdf(values[::-1]) - middle)))
    print(
        f"law      {name}, n = {n}, d = {d}, p = {p}: edge {bulk.edges[-1][1]:.4f}, largest "
        f"{values[0]:.4f}, off by at most {gap:.1f} of {len(values)} eigenvalues, "
        f"{time.perf_counter() - start:.1f} s"
    )


def false_positives(name: str, n: int, d: int, p: int, runs: int) -> None:
    """Share of runs of pure noise with an outlier at level .05."""
    activation = make_activation(name)
    bulk, outliers = feature_bulk(activation, n, d, p), 0
    for run in range(runs):
        phi = noise_features(activation, n, d, p, np.random.default_rng([1, run]))
        top = np.array([math.sqrt(float(np.linalg.eigvalsh(phi.T @ phi)[-1]))])
        outliers += count_outliers(top, bulk, 0.05).count
    error = math.sqrt(0.05 * 0.95 / runs)
    print(
        f"noise    {name}, n = {n}, d = {d}, p = {p}: outliers at level .05 in "
        f"{outliers / runs:.3f} of the runs, +- {error:.3f}"
    )


def _setting(d: int, activation: str, step_size: str, start: str) -> Setting:
    return Setting(
        "x1 + He2(x1)/sqrt(2)",
        activation=activation,
        d=d,
        n="2d",
        p="1.5d",
        steps=1,
        step_size=step_size,
        output_scale="1",
        start=start,
        readout_start="gaussian",
        noise=0.5,
        readout_n="2d",
        test_n=4000,
    )


def weights(d: int, activation: str, step_size: str, start: str) -> None:
    """Edge of the weights after a step beside their largest singular values."""
    setting = _setting(d, activation, step_size, start)
    [step] = stepped_runs(setting)
    begin = time.perf_counter()
    bulk = ProfileBulk(*bulk_profile(setting).factors(setting.p, setting.d))
    edge = bulk.edges[-1][1]
    seconds = time.perf_counter() - begin
    values = np.linalg.svd(step.weights, compute_uv=False)[:4]
    print(
        f"weights  {activation}, d = {d}, {step_size}, {start}: largest "
        f"{', '.join(f'{value:.3f}' for value in values)}, edge {edge:.3f}, "
        f"{count_outliers(values, bulk).count} outliers, {seconds:.1f} s"
    )


def models(d: int, activation: str, step_size: str, runs: int) -> None:
    """Test error of every feature model less that of the real features."""
    begin = time.perf_counter()
    found = equivalences(_setting(d, activation, step_size, "sphere"), runs=runs)
    parts = [
        "{} {:+.3f} +- {:.3f}".format(name, *found.excess(name))
        for name in found.models
        if name != "real"
    ]
    mean, error = found.mean("real")
    print(
        f"models   {activation}, d = {d}, {step_size}: test error {mean:.3f} +- {error:.3f}, "
        f"excess {', '.join(parts)}, {time.perf_counter() - begin:.1f} s"
    )


def _nonzero(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    return values[values > 1e-9 * values[0]]


def main() -> None:
    """All cases."""
    full = "--full" in sys.argv
    d, runs = (1000, 10) if full else (500, 4)
    for name in ("relu", "tanh"):
        law(name, 2 * d, d, 3 * d // 2)
        law(name, d, d, d)
    for name in ("relu", "tanh", "He1 + He2/2"):
        false_positives(name, 300, 300, 200, 400 if full else 100)
    for start in ("sphere", "symmetric"):
        for step_size in ("n^0.3", "n^0.45"):
            weights(d, "relu", step_size, start)
    for activation in ("relu", "tanh(z + 0.5)"):
        for step_size in ("0", "n^0.3", "n^0.38"):
            models(d, activation, step_size, runs)


if __name__ == "__main__":
    main()
