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
    from giantstep.errors import NotConvergedError as NotConvergedError
    from giantstep.errors import NoTheoryError as NoTheoryError
    from giantstep.estimator.classifier import GiantStepClassifier as GiantStepClassifier
    from giantstep.estimator.regressor import GiantStepRegressor as GiantStepRegressor
    from giantstep.experiment import Experiment as Experiment
    from giantstep.experiment import run_experiment as run_experiment
    from giantstep.gaussian.series import HermiteSeries as HermiteSeries
    from giantstep.papers.claims import CLAIMS as CLAIMS
    from giantstep.papers.claims.quantity import Quantity as Quantity
    from giantstep.papers.claims.quantity import exponent_of as exponent_of
    from giantstep.papers.claims.quantity import mean_of as mean_of
    from giantstep.papers.claims.record import Claim as Claim
    from giantstep.papers.claims.record import Findings as Findings
    from giantstep.papers.claims.running import run_claims as run_claims
    from giantstep.papers.claims.source import Source as Source
    from giantstep.prediction.given_weights.curve import LearningCurve as LearningCurve
    from giantstep.prediction.given_weights.curve import learning_curve as learning_curve
    from giantstep.prediction.given_weights.directions import (
        learned_directions as learned_directions,
    )
    from giantstep.prediction.limits import Limit as Limit
    from giantstep.prediction.limits import LimitStatus as LimitStatus
    from giantstep.prediction.predict import predict as predict
    from giantstep.prediction.theories import limits as limits
    from giantstep.prediction.wide.losses import Losses as Losses
    from giantstep.prediction.wide.losses import loss_curve as loss_curve
    from giantstep.prediction.wide.weight_outliers import WeightOutliers as WeightOutliers
    from giantstep.prediction.wide.weight_outliers import weight_outliers as weight_outliers
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
    from giantstep.records.spectrum import Spectrum as Spectrum
    from giantstep.records.trajectory import Trajectory as Trajectory
    from giantstep.show.plots.record import plot as plot
    from giantstep.simulation.estimate import Estimate as Estimate
    from giantstep.simulation.estimate import estimate as estimate
    from giantstep.simulation.feature_models import Equivalences as Equivalences
    from giantstep.simulation.feature_models import equivalences as equivalences
    from giantstep.simulation.simulate import simulate as simulate
    from giantstep.spectra.bulk import Bulk as Bulk
    from giantstep.spectra.layer import LayerOutliers as LayerOutliers
    from giantstep.spectra.layer import layer_outliers as layer_outliers
    from giantstep.spectra.outliers import Outliers as Outliers
    from giantstep.spectra.outliers import count_outliers as count_outliers
    from giantstep.spectra.start import feature_bulk as feature_bulk
    from giantstep.spectra.start import weight_bulk as weight_bulk
    from giantstep.store.folder import Results as Results
    from giantstep.store.folder import load as load
    from giantstep.sweeps.result import Sweep as Sweep
    from giantstep.sweeps.side_by_side import SideBySide as SideBySide
    from giantstep.sweeps.side_by_side import compare_settings as compare_settings
    from giantstep.sweeps.sweep import sweep as sweep

__version__ = "0.1.0"

_HOME = {
    "Activation": "giantstep.problem.activation",
    "Analysis": "giantstep.analysis.analyze",
    "Bulk": "giantstep.spectra.bulk",
    "CATALOG": "giantstep.problem.catalog",
    "CLAIMS": "giantstep.papers.claims",
    "Claim": "giantstep.papers.claims.record",
    "Comparison": "giantstep.records.comparison",
    "DivergenceError": "giantstep.errors",
    "Equivalences": "giantstep.simulation.feature_models",
    "Estimate": "giantstep.simulation.estimate",
    "Experiment": "giantstep.experiment",
    "Findings": "giantstep.papers.claims.record",
    "GiantStepClassifier": "giantstep.estimator.classifier",
    "GiantStepRegressor": "giantstep.estimator.regressor",
    "HermiteSeries": "giantstep.gaussian.series",
    "InputError": "giantstep.errors",
    "LayerOutliers": "giantstep.spectra.layer",
    "LearningCurve": "giantstep.prediction.given_weights.curve",
    "Limit": "giantstep.prediction.limits",
    "LimitStatus": "giantstep.prediction.limits",
    "Losses": "giantstep.prediction.wide.losses",
    "NoTheoryError": "giantstep.errors",
    "NotConvergedError": "giantstep.errors",
    "Outliers": "giantstep.spectra.outliers",
    "Quantity": "giantstep.papers.claims.quantity",
    "Results": "giantstep.store.folder",
    "Scaling": "giantstep.records.scaling",
    "Setting": "giantstep.problem.setting",
    "SideBySide": "giantstep.sweeps.side_by_side",
    "Source": "giantstep.papers.claims.source",
    "Spectrum": "giantstep.records.spectrum",
    "Sweep": "giantstep.sweeps.result",
    "Target": "giantstep.problem.target",
    "Trajectory": "giantstep.records.trajectory",
    "WeightOutliers": "giantstep.prediction.wide.weight_outliers",
    "analyze": "giantstep.analysis.analyze",
    "compare": "giantstep.records.comparison",
    "compare_settings": "giantstep.sweeps.side_by_side",
    "count_outliers": "giantstep.spectra.outliers",
    "equivalences": "giantstep.simulation.feature_models",
    "estimate": "giantstep.simulation.estimate",
    "exponent_of": "giantstep.papers.claims.quantity",
    "feature_bulk": "giantstep.spectra.start",
    "layer_outliers": "giantstep.spectra.layer",
    "learned_directions": "giantstep.prediction.given_weights.directions",
    "learning_curve": "giantstep.prediction.given_weights.curve",
    "limits": "giantstep.prediction.theories",
    "load": "giantstep.store.folder",
    "loss_curve": "giantstep.prediction.wide.losses",
    "make_activation": "giantstep.problem.activation",
    "make_target": "giantstep.problem.target",
    "mean_of": "giantstep.papers.claims.quantity",
    "plot": "giantstep.show.plots.record",
    "predict": "giantstep.prediction.predict",
    "run_claims": "giantstep.papers.claims.running",
    "run_experiment": "giantstep.experiment",
    "scaling_exponent": "giantstep.records.scaling",
    "separable": "giantstep.problem.target",
    "simulate": "giantstep.simulation.simulate",
    "sweep": "giantstep.sweeps.sweep",
    "weight_bulk": "giantstep.spectra.start",
    "weight_outliers": "giantstep.prediction.wide.weight_outliers",
}

__all__ = [
    "CATALOG",
    "CLAIMS",
    "Activation",
    "Analysis",
    "Bulk",
    "Claim",
    "Comparison",
    "DivergenceError",
    "Equivalences",
    "Estimate",
    "Experiment",
    "Findings",
    "GiantStepClassifier",
    "GiantStepRegressor",
    "HermiteSeries",
    "InputError",
    "LayerOutliers",
    "LearningCurve",
    "Limit",
    "LimitStatus",
    "Losses",
    "NoTheoryError",
    "NotConvergedError",
    "Outliers",
    "Quantity",
    "Results",
    "Scaling",
    "Setting",
    "SideBySide",
    "Source",
    "Spectrum",
    "Sweep",
    "Target",
    "Trajectory",
    "WeightOutliers",
    "analyze",
    "compare",
    "compare_settings",
    "count_outliers",
    "equivalences",
    "estimate",
    "exponent_of",
    "feature_bulk",
    "layer_outliers",
    "learned_directions",
    "learning_curve",
    "limits",
    "load",
    "loss_curve",
    "make_activation",
    "make_target",
    "mean_of",
    "plot",
    "predict",
    "run_claims",
    "run_experiment",
    "scaling_exponent",
    "separable",
    "simulate",
    "sweep",
    "weight_bulk",
    "weight_outliers",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'giantstep' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
