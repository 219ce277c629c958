"""What can be learned, before any simulation: one record for a target and an activation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat, TypeVar

import numpy as np
from jaxtyping import Float

from giantstep.analysis.exponents import (
    Exponent,
    OneStep,
    exponent,
    one_step,
    tensor_terms,
)
from giantstep.analysis.floors import (
    REGIMES,
    Floor,
    Floors,
    Regime,
    fitted_part,
)
from giantstep.analysis.labels import LabelSource
from giantstep.analysis.long_sums import refuse_long_sums
from giantstep.analysis.notes import undecided, warnings
from giantstep.analysis.seen_inputs import SeenInputs, seen_inputs
from giantstep.analysis.staircase import Stage, Staircase, UsableTerms, stages, staircase
from giantstep.analysis.subspace import name_space, tidy
from giantstep.analysis.weak_recovery import WeakRecovery, weak_recovery
from giantstep.errors import InputError
from giantstep.gaussian.series import HermiteSeries
from giantstep.gaussian.tensors import rank_tolerance
from giantstep.gaussian.terms import write_sum
from giantstep.problem.activation import Activation, make_activation
from giantstep.problem.inputs import InputLaw, make_inputs
from giantstep.problem.setting import Setting
from giantstep.problem.target import Target, in_coordinates, make_target
from giantstep.records.drawing import Drawn
from giantstep.records.plain import fields_of, plain

Record = TypeVar("Record", OneStep, Floor, Stage)


@dataclass(frozen=True)
class Analysis(Drawn):
    """Exponents, one step, staircases and floors of a target; ``as_dict`` has the stable keys.

    ``active`` spans the directions the target depends on.  ``floors`` are lower bounds of the error
    of readouts of this activation without biases, given what it has learned from fresh batches step
    by step; ``floors_any`` hold for readouts of any activation, biases or not.  ``leaps`` are those
    of any activation, ``stages`` what this one learns at each leap.  ``undecided`` says what could
    not be settled.

    leap index l = min {k >= 1 : T_k != 0}, T_k = E[grad^k f]; staircase U_{t+1} = U_t + span of the
    linear parts of f given x_U; floors E Var(f | P_U x) and |P_{U,>k} f|^2 (arXiv 2305.18270,
    leap index, Conjectures 1 and 3).  Gaussian inputs, fixed r, d to infinity.
    """

    target: Target
    activation: Activation
    series: HermiteSeries
    active: Float[np.ndarray, "k r"]
    information_exponent: int | None
    generative_exponent: int | None
    leaps: tuple[int, ...]
    stages: tuple[Stage, ...]
    one_step: tuple[OneStep, ...]
    fresh: Staircase
    reused: Staircase
    floors: tuple[Floor, ...]
    floors_any: tuple[Floor, ...]
    regimes: tuple[Regime, ...]
    weak_recovery: WeakRecovery | None
    label_degree: int
    undecided: tuple[str, ...]
    notes: tuple[str, ...]
    inputs: SeenInputs

    def __repr__(self) -> str:
        stairs = f"fresh {self.fresh.dimensions}, reused {self.reused.dimensions}"
        floors = ", ".join(f"{floor.narrow:.4g}" for floor in self.floors)
        return (
            f"Analysis({self.target.name!r}, {self.activation.name!r}: leap index "
            f"{self.leap_index}, generative exponent {self.generative_exponent}, dimensions "
            f"{stairs} of {self.target.r}, narrow floors {floors})"
        )

    @property
    def unresolved(self) -> float:
        """Share of the variance that the Hermite series does not hold."""
        return self.series.tail / (self.series.variance + self.series.tail)

    @property
    def leap_index(self) -> int | None:
        """Smallest k >= 1 with T_k != 0, as in arXiv 2305.18270: the information exponent."""
        return self.information_exponent

    @property
    def directions(self) -> list[str]:
        """Names of the target coordinates, the columns of every basis."""
        return [f"x{k + 1}" for k in range(self.target.r)]

    @property
    def deciding_tensor(self) -> dict[str, float]:
        """The terms of T_l, l the leap index, as Hermite products with their coefficients."""
        return tensor_terms(self.series, self.leap_index) if self.leap_index else {}

    def as_dict(self) -> dict[str, Any]:
        """The record as plain lists, numbers and strings."""
        return {
            "target": self.target.name,
            "activation": self.activation.name,
            "directions": self.directions,
            "variance": self.series.variance + self.series.tail,
            "degree": self.series.degree,
            "variance_uncertainty": 3.0 * self.series.tail_uncertainty,
            "truncation": {
                "tail": self.series.tail,
                "quadrature_error": self.series.error,
                "standard_error": float(self.series.standard_errors.max(initial=0.0)),
                "unresolved": self.unresolved,
            },
            "undecided": list(self.undecided),
            "leap_index": self.leap_index,
            "information_exponent": self.information_exponent,
            "generative_exponent": self.generative_exponent,
            "label_degree": self.label_degree,
            "weak_recovery": plain(self.weak_recovery),
            "deciding_tensor": {"degree": self.leap_index, "terms": self.deciding_tensor},
            "leaps": list(self.leaps),
            "stages": [
                fields_of(entry) | {"directions": name_space(entry.basis)} for entry in self.stages
            ],
            "one_step": [_one_step_dict(entry) for entry in self.one_step],
            "staircase": {
                "fresh": _staircase_dict(self.fresh),
                "reused": _staircase_dict(self.reused),
            },
            "floors": _floors_list(self.floors),
            "floors_any": _floors_list(self.floors_any),
            "regimes": [
                fields_of(entry, "n_exponent", "p_exponent", "fitted")
                | {
                    "n": entry.n_exponent,
                    "p": entry.p_exponent,
                    "learned": name_space(entry.basis),
                    "fitted": describe(entry.fitted, rank_tolerance(self.series)),
                }
                for entry in self.regimes
            ],
            "notes": list(self.notes),
            "inputs": fields_of(self.inputs),
        }


def _floors_list(floors: Sequence[Floor]) -> list[dict[str, Any]]:
    return [
        {"step": step, "dimension": len(floor.basis)} | fields_of(floor, "basis")
        for step, floor in enumerate(floors)
    ]


def _one_step_dict(entry: OneStep) -> dict[str, Any]:
    return fields_of(entry, "batch_exponent") | {
        "n": entry.batch_exponent,
        "dimension": len(entry.basis),
        "learned": name_space(entry.basis),
    }


def _staircase_dict(stairs: Staircase) -> dict[str, Any]:
    return {
        "dimensions": stairs.dimensions,
        "bases": plain(stairs.bases),
        "adds": [name_space(stairs.added(t + 1)) for t in range(len(stairs.bases))],
        "decisions": plain(stairs.decisions),
        "converged": stairs.converged,
        "with_activation": {
            "dimensions": stairs.reached_dimensions,
            "bases": plain(stairs.reached),
        },
        "blocked": [
            fields_of(entry) | {"directions": name_space(entry.basis)} for entry in stairs.blocked
        ],
    }


def describe(series: HermiteSeries, tolerance: float) -> str:
    """A series as text, without what is below the tolerance."""
    terms = tensor_terms(series)
    return write_sum({name: value for name, value in terms.items() if abs(value) > tolerance})


LABEL_DEGREE = 3
"""The highest power of a polynomial label that is tried exactly."""


def analyze(
    target: str | Callable[..., Any] | Target,
    activation: str | Callable[[Any], Any] | Activation = "relu",
    *,
    directions: Sequence[Sequence[SupportsFloat]] | Float[np.ndarray, "r m"] | None = None,
    label_degree: int = LABEL_DEGREE,
    inputs: str | InputLaw = "gaussian",
    frame: str = "random",
    d: int = 10_000,
) -> Analysis:
    """Say what a two-layer network can learn from giant steps on a target.

    ``label_degree`` is the highest power of a polynomial label that is tried exactly before the
    bounded transforms; 1 leaves the label as it is, also for reused batches.

    T_k = E[grad^k f] and b_k = E[sigma^(k)] decide everything: f -> target, sigma -> activation.
    Inputs are N(0, I), the number of directions fixed, d to infinity (arXiv 2305.18270; reused
    batches arXiv 2402.03220; weak recovery arXiv 2405.15480).

    Other ``inputs`` that are normal about a mean turn the target into another function of unit
    normals (arXiv 2502.06443 for a shift), which is what the record is of, and ``frame`` says where
    the target directions lie, as in a setting.  The effective dimension at ``d`` inputs is in the
    place of d: docs/derivations/structured_inputs.md, eqs. (3) to (6).

    >>> from giantstep import analyze
    >>> analysis = analyze("x1 + x2 + x1^2 - x2^2")
    >>> analysis.leap_index, analysis.fresh.dimensions
    (1, [1, 2])
    >>> [round(floor.narrow, 3) for floor in analysis.floors]
    [6.0, 4.0, 0.0]
    >>> analyze("He3(x1)", inputs="shifted(1, 0.5)").leap_index
    1
    """
    if not 1 <= label_degree <= 8:
        raise InputError(f"label_degree must be in 1..8, got {label_degree}")
    f = make_target(target, directions)
    # The labels of a column have no direction; their series refuses them below.
    law = seen_inputs(make_inputs(inputs), frame, d, max(f.r, 1))
    sigma = make_activation(activation)
    try:
        return _analyze(law.standard(f), sigma, label_degree, law)
    except OverflowError:
        raise InputError(
            "target must have label powers below 10^308 to be analyzed, got larger ones for "
            f"{f.text[:60]!r} and inputs {make_inputs(inputs).text}"
        ) from None


def analyze_setting(setting: Setting) -> Analysis:
    """The analysis of a setting; inputs that are not normal about a mean count as N(0, I)."""
    inputs = setting.inputs if setting.inputs.normal_about_mean else "gaussian"
    frame = setting.frame if setting.inputs.in_blocks else "random"
    return analyze(
        setting.target,
        setting.activation,
        # A function of a sign is affine in it, so that reused batches hand on the label alone.
        label_degree=1 if setting.label_noise.signs else LABEL_DEGREE,
        inputs=inputs,
        frame=frame,
        d=setting.d,
    )


def _analyze(f: Target, sigma: Activation, label_degree: int, inputs: SeenInputs) -> Analysis:
    """All parts of the analysis, in coordinates along the directions that the target depends on."""
    refuse_long_sums(f)
    natural, frame = f.aligned
    series, source = natural.series, LabelSource(natural, label_degree)
    information = exponent([series])
    fresh = staircase({1: [series]}, sigma, source.possible)
    reused, generative = _reused(source, sigma, information)
    steps = [
        one_step(series, sigma, kappa, deflated)
        for kappa in (1, 2, 3)
        for deflated in ((False, True) if kappa > 1 else (False,))
    ]
    bounds = Floors(natural, sigma)
    regimes = _regimes(bounds, steps, frame)
    bases = [np.zeros((0, natural.r)), *fresh.reached]
    # A staircase that is blocked stays where it is.
    bases += bases[-1:] * (len(fresh.bases) - len(fresh.reached))
    floors_any = [bounds.of_any(basis) for basis in bases]
    floors = [bounds.of_activation(basis, moved=step > 0) for step, basis in enumerate(bases)]
    # Everything from here on is told in the coordinates of the user.
    stairs = {"fresh": fresh.in_coordinates(frame), "reused": reused.in_coordinates(frame)}
    one_steps = _in_coordinates(steps, frame)
    return Analysis(
        target=f,
        activation=sigma,
        series=f.series,
        active=frame,
        information_exponent=information.value,
        generative_exponent=generative.value,
        leaps=tuple(stage.leap for stage in stages({1: [series]})),
        stages=_in_coordinates(stages({1: [series]}, UsableTerms(sigma, reused=False)), frame),
        one_step=one_steps,
        fresh=stairs["fresh"],
        reused=stairs["reused"],
        floors=_in_coordinates(floors, frame),
        floors_any=_in_coordinates(floors_any, frame),
        regimes=regimes,
        weak_recovery=_weak_recovery(source, generative),
        label_degree=max(1, *source.powers),
        undecided=tuple(undecided(series, information, generative, stairs)),
        notes=(*f.notes, *warnings(series, sigma, one_steps, stairs, bounds.moved)),
        inputs=inputs,
    )


def _in_coordinates(
    entries: Sequence[Record], frame: Float[np.ndarray, "k r"]
) -> tuple[Record, ...]:
    """Records of subspaces of u = frame x as those of x."""
    return tuple(replace(entry, basis=tidy(entry.basis @ frame)) for entry in entries)


def _weak_recovery(
    source: LabelSource, generative: Exponent, most_directions: int = 8
) -> WeakRecovery | None:
    """The threshold of weak recovery; None where no transform is tried.

    It is not computed for more than ``most_directions`` r either: its matrix has size r^2.
    """
    if source.highest == 1 or source.target.r > most_directions:
        return None
    if generative.value == 1:
        return WeakRecovery(0.0, 0.0)
    if generative.value != 2 and not generative.undecided:
        return WeakRecovery(math.inf, 0.0)  # G = 0
    return weak_recovery(source.target, source.target.r)


def _reused(
    source: LabelSource, activation: Activation, information: Exponent
) -> tuple[Staircase, Exponent]:
    """The reused staircase and the generative exponent.

    Transforms are sampled only where exact powers leave open what symmetry does not close.
    """
    nothing = np.zeros((0, source.target.r))
    # E[z | y] = 0 is proven where symmetry leaves no direction.
    settled = 1 if not len(source.possible(nothing, True)) else 0
    labels = source.powers
    for _ in range(2):
        stairs = staircase(labels, activation, source.possible)
        listed = [series for group in labels.values() for series in group]
        if len(labels) == 1:
            generative = information
        else:
            generative = exponent(listed, settled)
        last = stairs.bases[-1]
        complete = not len(source.possible(last, True))
        decided = generative.value is not None and generative.value <= settled + 1
        if (complete and decided) or labels is source.transforms:
            break
        labels = source.transforms
    return stairs, generative


def _regimes(
    bounds: Floors, steps: Sequence[OneStep], frame: Float[np.ndarray, "k r"]
) -> tuple[Regime, ...]:
    """The five-regime table of this activation; at n ~ d^2 degrees below 2 are removed first.

    What is removed was fitted on its own and is added to the readout.
    """
    series = bounds.target.series
    learned = {(entry.batch_exponent, entry.deflated): entry.learned for entry in steps}
    table = []
    for n_exponent, p_exponent in REGIMES:
        deflated = n_exponent > 1
        basis = learned[n_exponent, deflated]
        below = n_exponent if deflated else 0
        k = min(n_exponent, p_exponent)
        reached = fitted_part(series, basis, k)
        at_best = fitted_part(series, basis, k, below)
        gained = at_best.variance - reached.variance
        fitted = fitted_part(series, basis, k, below, bounds.moved)
        mine, best = bounds.of_activation(basis, below=below), bounds.of_any(basis)
        table.append(
            Regime(
                n_exponent=n_exponent,
                p_exponent=p_exponent,
                deflated=deflated,
                basis=tidy(basis @ frame),
                fitted=in_coordinates(fitted, frame),
                floor=max(0.0, mine.by_degree[k] - gained),
                floor_any=max(0.0, best.by_degree[k] - gained),
            )
        )
    return tuple(table)
