"""How often ``layer_outliers`` finds what is not there, and what is.

False positives at level .01: matrices of noise, Gaussian, uniform, of signs and of Student's law
with 8 degrees, alone, with two outliers of twice the strength at which they leave the bulk, and
with rows or columns of scales exp(.4 g); the share of matrices with more outliers than were
planted, and the share that is refused.  Many more matrices share one calibration from a pool of
entries of their law.  Power: one outlier of 1.2, 1.5 and 2 times that strength, beside what the
edge of known sigma finds.
``--full`` takes four times as many matrices.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from giantstep.errors import NoTheoryError
from giantstep.spectra.layer import LayerOutliers, layer_outliers
from giantstep.spectra.noise import NoiseLaw, calibrate_noise
from giantstep.spectra.outliers import count_outliers
from giantstep.spectra.scales import Scales
from giantstep.spectra.start import weight_bulk

LEVEL = 0.01

ENTRIES: dict[str, Callable[..., Float[np.ndarray, "p d"]]] = {
    "gaussian": lambda key, shape: key.standard_normal(shape),
    "uniform": lambda key, shape: key.uniform(-(3**0.5), 3**0.5, shape),
    "signs": lambda key, shape: key.choice([-1.0, 1.0], shape),
    "student(8)": lambda key, shape: key.standard_t(8, shape) * (6 / 8) ** 0.5,
}

POOL, BLOCK = 200_000, 50
"""Entries of a pool, and matrices held at once."""

SHAPES = {(20, 20): 150, (60, 20): 100, (40, 100): 10, (200, 200): 5, (1000, 300): 3}
"""Matrices of each kind of entries, with and without outliers."""


def planted(
    key: np.random.Generator, p: int, d: int, entries: str, strengths: list[float]
) -> Float[np.ndarray, "p d"]:
    """Noise of variance 1/d with outliers, of strengths in units of that which leaves the bulk."""
    noise = ENTRIES[entries](key, (p, d)) / math.sqrt(d)
    k = len(strengths)
    left = np.linalg.qr(key.standard_normal((p, k)))[0]
    right = np.linalg.qr(key.standard_normal((d, k)))[0]
    # theta^4 = p/d (Benaych-Georges and Nadakuditi).
    return noise + (p / d) ** 0.25 * (left * np.array(strengths)) @ right.T


def judged(weights: Float[np.ndarray, "p d"]) -> LayerOutliers | None:
    """What is found, None where it is refused."""
    try:
        return layer_outliers(weights, LEVEL)
    except NoTheoryError:
        return None


def false_positives(scale: int) -> None:
    """Print one line for each kind of entries, and one for all."""
    total = np.zeros(3, dtype=int)
    for entries in ENTRIES:
        for strengths, side in (([], None), ([2.0, 2.0], None), ([], "rows"), ([], "columns")):
            found = np.zeros(3, dtype=int)
            for (p, d), count in SHAPES.items():
                for run in range(scale * count):
                    key = np.random.default_rng([p, d, run])
                    weights = planted(key, p, d, entries, strengths)
                    if side is not None:
                        shape = (p, 1) if side == "rows" else (1, d)
                        weights = weights * np.exp(0.4 * key.standard_normal(shape))
                    seen = judged(weights)
                    false = seen is not None and seen.count > len(strengths)
                    found += [1, seen is None, false]
            total += found
            scales = "" if side is None else f", {side} of different scales"
            _line(f"{entries} with {len(strengths)} outliers{scales}", found)
    _line("all", total)


def _line(name: str, found: Float[np.ndarray, " 3"]) -> None:
    runs, refused, false = found
    error = math.sqrt(LEVEL / runs)
    print(
        f"layer {name:55s} {runs:5d} matrices: false positives {false / runs:.4f} at {LEVEL:g} "
        f"(+-{error:.4f}), refused {refused / runs:.4f}",
        flush=True,
    )


def shared_thresholds(scale: int) -> None:
    """Print one line a shape and kind of entries: shares above thresholds of one calibration."""
    shapes = {(20, 20): 4000, (20, 60): 4000, (40, 100): 2000, (100, 100): 800, (200, 300): 150}
    for (m, n), count in shapes.items():
        law = NoiseLaw(Scales(np.ones(m), np.ones(n)))
        for name, draw in ENTRIES.items():
            key = np.random.default_rng(3)
            calibration = calibrate_noise(law, draw(key, POOL))
            tops = []
            for _ in range(scale * count // BLOCK):
                noise = draw(key, (BLOCK, m, n)) / math.sqrt(n)
                squares = np.linalg.eigvalsh(noise @ noise.swapaxes(1, 2))
                values = np.sqrt(np.maximum(squares, 0.0))
                tops.append(values[:, -1] / law.deviation(values))
            shares = "  ".join(
                f"{np.mean(np.array(tops) > calibration.threshold(law, level)):.4f} at {level:g}"
                for level in (0.1, 0.01, 0.001)
            )
            print(f"layer {m} x {n} {name:10s} {scale * count:5d} matrices: {shares}", flush=True)


def power(scale: int) -> None:
    """Print one line a shape and strength."""
    for (p, d), count in {(60, 60): 20, (300, 300): 10, (1000, 300): 10}.items():
        bulk = weight_bulk(p, d, "gaussian")
        for strength in (1.2, 1.5, 2.0):
            found, known, runs = 0, 0, scale * count
            for run in range(runs):
                key = np.random.default_rng([p, d, run])
                weights = planted(key, p, d, "gaussian", [strength])
                seen = judged(weights)
                found += seen is not None and seen.count > 0
                values = np.linalg.svd(weights, compute_uv=False)
                known += count_outliers(values, bulk, LEVEL).count > 0
            print(
                f"layer {p} x {d}, one outlier of {strength:g} times the threshold: found in "
                f"{found / runs:.2f} of {runs}, {known / runs:.2f} with sigma known",
                flush=True,
            )


def main() -> None:
    """Print rates and powers."""
    scale = 4 if "--full" in sys.argv else 1
    shared_thresholds(scale)
    false_positives(scale)
    power(scale)


if __name__ == "__main__":
    main()
