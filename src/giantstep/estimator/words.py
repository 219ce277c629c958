"""A fit in words: what is certain, what predicts, how much each part adds, what may be hidden."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from giantstep.estimator.needs import SECOND
from giantstep.estimator.parts import DIRECTIONS
from giantstep.estimator.steps import noise_edge

if TYPE_CHECKING:
    from giantstep.estimator.base import GiantStep
    from giantstep.estimator.certain import NoiseTest

NAMED = 5
"""Columns of a direction that are named, and cells that were clipped."""

SURE = 0.8
"""Stability above which a span of a planted target was right to a subspace score of .98."""


def words(fit: GiantStep) -> str:
    """The whole text."""
    c = fit._inputs.to_white.shape[1]
    lines = [
        f"{fit._rows:,} distinct rows, {fit.n_features_in_} columns, {c} coordinates.",
        summary(fit),
    ]
    if not fit._scale.any():
        return "\n".join(lines)
    lines += [
        f"What is certain (steps on what is left of the label against noise, level {fit.level:g}):",
        *_certain(fit),
        "What predicts (shares of the variance of rows that were left out):",
        *_predicts(fit),
    ]
    if fit.n_directions_:
        lines.append("Directions (weights of standardised columns):")
        lines += [_direction(fit, j) for j in range(fit.n_directions_)]
        lines.append(f"  {_stability(fit.stability_)}")
    return "\n".join([*lines, *_columns(fit), *fit._closing_words(), _hidden(fit, c)])


def summary(fit: GiantStep) -> str:
    """How many directions were found, and how many of them are certain."""
    k, certain = fit.n_directions_, fit.n_certain_
    if not fit._scale.any():
        return "The label is constant: it is predicted as such, and there is nothing to explain."
    if k == 0 and any(test.beyond_noise for test in fit.tests_):
        return (
            "No direction found: the label depends on the columns beyond noise, but no span of few "
            "directions predicts rows that were left out."
        )
    if k == 0:
        return "No direction found: none predicts reliably at this n, and none is beyond noise."
    if certain == k:
        return f"{counted(k)} found, beyond noise."
    if certain == 0:
        return f"{counted(k)} found by what predicts best, none beyond noise: take them with care."
    return (
        f"{counted(k)} found by what predicts best, the first {certain} beyond noise: take the "
        "others with care."
    )


def counted(k: int) -> str:
    """A number of directions."""
    return f"{k} direction{'' if k == 1 else 's'}"


def stages(fit: GiantStep) -> list[tuple[int, list[NoiseTest]]]:
    """The tests by the number of directions that were given."""
    return [(given, list(tests)) for given, tests in groupby(fit.tests_, lambda t: t.given)]


def _certain(fit: GiantStep) -> list[str]:
    lines = []
    for given, tests in stages(fit):
        values = "; ".join(_tested(test) for test in tests)
        seen = tests[-1].beyond_noise
        further = "a further direction" if given else "a direction"
        verdict = f"{further} is there" if seen else f"{further} is not seen"
        before = f"beside {counted(given)}" if given else "at first"
        lines.append(f"  {before}: {verdict}: {values}.")
    return lines


def _tested(test: NoiseTest) -> str:
    # Permutations end where one exceeds the statistic.
    least = "at least " if test.permuted and not test.beyond_noise else ""
    return f"{test.kind} {test.statistic:.3g}, noise edge {least}{test.edge:.3g}"


def _predicts(fit: GiantStep) -> list[str]:
    shares = {k: 1.0 - error for k, error in fit._choice.span_errors.items() if k}
    lines = []
    if shares:
        spans = ", ".join(f"{counted(k)} {share:.1%}" for k, share in shares.items())
        lines.append(f"  spans: {spans}; {fit.n_directions_ or 'none'} kept.")
    width = max(len(part.name) for part in fit.parts_)
    for part in fit.parts_:
        adds = f"adds {part.adds:.1%} to the others" if part.weight > 0 else "not used"
        name = f"{part.name}:".ljust(width + 1)
        lines.append(f"  {name} weight {part.weight:.2f}, alone {part.alone:.1%}, {adds}.")
    lines.append(f"  All parts together: {fit.out_of_fold_score_:.1%}.")
    if any(part.name == DIRECTIONS and part.weight == 0 for part in fit.parts_):
        lines.append(
            "  Predictions do not use the directions: other parts predict better without them."
        )
    return lines


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


def _direction(fit: GiantStep, j: int) -> str:
    """The leading columns of a direction, weights as for standardised columns."""
    scale = fit._inputs.scaling.scale * fit._inputs.scaling.deviation
    weights = np.where(
        np.isinf(scale), 0.0, fit.directions_[j] * np.where(np.isinf(scale), 0, scale)
    )
    weights = weights / max(float(np.linalg.norm(weights)), 1e-300)
    leading = np.argsort(-np.abs(weights))[:NAMED]
    names = column_names(fit)
    terms = " ".join(f"{weights[i]:+.2f} {names[i]}" for i in leading)
    terms += " ..." if len(weights) > NAMED else ""
    verdict = "beyond noise" if j < fit.n_certain_ else "not beyond noise"
    return f"  direction {j + 1}, {verdict}, strength {fit.strengths_[j]:.3g}: {terms}"


def _columns(fit: GiantStep) -> list[str]:
    """What was done to columns that are far from Gaussian, or constant."""
    names, scaling, cells = column_names(fit), fit._inputs.scaling, fit.clipped_cells_
    lines = []
    if len(cells):
        where = ", ".join(f"row {row} of {names[j]}" for row, j in cells[:NAMED])
        where += ", ..." if len(cells) > NAMED else ""
        lines.append(
            f"Cells far outside their column, which count as the end of its range: {len(cells)} "
            f"({where}; rows from 0 on)."
        )
    if len(fit.clipped_labels_):
        where = ", ".join(f"row {row}" for row, _ in fit.clipped_labels_[:NAMED])
        where += ", ..." if len(fit.clipped_labels_) > NAMED else ""
        lines.append(
            "Labels far outside all others, which count as the end of their range: "
            f"{len(fit.clipped_labels_)} ({where}; rows from 0 on)."
        )
    heavy = [names[j] for j in np.flatnonzero(scaling.heavy)]
    constant = [names[j] for j in np.flatnonzero(np.isinf(scaling.scale))]
    for what, which in (("Heavy tails are drawn in", heavy), ("Constant columns", constant)):
        if which:
            rest = ", ..." if len(which) > NAMED else ""
            lines.append(f"{what}: {', '.join(which[:NAMED])}{rest}.")
    return lines


def _hidden(fit: GiantStep, c: int) -> str:
    """What may still be there unseen, as a share of the variance where the tests can tell."""
    n, level = fit._rows, fit.level
    if fit.tests_ and fit.tests_[-1].beyond_noise:
        return (
            "A further direction is beyond noise, but no such direction improves the prediction of "
            "rows that were left out, so none is kept."
        )
    if n < 2 * c:
        return (
            f"With {n} rows for {c} coordinates the tests see little: directions may be there that "
            "they do not show."
        )
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
