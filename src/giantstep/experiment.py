"""One experiment, whole: what can be learned, what theory predicts, what happens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import Analysis, analyze_setting
from giantstep.analysis.exponents import OneStep
from giantstep.analysis.fitted_degrees import Fits, FittedDegrees, every_degree
from giantstep.analysis.floors import Floor, floor_with, target_floor
from giantstep.analysis.staircase import Staircase, added
from giantstep.analysis.subspace import completed, name_space
from giantstep.errors import NotConvergedError, NoTheoryError
from giantstep.gaussian.series import HermiteSeries
from giantstep.prediction.limits import WHITENED
from giantstep.prediction.predict import predict
from giantstep.prediction.theories import theory_of_rows
from giantstep.problem.batches import uses
from giantstep.problem.setting import Setting
from giantstep.records.comparison import Comparison, compare
from giantstep.records.drawing import Drawn
from giantstep.records.labels import FittedLabels
from giantstep.records.plain import plain
from giantstep.records.summary import StepSummary, summarize
from giantstep.records.trajectory import Trajectory
from giantstep.simulation.simulate import MEMORY, simulate


@dataclass(frozen=True)
class Experiment(Drawn):
    """Analysis, prediction and simulation of one setting, and the comparison of the last two.

    ``predicted`` is None where no theory covers the setting, and ``complaint`` says why;
    ``comparison`` is None without a prediction, or with fewer than two runs.  For labels of a data
    set analysis and prediction are those of the function that is fitted to them, ``labels``, and
    there are none without it.

    ``floors`` are lower bounds of the error of any readout of this activation after each step,
    ``floors_any`` those of any activation (arXiv 2305.18270, Conjecture 3); ``steps`` and
    ``predicted_steps`` are what tables show.
    """

    analysis: Analysis | None
    predicted: Trajectory | None
    complaint: str | None
    simulated: Trajectory
    comparison: Comparison | None
    labels: FittedLabels | None = None

    def __repr__(self) -> str:
        outcome = self.complaint or "not compared, 1 run"
        if self.comparison is not None:
            outcome = repr(self.comparison)
        return f"Experiment({self.setting!r}: {outcome})"

    @property
    def setting(self) -> Setting:
        return self.simulated.setting

    @property
    def model(self) -> Setting:
        """The setting that analysis and prediction are of."""
        model = None if self.labels is None else self.labels.model(self.setting)
        return self.setting if model is None else model

    @property
    def stairs(self) -> Staircase | None:
        """The staircase of the setting's batches."""
        return None if self.analysis is None else stairs_of(self.analysis, self.setting)

    @cached_property
    def floors(self) -> list[float | None]:
        """Lower bounds of the error with this activation after recorded steps, noise counted."""
        return self._recorded_floors(any_activation=False)

    @cached_property
    def floors_any(self) -> list[float | None]:
        """Lower bounds of the error with any activation after recorded steps, noise counted."""
        return self._recorded_floors(any_activation=True)

    def _recorded_floors(self, *, any_activation: bool) -> list[float | None]:
        recorded = self.setting.recorded
        if self.analysis is None:
            return [None] * len(recorded)
        floors = floors_of(self.analysis, self.model, any_activation=any_activation)
        return [floors[step] for step in recorded]

    @cached_property
    def subspaces(self) -> list[tuple[str, Float[np.ndarray, "k r"]]]:
        """What each step of the staircase adds, and what is left, with a title each."""
        return [] if self.analysis is None else subspaces_of(self.analysis, self.model)

    @cached_property
    def steps(self) -> tuple[StepSummary, ...]:
        """The simulation step by step."""
        return summarize(self.simulated, dict(self.subspaces))

    @cached_property
    def predicted_steps(self) -> tuple[StepSummary, ...] | None:
        """The prediction step by step."""
        if self.predicted is None:
            return None
        return summarize(self.predicted, dict(self.subspaces))

    def as_dict(self) -> dict[str, Any]:
        """Everything but the arrays, as plain values."""
        predicted = None
        if self.predicted is not None:
            predicted = self.predicted.summary() | {"steps": plain(self.predicted_steps)}
        return {
            "simulation": self.simulated.summary() | {"steps": plain(self.steps)},
            "prediction": predicted,
            "no_prediction": self.complaint,
            "comparison": plain(self.comparison),
            "subspaces": [
                {"name": name, "basis": basis.tolist()} for name, basis in self.subspaces
            ],
            "floors": self.floors,
            "floors_any": self.floors_any,
            "analysis": plain(self.analysis),
            "labels": plain(self.labels),
        }


def _names(basis: Float[np.ndarray, "k r"]) -> str:
    return ", ".join(name_space(basis))


def _title(stairs: Staircase, step: int) -> str:
    """The directions that a step of a staircase adds, and when or why not."""
    basis = stairs.added(step)
    blocked = bool(stairs.reached) and len(added(stairs.reached[-1], basis)) > 0
    return f"{_names(basis)} ({'blocked' if blocked else f'step {step}'})"


def subspaces_of(
    analysis: Analysis, setting: Setting
) -> list[tuple[str, Float[np.ndarray, "k r"]]]:
    """What each step of the staircase of a setting adds, and what is left, with a title each.

    The title says where the activation keeps the network from all or some of these directions.
    """
    stairs = stairs_of(analysis, setting)
    steps = range(1, len(stairs.bases) + 1)
    named = [(_title(stairs, t), basis) for t in steps if len(basis := stairs.added(t))]
    learned = stairs.bases[-1] if stairs.bases else np.zeros((0, setting.target.r))
    left = completed(learned)[len(learned) :]
    return [*named, (_names(left) + _remark(analysis, setting, left), left)] if len(left) else named


def _remark(analysis: Analysis, setting: Setting, left: Float[np.ndarray, "k r"]) -> str:
    """What a title says of directions that n ~ d samples a step do not teach."""
    if beyond_analysis(setting):
        return ""
    order, letter = order_of_batch(analysis, setting), analysis.inputs.letter
    if order <= 1 or not setting.steps:
        return f" (not at n ~ {letter})"
    first = learned_subspaces(analysis, setting)[1]
    if first is None:
        return ""
    if len(first) and not len(added(first, left)):
        return " (step 1)"
    return f" (not at n ~ {letter}^{order})"


def stairs_of(analysis: Analysis, setting: Setting) -> Staircase:
    """The staircase of fresh batches, or of reused ones where a step sees a sample again."""
    again = uses(setting.batches, setting.steps) > 1
    return analysis.reused if again else analysis.fresh


def beyond_analysis(setting: Setting) -> bool:
    """Whether steps may learn what the analysis says they do not, and the other way round.

    Gradients that are taken ahead see powers of the label (docs/derivations/lookahead.md).  Target
    directions that laws single out, such as two clusters or axes, do not see N(0, I).
    """
    singled_out = setting.inputs.isotropic or setting.frame == "axes"
    return setting.lookahead.name != "none" or (
        singled_out and not setting.inputs.normal_about_mean
    )


def learned_subspaces(
    analysis: Analysis, setting: Setting
) -> list[Float[np.ndarray, "_ r"] | None]:
    """What this activation can have learned after 0, 1, .. steps of a setting; None: not known.

    At n ~ d the staircase of its batches.  At n ~ d^k, or with the lower degrees taken from the
    labels, the first step is known (one step of the analysis), what follows it is not.  Nor is
    what steps on other labels, of another loss, with biases, with a look ahead or on inputs that
    the analysis does not know learn.
    """
    nothing = np.zeros((0, setting.target.r))
    other = not setting.label_transform.is_plain or not setting.loss.kind.plain
    if other or setting.biased_steps or beyond_analysis(setting):
        return [nothing, *[None] * setting.steps]
    order = max(1, order_of_batch(analysis, setting))
    if order == 1 and setting.deflate < 1:
        reached = stairs_of(analysis, setting).reached
        steps = [*reached, *[reached[-1] if reached else nothing] * setting.steps]
        return [nothing, *steps[: setting.steps]]
    entry = step_of_batch(analysis, setting)
    first = nothing if entry is None else entry.learned
    return [nothing, first, *[None] * setting.steps][: setting.steps + 1]


def step_of_batch(analysis: Analysis, setting: Setting) -> OneStep | None:
    """What one step learns from batches of this order in d; None at n ~ d, or with too few."""
    order = max(1, order_of_batch(analysis, setting))
    removed = setting.deflate >= 1
    if order == 1 and not removed:
        return None
    exponent = setting.deflate + 1 if removed else min(order, 3)
    for entry in analysis.one_step:
        if entry.deflated == removed and entry.batch_exponent == exponent <= order:
            return entry
    return None


def order_of_batch(analysis: Analysis, setting: Setting) -> int:
    """k where n = c D^k, c moderate and D the effective dimension of the inputs, d for N(0, I).

    An analysis may be that of another d, about which D grows with a known power.
    """
    seen = analysis.inputs
    if seen.letter == "d":
        return order_in(setting.n, setting.d)
    return order_in(setting.n, seen.dimension * (setting.d / seen.d) ** seen.growth)


def order_in(size: int, d: float) -> int:
    """k where size = c d^k, c moderate: 4d is of order d, d^1.5 still is, d^2/4 of order d^2."""
    return math.floor(math.log(size) / math.log(max(d, 2)) + 0.25)


def floors_of(
    analysis: Analysis, setting: Setting, *, any_activation: bool = False
) -> list[float | None]:
    """Lower bounds of the readout after each step, noise counted; None where they are not known.

    ||P_{U, >k} f||^2 (docs/theory/index.md, eq. (4)), U what is learned, k the order in d of the
    neurons or of the readout's samples, whichever are fewer: 0, and E Var(f | P_U x), for a narrow
    network.  With s = c d^k of them, c < d, they span the share s/C(d + k, k + 1) of the monomials
    of the next degree, and reach at most as much of it.  Deflated labels have lost their lower
    degrees.  The degrees which the neurons of the setting, with its biases, do not have count
    beside that, unless ``any_activation`` is asked for.  Inputs with a spike, a mean or
    blocks have none.
    """
    if setting.inputs.deferrable and not setting.inputs.is_gaussian:
        # Averages over N(0, I) say nothing of these inputs.
        return [None] * (setting.steps + 1)
    fewest = min(setting.p, setting.readout_n or setting.n)
    k = max(0, math.floor(math.log(fewest) / math.log(max(setting.d, 2))))
    share = min(1.0, fewest / math.comb(setting.d + k, k + 1))
    floors: list[float | None] = []
    for step, basis in enumerate(learned_subspaces(analysis, setting)):
        if basis is None:
            floors.append(None)
            continue
        moved = step > 0 or not setting.start.kind.unit
        fits = FittedDegrees(setting.activation, moved=moved, bias=setting.bias)
        bound = target_floor(setting.target, analysis.series, basis)
        levels = _levels(
            bound, analysis.series, every_degree if any_activation else fits, setting.deflate + 1
        )
        reach = (max(degree, setting.deflate) for degree in (k, k + 1))
        now, following = (levels[min(degree, len(levels) - 1)] for degree in reach)
        floors.append(setting.noisy_floor(now - share * (now - following)))
    return floors


def _levels(bound: Floor, series: HermiteSeries, fits: Fits, below: int) -> list[float]:
    """Floors at k = 0, 1, 2, 3, and with neurons enough for every degree outside U."""
    by_degree = floor_with(bound, series, fits, below).by_degree
    return [*by_degree, by_degree[-1] - bound.by_degree[-1]]


def _notes_on_rows(setting: Setting) -> Iterator[str]:
    """What the model of labels cannot know of the rows they came with."""
    if setting.data is not None:
        yield setting.data.far_from_gaussian
    if (complaint := WHITENED.complaint(setting)) is not None:
        yield complaint


def run_experiment(
    setting: Setting,
    *,
    theory: str | None = None,
    labels: FittedLabels | None = None,
    memory: int = MEMORY,
    progress: Callable[[float, int], None] | None = None,
    simulator: Callable[..., Trajectory] = simulate,
    predictor: Callable[..., Trajectory] = predict,
) -> Experiment:
    """Analyse, predict, simulate and compare a setting.

    ``theory`` names the theory to use, ``labels`` is what was fitted to the labels of a data set
    (``giantstep.estimator.labels.fit_labels``), ``memory`` and ``progress`` are those of
    ``simulate``, in whose place another ``simulator`` may take stored runs, as another
    ``predictor`` may take a stored prediction.  An interrupt (Ctrl-C) keeps the runs that were
    finished.

    >>> from giantstep import Setting, run_experiment
    >>> setting = Setting("x1", d=1000, p=2, steps=1, runs=3, readout_n=100, test_n=100)
    >>> experiment = run_experiment(setting)
    >>> experiment.comparison.agrees, [round(floor, 2) for floor in experiment.floors]
    (True, [1.0, 0.0])
    """
    analysis, predicted, complaint = _theory(setting, theory, labels, predictor)
    simulated = simulator(
        setting,
        memory=memory,
        progress=progress,
        partial=True,
        directions=None if labels is None else labels.directions,
    )
    comparison = None
    if predicted is not None:
        simulated = _with_outliers(simulated, predicted)
        if simulated.runs > 1:
            # Labels of a data set are compared with those of the function fitted to them.
            others = () if labels is None else ("target", "inputs", "noise", "frame")
            shown = None if analysis is None else dict(subspaces_of(analysis, predicted.setting))
            comparison = compare(predicted, simulated, ignoring=others, subspaces=shown)
    return Experiment(analysis, predicted, complaint, simulated, comparison, labels)


def _theory(
    setting: Setting,
    theory: str | None,
    labels: FittedLabels | None,
    predictor: Callable[..., Trajectory],
) -> tuple[Analysis | None, Trajectory | None, str | None]:
    """Analysis and prediction as far as there are any, and why there is no prediction."""
    analysis = None
    try:
        model = setting if labels is None else labels.model(setting)
        if model is None:
            raise NoTheoryError("no prediction: no function of a few directions fits the labels")
        if labels is not None and not setting.update.kind.turns:
            raise NoTheoryError(
                "no prediction: for labels of a data set, update must not depend on the choice of "
                "coordinates, got "
                f"{setting.update!r}"
            )
        if labels is not None and theory is None and not setting.spectra:
            theory = theory_of_rows(model).name
        if not model.target.column:
            analysis = analyze_setting(model)
        predicted = predictor(model, theory=theory)
        if labels is not None:
            predicted = replace(predicted, notes=(*predicted.notes, *_notes_on_rows(setting)))
    except (NoTheoryError, NotConvergedError) as error:
        return analysis, None, str(error)
    return analysis, predicted, None


def _with_outliers(simulated: Trajectory, predicted: Trajectory) -> Trajectory:
    """The simulation with its outliers counted above the thresholds of the prediction."""
    spectra = {
        matrix: measured.detected(getattr(predicted, matrix))
        for matrix in ("weights", "features")
        if (measured := getattr(simulated, matrix)) is not None
    }
    return replace(simulated, **spectra)
