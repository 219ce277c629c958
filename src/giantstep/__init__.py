"""giantstep: what does a two-layer neural network learn from a few giant gradient steps?

Names load on first use: ``import giantstep`` itself imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantstep.analysis.analyze import Analysis as Analysis
    from giantstep.analysis.analyze import analyze as analyze
    from giantstep.errors import DivergenceError as DivergenceError
    from giantstep.errors import InputError as InputError
    from giantstep.gaussian.series import HermiteSeries as HermiteSeries
    from giantstep.papers.claims import CLAIMS as CLAIMS
    from giantstep.papers.claims.record import Claim as Claim
    from giantstep.papers.claims.running import run_claims as run_claims
    from giantstep.prediction.given_weights.curve import learning_curve as learning_curve
    from giantstep.prediction.predict import predict as predict
    from giantstep.prediction.wide.losses import loss_curve as loss_curve
    from giantstep.prediction.wide.spectra import predict_spectra as predict_spectra
    from giantstep.prediction.wide.two_steps import weight_outliers as weight_outliers
    from giantstep.problem.activation import Activation as Activation
    from giantstep.problem.activation import make_activation as make_activation
    from giantstep.problem.catalog import CATALOG as CATALOG
    from giantstep.problem.setting import Setting as Setting
    from giantstep.problem.target import Target as Target
    from giantstep.problem.target import make_target as make_target
    from giantstep.problem.target import separable as separable
    from giantstep.records.comparison import Comparison as Comparison
    from giantstep.records.comparison import compare as compare
    from giantstep.records.scaling import Scaling as Scaling
    from giantstep.records.scaling import scaling_exponent as scaling_exponent
    from giantstep.records.trajectory import Trajectory as Trajectory
    from giantstep.simulation.feature_models import equivalences as equivalences
    from giantstep.simulation.simulate import simulate as simulate
    from giantstep.simulation.spectra import measure_spectra as measure_spectra
    from giantstep.spectra.outliers import count_outliers as count_outliers

__version__ = "0.1.0"

_HOME = {
    "Activation": "giantstep.problem.activation",
    "Analysis": "giantstep.analysis.analyze",
    "CATALOG": "giantstep.problem.catalog",
    "CLAIMS": "giantstep.papers.claims",
    "Claim": "giantstep.papers.claims.record",
    "Comparison": "giantstep.records.comparison",
    "DivergenceError": "giantstep.errors",
    "HermiteSeries": "giantstep.gaussian.series",
    "InputError": "giantstep.errors",
    "Scaling": "giantstep.records.scaling",
    "Setting": "giantstep.problem.setting",
    "Target": "giantstep.problem.target",
    "Trajectory": "giantstep.records.trajectory",
    "analyze": "giantstep.analysis.analyze",
    "compare": "giantstep.records.comparison",
    "count_outliers": "giantstep.spectra.outliers",
    "equivalences": "giantstep.simulation.feature_models",
    "learning_curve": "giantstep.prediction.given_weights.curve",
    "loss_curve": "giantstep.prediction.wide.losses",
    "make_activation": "giantstep.problem.activation",
    "make_target": "giantstep.problem.target",
    "measure_spectra": "giantstep.simulation.spectra",
    "predict": "giantstep.prediction.predict",
    "predict_spectra": "giantstep.prediction.wide.spectra",
    "run_claims": "giantstep.papers.claims.running",
    "scaling_exponent": "giantstep.records.scaling",
    "separable": "giantstep.problem.target",
    "simulate": "giantstep.simulation.simulate",
    "weight_outliers": "giantstep.prediction.wide.two_steps",
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
