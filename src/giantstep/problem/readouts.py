"""The size of the readout's entries at the start."""

from __future__ import annotations

import math


def readout_rms(readout_start: str, p: float) -> float:
    """sqrt(E a_i^2): 1 for +-1, 1/sqrt(p) for gaussian, 1/sqrt(3) for uniform on [-1, 1].

    An unknown text is refused by the record itself.
    """
    sizes = {"gaussian": 1.0 / math.sqrt(p), "uniform": 1.0 / math.sqrt(3.0)}
    return sizes.get(readout_start, 1.0)
