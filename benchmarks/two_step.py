"""Two giant steps at linear width: predicted outliers against plain simulations, and their count.

A line a case: predicted and measured top singular values (mean of the runs), the largest relative
deviation among the predicted outliers that stand 20 % clear of the bulk (aim 5 %), its size in
standard errors, and their number against the measured one.  p = 1000; with ``--gpu`` p = 3000.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.language.functions import NUMPY
from giantstep.prediction.wide.bulk import bulk_profile
from giantstep.prediction.wide.outlier_count import outlier_count, with_exponents
from giantstep.prediction.wide.weight_outliers import weight_outliers
from giantstep.problem.activation import centred
from giantstep.problem.catalog import CLIPPED_EXPONENTIAL
from giantstep.problem.setting import Setting
from giantstep.spectra.profile import ProfileBulk

RUNS = 4
MARGIN = 0.2
"""The edge misses some 15 % for heavy-tailed labels; outliers nearer to it are not judged."""

EXPONENTS = (0.25, 0.35, 0.45)
TARGET = "two-step"
ACTIVATIONS = {
    "relu": "relu(z)",
    "tanh(z+.5)": "tanh(z + 0.5)",
    "clipped exp": CLIPPED_EXPONENTIAL,
}


def plain_spectrum(
    setting: Setting, seed: int, gpu: bool = False
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Singular values of W after the steps and |<v_k, w*_1>|, by a plain single-precision loop.

    The target is the first coordinate, a is N(0, 1/p); on a GPU the same loop in JAX.
    """
    n, d, p = setting.n, setting.d, setting.p
    rng = np.random.default_rng(seed)
    xp: Any = np
    namespace: Any = NUMPY
    if gpu:
        import jax

        from giantstep.simulation.engines.traced import JAX

        xp, namespace = jax.numpy, JAX
        keys = iter(jax.random.split(jax.random.key(seed), 8))

        def normals(*shape: int) -> Any:
            return jax.random.normal(next(keys), shape, xp.float32)

    else:

        def normals(*shape: int) -> Any:
            return rng.standard_normal(shape, dtype=np.float32)

    rows = normals(p, d) / math.sqrt(d)
    a = normals(p) / math.sqrt(p)
    x, y = None, None
    for step in range(setting.steps):
        if step == 0 or setting.batches == "fresh":
            x = normals(n, d)
            y = setting.target([x[:, k] for k in range(setting.target.r)], namespace)
        h = x @ rows.T
        residual = y - setting.scale * (setting.activation(h, namespace) @ a)
        slopes = setting.activation.derivative(h, namespace) * a
        slopes = slopes * (setting.step_size[step] * setting.scale / n * residual)[:, None]
        rows = rows + slopes.astype(xp.float32).T @ x
    _, values, right = xp.linalg.svd(rows, full_matrices=False)
    return np.asarray(values, dtype=float)[:8], np.abs(np.asarray(right[:8, 0], dtype=float))


def compare(
    setting: Setting, label: str, alphas: tuple[float, float], case: int, gpu: bool
) -> tuple[float, float, bool]:
    """Print one case; its largest deviation, relative and in standard errors, and its count."""
    predicted = weight_outliers(setting)[-1]
    # Seeds of its own for every case: runs scatter by 5 to 15 %, and must not do so together.
    seeds = range(RUNS * case, RUNS * (case + 1))
    measured = np.array([plain_spectrum(setting, seed, gpu)[0] for seed in seeds])
    profile = ProfileBulk(*bulk_profile(setting).factors(setting.p, setting.d))
    floor = (1.0 + MARGIN) * math.sqrt(profile.upper.place)
    clear = predicted.singular_values[predicted.singular_values > floor]
    mean, error = measured.mean(axis=0), measured.std(axis=0, ddof=1) / math.sqrt(RUNS)
    found = int(np.sum(mean > floor))
    gaps = np.abs(mean[: len(clear)] - clear)
    worst = float(np.max(gaps / clear, initial=0.0))
    sigmas = float(np.max(gaps / error[: len(clear)], initial=0.0))
    # A prediction within 5 % of the margin may fall on either side.
    least, most = (int(np.sum(predicted.singular_values > k * floor)) for k in (1.05, 0.95))
    limit = 1 + outlier_count(
        *alphas, setting.activation, setting.output_scale, setting.batches, "gaussian"
    )
    print(
        f"two_step {label:11s} s = {setting.output_scale:9s} {setting.batches:6s} "
        f"p = {setting.p} alpha = {alphas[0]}, {alphas[1]}: predicted "
        f"{np.array2string(clear, precision=2)}, measured "
        f"{np.array2string(mean[: max(found, 1)], precision=2)}, worst {worst:.1%} "
        f"({sigmas:.1f} standard errors), count {len(clear)} against {found}, limit {limit}"
    )
    return worst, sigmas, least <= found <= most


def main() -> None:
    """Fresh batches over the grid for small output scale, a diagonal for the rest."""
    gpu = "--gpu" in sys.argv
    p = 3000 if gpu else 1000
    results: list[tuple[float, float, bool]] = []
    for label, activation in ACTIVATIONS.items():
        for scale in ("1/sqrt(p)", "1"):
            for batches in ("fresh", "reused"):
                setting = Setting(
                    TARGET,
                    activation=centred(activation),
                    d=p,
                    n="2d",
                    p=p,
                    start="gaussian",
                    readout_start="gaussian",
                    output_scale=scale,
                    batches=batches,
                )
                whole = scale != "1" and batches == "fresh"
                for first in EXPONENTS:
                    for second in EXPONENTS if whole else (first,):
                        varied = with_exponents(setting, first, second)
                        alphas = (first, second)
                        results.append(compare(varied, label, alphas, len(results), gpu))
    worst, sigmas, right = (np.array(column) for column in zip(*results, strict=True))
    print(
        f"two_step {len(results)} cases: median of the worst deviations {np.median(worst):.1%}, "
        f"{np.mean((worst < 0.05) | (sigmas < 2)):.0%} within 5 % or 2 standard errors, largest "
        f"{np.max(sigmas):.1f}, counts right in {int(right.sum())}"
    )


if __name__ == "__main__":
    main()
