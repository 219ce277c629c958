"""Measured exponents of one giant step at n = d^kappa, beside the predicted ones.

Leap 2 and 3, kappa from l - 1/2 to l + 1/2, random starts.  Two predictions stand beside each
measurement: the slope of the predicted medians at the very same sizes, and the exponent of the
limit, which corrections of relative order d^(-1/4) approach slowly below the boundary.  The largest
batch is 10^7 samples.  ``--gpu`` draws the samples on a GPU, by the same deferred decisions, and
goes to 10^10: leap 2 up to d = 10^4, leap 3 up to d = 500, every kappa.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from giantstep.analysis.phase import cosine_exponent
from giantstep.prediction.narrow.one_step import cosine_quantiles
from giantstep.problem.setting import Setting
from giantstep.records.scaling import scaling_exponent
from giantstep.simulation.simulate import simulate

CHUNK = 2**24
"""Samples drawn at once on the GPU, in float32; their sums are added up in float64."""


def gpu_cosines(setting: Setting) -> np.ndarray:
    """|cos| of a neuron with x1 after one step from a random row, one for each run.

    Row (m, sqrt(1 - m^2)), sample (z1, z2), coefficient c = y sigma'(row . z): sum c z and sum c^2
    are all that a step needs, the rest of the gradient is sqrt(sum c^2) times a chi variable.
    """
    import jax
    import jax.numpy as jnp

    from giantstep.simulation.engines.traced import JAX, traced_setting

    traced = traced_setting(setting)

    @partial(jax.jit, static_argnums=2)
    def sums(key: Any, row: Any, count: int) -> Any:
        z = jax.random.normal(key, (2, count), jnp.float32)
        c = traced.target([z[0]], JAX) * traced.activation.derivative(row @ z, JAX)
        return jnp.stack([(c * z[0]).sum(), (c * z[1]).sum(), (c * c).sum()])

    rng = np.random.default_rng([setting.seed, setting.d, setting.n])
    found = np.empty(setting.runs)
    d, n = setting.d, setting.n
    for run in range(setting.runs):
        first, rest = rng.standard_normal(), np.sqrt(rng.chisquare(d - 1))
        row = np.array([first, rest]) / np.hypot(first, rest)
        key, total = jax.random.key(int(rng.integers(2**62)), impl="rbg"), np.zeros(3)
        pending = []
        for index, start in enumerate(range(0, n, CHUNK)):
            own = jax.random.fold_in(key, index)
            pending.append(sums(own, jnp.asarray(row, jnp.float32), min(CHUNK, n - start)))
            if len(pending) == 32:
                total += np.sum(np.asarray(pending, dtype=float), axis=0)
                pending = []
        if pending:
            total += np.sum(np.asarray(pending, dtype=float), axis=0)
        size = setting.step_size[0] * setting.scale / n
        inside = row + size * total[:2]
        outside = size * np.sqrt(total[2] * rng.chisquare(d - 2))
        found[run] = abs(inside[0]) / np.sqrt(inside @ inside + outside**2)
    return found


def measure(
    leap: int, kappa: float, sizes: tuple[int, ...], most: float, gpu: bool = False
) -> None:
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
        if gpu:
            cosines.append(gpu_cosines(setting))
        else:
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
    gpu = "--gpu" in sys.argv
    most = 1.01e10 if gpu else 1e7
    for kappa in (1.5, 1.75, 2.0, 2.25, 2.5):
        measure(2, kappa, (100, 316, 1000, 3162, 10_000), most, gpu)
    for kappa in (2.5, 2.75, 3.0, 3.25, 3.5):
        measure(3, kappa, (30, 60, 120, 250, 500), most, gpu)


if __name__ == "__main__":
    main()
