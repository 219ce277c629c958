"""The models that are compared on the same held-out rows: giant steps and three peers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.reports.columns import Prepared
from giantstep.reports.labels import Labels
from giantstep.reports.plan import FULL, Plan


@dataclass(frozen=True)
class Model:
    """A way to predict the label.

    regressor, classifier -> make an estimator for columns that are numbers, by a plan; classifier
    None: class scores are regressed, and clipped to probabilities.  better -> what is said of a
    table on which it predicts best; limited -> fitted on so many rows at most as a plan has it.
    """

    name: str
    regressor: Callable[[Plan], Any]
    classifier: Callable[[Plan], Any] | None
    better: str = ""
    limited: bool = False


def _ridge(plan: Plan) -> Any:
    # Penalties from far below to far above the number of rows of a table.
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 5, 15)))


def _logistic(plan: Plan) -> Any:
    logistic = LogisticRegressionCV(
        Cs=(1e-3, 1e-2, 1e-1, 1.0, 10.0),
        cv=3,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
        scoring="neg_log_loss",
        max_iter=300,
    )
    return make_pipeline(StandardScaler(), logistic)


def _kernel_ridge(plan: Plan) -> Any:
    # StandardScaler gives d columns of variance one; widths are a few times their distance 2d.
    grid = {"kernelridge__alpha": [1e-2, 1e-1, 1.0], "kernelridge__gamma": [1e-3, 1e-2, 1e-1]}
    return GridSearchCV(make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), grid, cv=3)


GIANT_STEPS, LINEAR, BOOSTING = "giant steps", "linear", "boosting"
"""Names of models that sentences single out."""

MODELS = (
    Model(
        GIANT_STEPS,
        lambda plan: GiantStepRegressor(recipe=plan.recipe),
        lambda plan: GiantStepClassifier(recipe=plan.recipe),
    ),
    Model(LINEAR, _ridge, _logistic, "A linear model is all that these rows show."),
    Model(
        BOOSTING,
        lambda plan: HistGradientBoostingRegressor(random_state=0),
        lambda plan: HistGradientBoostingClassifier(random_state=0),
        "Trees predict better: jumps, or interactions of single columns, are likely.",
    ),
    Model(
        "kernel ridge",
        _kernel_ridge,
        None,
        "A smooth function of all columns predicts better than one of few directions.",
        limited=True,
    ),
)
"""Models that are compared, giant steps first."""


def which_models(classes: bool) -> str:
    """What the other models are, for a reader who knows scikit-learn."""
    linear = (
        "logistic regression on standardised columns (LogisticRegressionCV, squared penalty)"
        if classes
        else "ridge regression on standardised columns (RidgeCV)"
    )
    return (
        f"Linear is {linear}. Its penalty is chosen inside the rows that it is fitted on. Boosting "
        "is scikit-learn's HistGradientBoosting with its own settings, kernel ridge has an RBF "
        "kernel."
    )


BY_NAME = {model.name: model for model in MODELS}


def fit_model(
    name: str, prepared: Prepared, labels: Labels, train: np.ndarray, plan: Plan = FULL
) -> Any:
    """The pipeline of preprocessing and a model, fitted on some rows."""
    model = BY_NAME[name]
    train = train[: plan.kernel_rows] if model.limited else train
    if labels.classes and model.classifier is not None:
        pipeline = make_pipeline(prepared.front(), model.classifier(plan))
        y = labels.given[train]
    else:
        pipeline = make_pipeline(prepared.front(), model.regressor(plan))
        y = labels.scores[train] if labels.classes else labels.scores[train, 0]
    with warnings.catch_warnings():
        # Clipped labels, categories that a fold lacks and slow convergence are no news here.
        warnings.simplefilter("ignore")
        return pipeline.fit(prepared.take(train), y)


def predict_scores(
    pipeline: Any, prepared: Prepared, labels: Labels, test: np.ndarray
) -> Float[np.ndarray, "k m"]:
    """Predicted labels of rows, or probabilities of all classes, also of those a fold lacks."""
    if not len(test):
        return np.empty((0, labels.scores.shape[1]))
    rows = prepared.take(test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not labels.classes:
            return np.asarray(pipeline.predict(rows), dtype=float).reshape(len(test), 1)
        if not hasattr(pipeline, "predict_proba"):
            return _probabilities(np.asarray(pipeline.predict(rows)))
        scores = np.zeros((len(test), len(labels.classes)))
        known = [labels.classes.index(str(name)) for name in pipeline.classes_]
        scores[:, known] = pipeline.predict_proba(rows)
    return scores


def _probabilities(scores: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "k m"]:
    """Scores of classes clipped to 0 .. 1, and made to sum to one."""
    clipped = np.clip(scores.reshape(len(scores), -1), 1e-6, 1.0)
    return clipped / clipped.sum(axis=1, keepdims=True)
