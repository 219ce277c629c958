"""giantstep: what does a two-layer neural network learn from a few giant gradient steps?

Names load on first use: ``import giantstep`` itself imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantstep.activation import Activation as Activation
    from giantstep.activation import make_activation as make_activation
    from giantstep.analysis import Analysis as Analysis
    from giantstep.analysis import analyze as analyze
    from giantstep.catalog import CATALOG as CATALOG
    from giantstep.errors import InputError as InputError
    from giantstep.hermite import HermiteSeries as HermiteSeries
    from giantstep.target import Target as Target
    from giantstep.target import make_target as make_target
    from giantstep.target import separable as separable

__version__ = "0.1.0"

_HOME = {
    "Activation": "giantstep.activation",
    "Analysis": "giantstep.analysis",
    "CATALOG": "giantstep.catalog",
    "HermiteSeries": "giantstep.hermite",
    "InputError": "giantstep.errors",
    "Target": "giantstep.target",
    "analyze": "giantstep.analysis",
    "make_activation": "giantstep.activation",
    "make_target": "giantstep.target",
    "separable": "giantstep.target",
}

__all__ = [
    "CATALOG",
    "Activation",
    "Analysis",
    "HermiteSeries",
    "InputError",
    "Target",
    "analyze",
    "make_activation",
    "make_target",
    "separable",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'giantstep' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
