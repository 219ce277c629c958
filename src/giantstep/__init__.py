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
    from giantstep.claims import CLAIMS as CLAIMS
    from giantstep.claims.record import Claim as Claim
    from giantstep.claims.running import run_claims as run_claims
    from giantstep.comparison import Comparison as Comparison
    from giantstep.comparison import compare as compare
    from giantstep.errors import InputError as InputError
    from giantstep.feature_models import equivalences as equivalences
    from giantstep.hermite import HermiteSeries as HermiteSeries
    from giantstep.observables import Scaling as Scaling
    from giantstep.observables import Trajectory as Trajectory
    from giantstep.observables import scaling_exponent as scaling_exponent
    from giantstep.outliers import count_outliers as count_outliers
    from giantstep.predicted_spectra import predict_spectra as predict_spectra
    from giantstep.prediction import predict as predict
    from giantstep.setting import Setting as Setting
    from giantstep.simulation import DivergenceError as DivergenceError
    from giantstep.simulation import simulate as simulate
    from giantstep.spectra import measure_spectra as measure_spectra
    from giantstep.target import Target as Target
    from giantstep.target import make_target as make_target
    from giantstep.target import separable as separable
    from giantstep.theory.closed_system import loss_curve as loss_curve
    from giantstep.theory.equivalence import learning_curve as learning_curve
    from giantstep.theory.two_step import weight_outliers as weight_outliers

__version__ = "0.1.0"

_HOME = {
    "Activation": "giantstep.activation",
    "Analysis": "giantstep.analysis",
    "CATALOG": "giantstep.catalog",
    "CLAIMS": "giantstep.claims",
    "Claim": "giantstep.claims.record",
    "Comparison": "giantstep.comparison",
    "DivergenceError": "giantstep.simulation",
    "HermiteSeries": "giantstep.hermite",
    "InputError": "giantstep.errors",
    "Scaling": "giantstep.observables",
    "Setting": "giantstep.setting",
    "Target": "giantstep.target",
    "Trajectory": "giantstep.observables",
    "analyze": "giantstep.analysis",
    "compare": "giantstep.comparison",
    "count_outliers": "giantstep.outliers",
    "equivalences": "giantstep.feature_models",
    "learning_curve": "giantstep.theory.equivalence",
    "loss_curve": "giantstep.theory.closed_system",
    "make_activation": "giantstep.activation",
    "make_target": "giantstep.target",
    "measure_spectra": "giantstep.spectra",
    "predict": "giantstep.prediction",
    "predict_spectra": "giantstep.predicted_spectra",
    "run_claims": "giantstep.claims.running",
    "scaling_exponent": "giantstep.observables",
    "separable": "giantstep.target",
    "simulate": "giantstep.simulation",
    "weight_outliers": "giantstep.theory.two_step",
}

__all__ = [
    "CATALOG",
    "CLAIMS",
    "Activation",
    "Analysis",
    "Claim",
    "Comparison",
    "DivergenceError",
    "HermiteSeries",
    "InputError",
    "Scaling",
    "Setting",
    "Target",
    "Trajectory",
    "analyze",
    "compare",
    "count_outliers",
    "equivalences",
    "learning_curve",
    "loss_curve",
    "make_activation",
    "make_target",
    "measure_spectra",
    "predict",
    "predict_spectra",
    "run_claims",
    "scaling_exponent",
    "separable",
    "simulate",
    "weight_outliers",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'giantstep' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
