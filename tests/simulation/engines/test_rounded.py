"""Products in bfloat16: their errors, and runs that they leave where they were.

The same runs in float32 and with rounded products: root mean square shifts of overlaps, lengths,
gradient cosines and errors are below a twentieth of their standard deviation over runs (bf16), or
below 1e-4 of it (bf16x3).  Two bits in place of eight are rejected.
"""

from typing import Any

import jax
import numpy as np
import pytest

from giantstep import Setting, Trajectory, simulate
from giantstep.simulation.engines import rounded

BASE: dict[str, Any] = {"d": 100, "p": 8, "n": 400, "steps": 2, "engine": "dense", "runs": 8}
BASE |= {"readout_n": 200, "test_n": 500, "noise": 0.3, "start": "sphere", "ridge": 0.1}


@pytest.mark.parametrize(("precision", "error"), [("bf16", 2.0**-8), ("bf16x3", 2.0**-16)])
def test_products_are_as_exact_as_stated(precision: str, error: float) -> None:
    """Root mean square error of inner products of 400 normals, over their standard deviation."""
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((400, 400), dtype=np.float32) for _ in range(2))
    with jax.default_matmul_precision("highest"):
        found = np.asarray(jax.jit(lambda: rounded.product(left, right, precision))())
    spread = np.sqrt(np.mean((found - left.astype(float) @ right) ** 2) / 400)
    assert error / 16 < spread < error


def largest_shift(plain: Trajectory, precision: str) -> float:
    """Of each observable the root mean square shift of a run over its standard deviation."""
    coarse = simulate(plain.setting.vary(precision=precision))
    shifts = []
    for name in ("overlap", "norms", "test_error", "network_error", "gradient_cosine"):
        # The start is not rounded.
        one, two = (getattr(found, name)[:, -plain.setting.steps :] for found in (plain, coarse))
        shifts.append(np.sqrt(np.mean((two - one) ** 2) / np.mean(one.var(axis=0, ddof=1))))
    return float(max(shifts))


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_runs_stay_where_they_are(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = simulate(Setting("x1 + x1*x2", activation=activation, precision="float32", **BASE))
    assert 0 < largest_shift(plain, "bf16x3") < 1e-4
    assert 1e-3 < largest_shift(plain, "bf16") < 0.05
    coarse = lambda values: (jax.lax.reduce_precision(values, 8, 1), values)  # noqa: E731
    monkeypatch.setattr(rounded, "_parts", coarse)
    assert largest_shift(plain, "bf16") > 0.1
