"""All tuned choices of the estimator on one page, with the reason of each.

A fit is handed one record of them.  ``GiantStepRegressor(recipe=Recipe(soft_steps=1))`` varies one,
as benchmarks and tests do; tolerances that only guard against rounding stand where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mix:
    """Features of a readout on a span: how many neurons, which polynomials, at which scale.

    crowd -> times the neurons of ``Recipe.neurons``; degree -> of the Hermite polynomials at most,
    on top of ``Recipe.degrees``; fall -> scale of one degree over that of the degree below, so that
    what is rougher costs more.
    """

    crowd: int
    degree: int
    fall: float


@dataclass(frozen=True)
class Recipe:
    """Choices that were tuned on planted targets and tables; the defaults are the estimator's."""

    # -- inputs and labels ----------------------------------------------------------------------

    # A column's tails are drawn in above this kurtosis: 3 is Gaussian, 9 exponential.
    heavy_kurtosis: float = 10.0
    # Robust deviations at which tails begin to be drawn in: z/sqrt(1 + (z/tail_start)^2).
    tail_start: float = 4.0
    # Tails stay where drawing them in costs the linear model more than this share of its error.
    tails_worth: float = 0.1
    # Cells that lie apart are clipped to the range of the others: at most this share of a column,
    # this many robust deviations from its median, this many times as far as the farthest other.
    apart_share: float = 0.01
    apart_distance: float = 8.0
    cells_apart: float = 2.0
    # That factor for labels: with tails like 1/y^2 the largest label is so once in 400 tables.
    labels_apart: float = 20.0
    # Deviations beyond the range of the training rows to which inputs are clipped.
    input_margin: float = 0.5
    # Least and largest ridge of the whitening, in units of the mean variance, one.
    whitening_ridge: tuple[float, float] = (1e-6, 0.3)

    # -- sizes: what is exact for few rows and coordinates, and approximate for many ------------

    # Rows that fix centre, scale and whitening of the inputs: more would not change a digit.
    scaling_rows: int = 50_000
    # Numbers of a table that are held in float64; beyond, products take half the time and half the
    # memory in float32, whose rounding is far below what so many rows can tell.
    float64_numbers: int = 2**19
    # All principal coordinates are found up to so many rows or columns, beyond only the leading.
    principal_coordinates: int = 2_000
    leading_coordinates: int = 200
    # Coordinates up to which their products are formed, in a fraction of a second.
    dense_coordinates: int = 1_000
    # A search sees so many rows, or so many a coordinate; its span is then refined on more, until
    # it errs by a thousandth of the noise.  Readouts are fitted on all rows.
    searched_rows: int = 8_000
    searched_per_coordinate: int = 20
    refined_per_coordinate: int = 1_000
    # Rows over which gradients are averaged: an importance is then known to a few per cent.
    gradient_rows: int = 2_000

    # -- folds and blend ------------------------------------------------------------------------

    # (rows, folds) for fewer rows than these, and the folds for more; with many coordinates half
    # of the rows would be too few.
    folds: tuple[tuple[int, int], ...] = ((300, 10), (2_000, 5), (6_000, 3))
    least_folds: int = 2
    wide_folds: int = 3
    # Larger spans than the best out of fold are tried where they lower the score by this share:
    # the way to two directions may lead over three.
    promise: float = 0.15
    # A fold whose score is this many times the least of all folds starts once more from the span of
    # that one, if folds that are not behind predict rows left out better by so many standard errors
    # than with fewer directions; turns from there at most.
    behind: float = 1.3
    shared_errors: float = 2.0
    shared_turns: int = 6
    # Folds whose spans agree to this squared cosine leave nothing for a search on all rows to find.
    agreed: float = 0.9
    # A span counts as found if it explains this share of the variance out of fold, and more than
    # this many standard errors.
    least_share: float = 0.02
    found_errors: float = 1.5
    # Standard errors within which a simpler model is as good as the best.
    nearly_errors: float = 0.5
    # Share of the labels' range by which a prediction may leave it.
    label_margin: float = 0.25

    # -- steps that propose directions ----------------------------------------------------------

    # Transforms of the label before there is a span: cosines of its rank.
    label_slices: int = 4
    # Principal functions of sigma' on the span, beside the constant.
    span_functions: int = 4
    # Robust deviations at which residuals are clipped: one label must not make a direction.
    residual_clip: float = 3.0
    # Times the radius of the bulk beyond which two second-order directions are tried together.
    second_order_margin: float = 1.15

    # -- growing and pruning a span -------------------------------------------------------------

    # Relative decrease of the score that a further direction must bring, and the decrease with
    # which a span is worth growing and pruning once more.
    least_gain: float = 3e-3
    worth_again: float = 0.03
    # Below so many rows a search is thorough: with more, the first path is as good as any.
    thorough_rows: int = 600
    # For thorough and other searches: spans grown and pruned at most, and the factor of the score
    # of the span it came from within which a trial is turned.
    expansions: tuple[int, int] = (12, 6)
    close: tuple[float, float] = (1.15, 1.02)
    # Giant steps at most that turn the best trial of its size.  To turn every trial before one is
    # chosen takes almost twice as long, and predicts no better.
    search_turns: int = 5
    # Sum of squared sines of the angles within which two spans count as one: giant steps would
    # take the worse of them to the better one.
    same_span: float = 0.1
    # Below so many rows one and two directions are both tried: outliers hide in the bulk.
    blurred_rows: int = 300
    # With many coordinates one row of so many is kept from the steps, to judge them.
    judged_every: int = 5

    # -- readouts on a span ---------------------------------------------------------------------

    # Neurons for k = 0, 1, ... directions: the readout's own error is then far below the noise.
    neurons: tuple[int, ...] = (0, 24, 64, 96, 128, 160)
    # Rows that a neuron is given: with fewer, leave-one-out chooses too much by chance.
    rows_per_neuron: int = 4
    # Degree of the Hermite polynomials for k = 0, 1, ... directions: what is smooth is theirs.
    degrees: tuple[int, ...] = (0, 4, 4, 3, 2)
    # Scale of the polynomials: about that of all neurons together, which share one penalty.
    polynomial_scale: float = 3.0
    # Deviations beyond the training range to which coordinates on the span are clipped.
    span_margin: float = 0.3
    # The readout of the search; those blended in the end: polynomials, more neurons, neurons
    # almost alone.
    search_mix: Mix = Mix(1, 4, 0.7)
    last_mixes: tuple[Mix, ...] = (Mix(1, 4, 1.0), Mix(4, 4, 0.5), Mix(4, 1, 1.0))
    # Draws of the neurons that are averaged, up to so many rows: beyond, one is as good.
    draws: int = 4
    drawn_rows: int = 1_000

    # -- giant steps that turn a span -----------------------------------------------------------

    # Conjugate-gradient iterates that are tried: the gradient step, and further ones; and how many
    # of these the last turn goes through, which no rows judge.
    iterates: tuple[int, ...] = (1, 3, 8)
    unjudged_iterates: int = 2
    # Relative decrease of the error below which a span is left as it is.
    turn_gain: float = 2e-3
    # Turns with the best of the last readouts, at most.
    last_turns: int = 3

    # -- soft steps -----------------------------------------------------------------------------

    # Times that the metric is learned, the rows that teach it, those over which the outer product
    # of gradients is averaged, and the rows on which its kernels are centred.
    soft_steps: int = 2
    metric_rows: int = 2_000
    averaged_rows: int = 500
    metric_centres: int = 160
    # Rows on which the kernels of the readout are centred: all in the folds of 400 rows.
    centres: int = 320
    # Least eigenvalue of the metric over its mean: a second step may find what a first one missed.
    metric_floor: float = 1e-3

    # -- probabilities of classes ---------------------------------------------------------------

    # Inverse penalties of the logistic regression, in rising order: the optimum is flat.
    logistic_strengths: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
    # Penalty of a calibration, in rows: classes that are apart on all rows are no certainty.
    calibration_rows: float = 1.0
    # Standard errors by which evidence must gain on the class shares: on labels that depend on
    # nothing, 60 draws of 100 to 400 rows gained 1.7 of them at most.
    calibration_errors: float = 2.0
