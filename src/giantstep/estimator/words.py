"""A fit in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from giantstep.estimator.needs import SECOND
from giantstep.estimator.steps import PRUNED, noise_edge

if TYPE_CHECKING:
    from giantstep.estimator.base import GiantStep

NAMED = 5
"""Columns of a direction that are named."""

SURE = 0.8
"""Stability above which a span of a planted target was right to a subspace score of .98."""


def words(fit: GiantStep) -> str:
    """What was found, how sure that is, and what may still be hidden."""
    n, c, k = fit._rows, fit._inputs.to_white.shape[1], fit.n_directions_
    found = [f"{n:,} distinct rows, {fit.n_features_in_} columns, {c} coordinates."]
    if k == 0:
        found.append(
            "No direction found: not reliably at this n. Out of fold no span of few directions "
            "predicts the label."
        )
    else:
        share = 1.0 - fit._choice.span_errors[k]
        verb = "they explain" if k > 1 else "it explains"
        found.append(
            f"{k} direction{'s' if k > 1 else ''} found; out of fold {verb} {share:.0%} of "
            f"the variance. {_stability(fit.stability_)}"
        )
    found += [
        f"  direction {j + 1}, strength {fit.strengths_[j]:.3g}: {_named(fit, j)}" for j in range(k)
    ]
    found.append(
        f"All models together explain {fit.out_of_fold_score_:.0%} out of fold: {_parts(fit)}."
    )
    if fit.steps_:
        found.append("Steps of the search:")
    for number, step in enumerate(fit.steps_, start=1):
        if step.kind == PRUNED:
            what = "the direction used least is dropped"
        else:
            verdict = "beyond" if step.beyond_noise else "within"
            what = (
                f"{step.kind}, {step.directions} at once: {step.statistic:.3g} {verdict} "
                f"the noise edge {step.edge:.3g} (level {step.level:g})"
            )
        found.append(
            f"  {number}. {what}, then refined; "
            f"{1.0 - step.error:.0%} of the variance, leave-one-out"
        )
    found.append(_hidden(fit, n, c))
    return "\n".join(found)


def _stability(value: float) -> str:
    if math.isnan(value):
        return "Too few folds found as many: how stable they are is not known."
    verdict = "stable" if value > SURE else "not stable, take the directions with care"
    return f"Between folds they agree to {value:.2f} (1 is the same span): {verdict}."


def column_names(fit: GiantStep) -> list[str]:
    """Names of the columns, x1, x2, ... where the table has none."""
    if hasattr(fit, "feature_names_in_"):
        return [str(name) for name in fit.feature_names_in_]
    return [f"x{j + 1}" for j in range(fit.n_features_in_)]


def _named(fit: GiantStep, j: int) -> str:
    """The leading columns of a direction, weights as for standardised columns."""
    scale = fit._inputs.scaling.scale * fit._inputs.scaling.deviation
    weights = np.where(
        np.isinf(scale), 0.0, fit.directions_[j] * np.where(np.isinf(scale), 0, scale)
    )
    weights = weights / max(float(np.linalg.norm(weights)), 1e-300)
    leading = np.argsort(-np.abs(weights))[:NAMED]
    names = column_names(fit)
    terms = " ".join(f"{weights[i]:+.2f} {names[i]}" for i in leading)
    return terms + (" ..." if len(weights) > NAMED else "")


def _parts(fit: GiantStep) -> str:
    names = ["linear", *["soft (all directions)", "soft (by column)"][: len(fit._models.soft)]]
    names += ["directions"] if fit.n_directions_ else []
    pairs = zip(names, fit._choice.weights, strict=True)
    return ", ".join(f"{name} {weight:.2f}" for name, weight in pairs)


def _hidden(fit: GiantStep, n: int, c: int) -> str:
    """The share of the variance from which a further linear direction would have been seen."""
    level = fit.level
    residual = min(max(1.0 - fit.out_of_fold_score_, 0.0), 1.0)
    # One function of the residual, whose n t^2 must lift c s^2 beyond the edge of the noise.
    first = residual * max(noise_edge(2, c, level) ** 2 - c, 0.0) / n
    text = (
        f"A further direction with a linear part above {min(first, 1.0):.1%} of the variance would "
        "have been seen"
    )
    second = SECOND * residual * c / n
    if second < 1.0:
        text += f", one with a quadratic part above {second:.1%} too"
    return text + "; what needs a leap of three or more stays hidden at any n near d."
