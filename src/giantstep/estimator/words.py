"""A fit in words: what is certain, what predicts, how much each part adds, what may be hidden."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from giantstep.estimator.needs import SECOND
from giantstep.estimator.parts import DIRECTIONS
from giantstep.estimator.steps import noise_edge

if TYPE_CHECKING:
    from giantstep.estimator.base import GiantStep
    from giantstep.estimator.certain import NoiseTest


def words(fit: GiantStep) -> str:
    """The text of ``explain``."""
    c = fit._inputs.to_white.shape[1]
    lines = [
        f"The table has {fit._rows:,} distinct rows and {fit.n_features_in_} columns, with "
        f"{c} independent coordinates.",
        summary(fit),
    ]
    if not fit._scale.any():
        return "\n".join(lines)
    lines += [
        f"Steps on the residual are tested against noise, at level {fit.level:g}:",
        *_certain(fit),
        "Shares of the variance are those that are explained of rows that were left out:",
        *_predicts(fit),
    ]
    if fit.n_fitted_:
        lines.append(
            "A direction is certain if rows that were left out are predicted worse without it. At "
            f"level {fit.level:g} for all directions together:"
        )
        lines += [_needed(fit, j) for j in range(fit.n_fitted_)]
        lines.append("These are the directions, as weights of standardised columns:")
        lines += [_direction(fit, j) for j in range(fit.n_fitted_)]
        lines.append(f"  {_stability(fit.stability_)}")
    return "\n".join([*lines, *_columns(fit), *fit._closing_words(), _hidden(fit, c)])


def summary(fit: GiantStep) -> str:
    """How many directions are certain, and how many are fitted."""
    k, certain = fit.n_fitted_, fit.n_directions_
    if not fit._scale.any():
        return "The label is constant: it is predicted as such, and there is nothing to explain."
    if k == 0 and any(test.beyond_noise for test in fit.tests_):
        return (
            "No direction was found: the label depends on the columns beyond noise, but no span of "
            "few directions predicts rows that were left out."
        )
    if k == 0:
        return "No direction was found: at this n none predicts reliably, and none is beyond noise."
    if certain == k:
        return (
            f"{counted(k)} {'was' if k == 1 else 'were'} found, {'all ' if k > 1 else ''}certain."
        )
    if certain == 0:
        share = 1.0 - fit._choice.span_errors[k]
        if k == 1:
            return (
                f"No direction is certain. 1 direction is fitted and explains {share:.0%} of the "
                "variance of rows that were left out: take it with care."
            )
        return (
            f"No direction is certain by itself. {counted(k)} are fitted and together explain "
            f"{share:.0%} of the variance of rows that were left out: take each with care."
        )
    return (
        f"{counted(certain)} {'is' if certain == 1 else 'are'} certain. {k - certain} more "
        f"{'is' if k - certain == 1 else 'are'} fitted since that predicts best: take "
        f"{'it' if k - certain == 1 else 'them'} with care."
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
        further = "a further direction" if given else "a direction"
        verdict = "is there" if tests[-1].beyond_noise else "is not seen"
        before = counted(given) if given else "no direction"
        lines.append(f"  With {before} fitted, {further} {verdict}: {values}.")
    return lines


def _tested(test: NoiseTest) -> str:
    # Permutations end where one exceeds the statistic.
    least = test.permuted and not test.beyond_noise
    noise = f"reaches {test.edge:.3g} or more" if least else f"stays below {test.edge:.3g}"
    return f"the step of {test.kind} gives {test.statistic:.3g} where noise {noise}"


def _predicts(fit: GiantStep) -> list[str]:
    shares = {k: 1.0 - error for k, error in fit._choice.span_errors.items() if k}
    lines = []
    if shares:
        spans = ", ".join(f"{counted(k)} {share:.1%}" for k, share in shares.items())
        kept = f"{counted(fit.n_fitted_)} kept" if fit.n_fitted_ else "none kept"
        lines.append(f"  Explained by a number of directions: {spans}; {kept}.")
    for part in fit.parts_:
        use = f"adds {part.adds:.1%} to the others with weight {part.weight:.2f}"
        use = use if part.weight > 0 else "is not used"
        lines.append(f"  The part '{part.name}' explains {part.alone:.1%} alone and {use}.")
    lines.append(f"  All parts together explain {fit.out_of_fold_score_:.1%}.")
    if any(part.name == DIRECTIONS and part.weight == 0 for part in fit.parts_):
        lines.append(
            "  Predictions do not use the directions: other parts predict better without them."
        )
    return lines


def _needed(fit: GiantStep, j: int) -> str:
    """What rows left out lose without a direction, and the verdict."""
    test = fit.direction_tests_[j]
    verdict = "It is certain" if test.certain else "It is not certain"
    return (
        f"  Without direction {j + 1} the error grows by {test.loss:.1%} of the variance, standard "
        f"error {test.error:.1%}, p-value {test.p_value:.2g}. {verdict}."
    )


def _stability(value: float, least: float = 0.8) -> str:
    """How well folds agree; above ``least`` planted spans had a subspace score of .98."""
    if math.isnan(value):
        return "Too few folds found as many directions: how stable they are is not known."
    verdict = "they are stable" if value > least else "they are not stable, take them with care"
    return f"Different folds agree on them to {value:.2f} (1: the same directions): {verdict}."


def column_names(fit: GiantStep) -> list[str]:
    """Names of the columns, x1, x2, ... where the table has none."""
    if hasattr(fit, "feature_names_in_"):
        return [str(name) for name in fit.feature_names_in_]
    return [f"x{j + 1}" for j in range(fit.n_features_in_)]


def column_weights(fit: GiantStep) -> Float[np.ndarray, "k d"]:
    """Weights of standardised columns in every direction, rows of length one."""
    scale = fit._inputs.scaling.scale * fit._inputs.scaling.deviation
    weights = fit.directions_ * np.where(np.isinf(scale), 0.0, scale)
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    return weights / np.maximum(lengths, 1e-300)


def _direction(fit: GiantStep, j: int) -> str:
    """The leading columns of a direction, weights as for standardised columns."""
    weights, names = column_weights(fit)[j], column_names(fit)
    terms = [f"{weights[i]:+.2f} {names[i]}" for i in np.argsort(-np.abs(weights))]
    return (
        f"  Direction {j + 1}, {'' if fit.certain_[j] else 'not '}certain, has strength "
        f"{fit.strengths_[j]:.3g}: {_first(terms, ' ')}"
    )


def _first(terms: Sequence[str], separator: str = ", ", most: int = 5) -> str:
    """The first terms, with dots for more."""
    return separator.join([*terms[:most], *(["..."] if len(terms) > most else [])])


def _columns(fit: GiantStep) -> list[str]:
    """What was done to columns that are far from Gaussian, or constant."""
    names, scaling = column_names(fit), fit._inputs.scaling
    cells = [f"row {row} of {names[j]}" for row, j in fit.clipped_cells_]
    labels = [f"row {row}" for row, _ in fit.clipped_labels_]
    heavy = [names[j] for j in np.flatnonzero(scaling.heavy)]
    constant = [names[j] for j in np.flatnonzero(np.isinf(scaling.scale))]
    sentences = {
        f"Cells far outside their column count as the end of its range, {len(cells)} in all, rows "
        "from 0 on": cells,
        f"Labels far outside all others count as the end of their range, {len(labels)} in all, "
        "rows from 0 on": labels,
        "Extreme values of these columns are pulled towards their middle": heavy,
        "These columns are constant": constant,
    }
    return [f"{sentence}: {_first(which)}." for sentence, which in sentences.items() if which]


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
    second = SECOND * residual * c / n
    quadratic = f" or its quadratic part above {second:.1%}" if second < 1.0 else ""
    return (
        f"A further direction would have been seen if its linear part were above "
        f"{min(first, 1.0):.1%} of the variance{quadratic}. A part of degree three or more "
        "that gives no linear or quadratic signal cannot be found from so few rows."
    )
