"""A Trajectory step by step as a few numbers: what tables show and what JSON holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.records.observables import ERRORS, Subspaces, expectations, observed
from giantstep.records.plain import fields_of, plain
from giantstep.records.spectrum import Spectrum
from giantstep.records.trajectory import Trajectory

KNOWN = 0.025
"""Relative uncertainty of theory from which on a number is called rough: that much, and a tenth
besides, is what some tens of runs tell from it."""


@dataclass(frozen=True)
class Value:
    """A mean over runs and its standard error, None where it is not known.

    A number of theory has no standard error but an ``uncertainty``; its mean is NaN where theory
    does not know the number.
    """

    mean: float
    standard_error: float | None
    uncertainty: float | None = None

    @property
    def known(self) -> bool:
        return math.isfinite(self.mean)

    @property
    def rough(self) -> bool:
        """Whether theory itself is uncertain by more than a few percent."""
        return (self.uncertainty or 0.0) > KNOWN * abs(self.mean)

    def as_dict(self) -> dict[str, float | None]:
        """Mean and standard error; of a number of theory also its uncertainty."""
        numbers = {"mean": plain(self.mean), "standard_error": self.standard_error}
        if self.uncertainty is not None:
            numbers["uncertainty"] = self.uncertainty if self.known else None
        return numbers


@dataclass(frozen=True)
class SpectrumStep:
    """Outliers of one matrix after one step: those of the median run, over the runs that have them.

    ``counts`` are the numbers of outliers in each run, None where they could not be counted;
    ``edge`` and ``threshold`` are means over the runs; ``inside`` the places predicted between
    them, which do not count, with what noise may move them by; ``leading`` the largest singular
    values where they were measured.
    """

    edge: float | None
    threshold: float | None
    outliers: tuple[Value, ...] | None
    inside: tuple[Value, ...]
    counts: tuple[int, ...] | None
    leading: tuple[Value, ...]
    alignment: tuple[Value, ...]


@dataclass(frozen=True)
class StepSummary:
    """One step of a trajectory; ``cosines`` are medians over neurons, a subspace each."""

    step: int
    norm: Value
    cosines: tuple[Value, ...]
    principal_cosines: tuple[Value, ...] | None
    errors: dict[str, Value]
    ridge: float | None
    weights: SpectrumStep | None
    features: SpectrumStep | None

    @property
    def values(self) -> tuple[Value, ...]:
        """All numbers of the rows and of the errors, and places that do not count as outliers."""
        places = [part.inside for part in (self.weights, self.features) if part is not None]
        rows = (self.norm, *self.cosines, *(self.principal_cosines or ()))
        return (*rows, *self.errors.values(), *chain.from_iterable(places))

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        numbers = fields_of(self, "cosines", "errors")
        return numbers | {"median_cosines": plain(self.cosines)} | plain(self.errors)


Reduction = Callable[..., Value]


def expected(values: Float[np.ndarray, " rows"]) -> Value:
    """Mean over the rows of a prediction."""
    return Value(float(values.mean()), None)


def measured(values: Float[np.ndarray, " runs"], uncertainty: float | None = None) -> Value:
    """Mean over runs with its standard error; of a single run its ``uncertainty``, if any."""
    mean = float(values.mean())
    if len(values) < 2:
        return Value(mean, uncertainty)
    return Value(mean, float(values.std(ddof=1)) / math.sqrt(len(values)))


def summarize(trajectory: Trajectory, subspaces: Subspaces) -> tuple[StepSummary, ...]:
    """Lengths, alignment with each subspace, errors and outliers after every step.

    A prediction is not measured: its values have no standard error, whatever its rows.
    """
    values = expected_values if trajectory.theory else _measured_values
    of_steps = values(trajectory, subspaces)
    over_runs = expected if trajectory.theory else measured
    r = trajectory.overlap.shape[-1]
    principal = [f"principal_cosine_{k + 1}" for k in range(r)]
    return tuple(
        StepSummary(
            step=int(trajectory.steps[step]),
            norm=of_steps["norm"][step],
            cosines=tuple(of_steps[name][step] for name in subspaces),
            principal_cosines=tuple(of_steps[name][step] for name in principal)
            if trajectory.span is not None
            else None,
            errors={
                name: of_steps[name][step]
                for name in ERRORS
                if name in of_steps and of_steps[name][step].known
            },
            ridge=None if trajectory.ridge is None else float(np.median(trajectory.ridge[:, step])),
            weights=spectrum_step(trajectory.weights, step, over_runs),
            features=spectrum_step(trajectory.features, step, over_runs),
        )
        for step in range(trajectory.overlap.shape[1])
    )


def _measured_values(simulated: Trajectory, subspaces: Subspaces) -> dict[str, list[Value]]:
    """Means over runs step by step; of a single run errors have those of their test samples."""
    summaries = {}
    for name, values in observed(simulated, subspaces).items():
        error = getattr(simulated, f"{name}_uncertainty") if name in ERRORS else None
        of_samples = [None] * values.shape[1] if error is None else error[0].tolist()
        summaries[name] = list(map(measured, values.T, of_samples))
    return summaries


def expected_values(predicted: Trajectory, subspaces: Subspaces) -> dict[str, list[Value]]:
    """What theory expects step by step, with its uncertainty.

    That of a mean over drawn runs includes at most its standard error: runs from the starts that
    are simulated differ less from these than from each other.
    """
    left_out, deviation = predicted.relative_uncertainty, predicted.overlap_deviation
    drawn = deviation is not None and not deviation.any() and predicted.runs > 1
    drawn = drawn or predicted.rows_a_run > 1
    values = {}
    for name, theory in expectations(predicted, subspaces).items():
        rows = len(theory.values)
        spread = theory.values.std(axis=0, ddof=1) / math.sqrt(rows) if drawn and rows > 1 else 0.0
        uncertainty = np.hypot(np.hypot(theory.uncertainty, left_out * theory.mean), spread)
        pairs = zip(theory.mean.tolist(), uncertainty.tolist(), strict=True)
        values[name] = [Value(mean, None, doubt) for mean, doubt in pairs]
    return values


def _places_below(spectrum: Spectrum, step: int, ranks: slice) -> tuple[Value, ...]:
    """Means over the rows of a prediction of the places that do not count."""
    places, moved = spectrum.outliers, spectrum.place_uncertainty
    assert places is not None
    assert moved is not None
    means = []
    for place, uncertainty in zip(places[:, step, ranks].T, moved[:, step, ranks].T, strict=True):
        there = np.isfinite(place)
        means.append(Value(float(place[there].mean()), None, float(uncertainty[there].mean())))
    return tuple(means)


def _mean_of_runs(values: Float[np.ndarray, "runs t"] | None, step: int) -> float | None:
    """The mean over runs, None where it is not known."""
    mean = math.nan if values is None else float(values[:, step].mean())
    return mean if math.isfinite(mean) else None


def spectrum_step(
    spectrum: Spectrum | None, step: int, over_runs: Reduction = measured
) -> SpectrumStep | None:
    """Outliers of a matrix after one step, None without a spectrum of it."""
    if spectrum is None:
        return None
    edge, threshold = (_mean_of_runs(part, step) for part in (spectrum.edge, spectrum.threshold))
    counts = outliers = None
    inside: tuple[Value, ...] = ()
    aligned = 0
    if edge is not None and spectrum.outliers is not None and spectrum.count is not None:
        numbers = spectrum.count[:, step].astype(int)
        aligned = int(np.median(numbers))
        enough = spectrum.outliers[numbers >= aligned, step, :aligned]
        counts = tuple(numbers.tolist())
        outliers = tuple(over_runs(column) for column in enough.T)
        inside = _places_below(spectrum, step, slice(aligned, spectrum.usual(step)))
    leading, alignment = spectrum.singular_values, spectrum.alignment
    return SpectrumStep(
        edge=edge,
        threshold=threshold,
        outliers=outliers,
        inside=inside,
        counts=counts,
        leading=() if leading is None else tuple(map(over_runs, leading[:, step, :4].T)),
        alignment=()
        if alignment is None
        else tuple(map(over_runs, alignment[:, step, :aligned].T)),
    )
