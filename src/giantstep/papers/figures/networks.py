"""Settings that several figures share."""

from __future__ import annotations

from typing import Any

from giantstep.papers.claims import wide as claims
from giantstep.problem.activation import centred

SHIFTED = centred("tanh(z + 0.7)")
"""Its Hermite coefficients c_1, c_2, c_3 = 0.52, -0.11, -0.04: none is zero."""

WIDE: dict[str, Any] = claims.WIDE | {"activation": SHIFTED, "readout_n": "n", "test_n": 4000}
"""One step at linear width, as in arXiv 2310.07891."""

EXPONENT = r"exponent of the step size $\alpha$ in $3n^\alpha$"


def step_size(alpha: float) -> str:
    """3 n^alpha: at n = 4000 the numbers of spikes are those of the limit."""
    return f"3*n^{alpha:g}"


def two_steps(p: int) -> dict[str, Any]:
    """Two steps at linear width, as in arXiv 2605.17767; the second layer is not trained."""
    return {
        "d": p,
        "n": "2d",
        "p": p,
        "steps": 2,
        "step_size": 1.0,
        "output_scale": "1/sqrt(p)",
        "start": "gaussian",
        "readout_start": "gaussian",
        "readout_n": 0,
        "test_n": 0,
        # More than the outliers of two steps: the largest singular values are enough.
        "spectra": 12,
    }
