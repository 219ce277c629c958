"""What an experiment has in common wherever it is shown: its setting, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rich.console import RenderableType
from rich.text import Text

from giantstep.analysis.answer import named
from giantstep.experiment import Experiment
from giantstep.prediction.theories import networks_of
from giantstep.records.comparison import Comparison
from giantstep.records.observables import UNKNOWN
from giantstep.records.summary import KNOWN, Value
from giantstep.records.trajectory import Trajectory
from giantstep.show.tables.parts import ROUGH, counted, plain
from giantstep.show.tables.setting import setting_lines

RESOLUTIONS = {
    "weights outliers": "outliers of W",
    "features outliers": "outliers of the features",
    "test_error": "test error",
}
"""Observables beside the cosines whose resolution is told, with their names in a sentence."""


def heading(experiment: Experiment) -> Text:
    """The setting in a few lines."""
    simulated, setting = experiment.simulated, experiment.setting
    runs = simulated.runs
    predicted = experiment.predicted
    prediction = "" if predicted is None else f", prediction {predicted.seconds:.2f} s"
    head = setting_lines(setting).append(
        f"{counted(runs, 'run')}, {simulated.engine} engine, simulation {simulated.seconds:.2f} s"
        f"{prediction}",
        style="not bold",
    )
    if predicted is not None:
        networks = networks_of(predicted.theory)
        head.append(f"\ntheory: {predicted.theory}" + f" ({networks})" * bool(networks))
    if simulated.interrupted:
        head.append(f"\ninterrupted after {runs} of {setting.runs} runs", style="yellow")
    head.append("\n")
    return head


def theory_name(experiment: Experiment) -> str:
    """The label of a row of theory; simulations in place of a theory are no theory."""
    predicted = experiment.predicted
    return "Gaussian runs" if predicted is not None and predicted.from_runs else "theory"


def rough_remarks(shown: Iterable[Value]) -> list[str]:
    """What the sign of a rough number means, where one of the numbers shown has it."""
    if not any(value.known and value.rough for value in shown):
        return []
    return [
        f"{ROUGH} before a number: theory is uncertain by more than {KNOWN:.1%} there. The "
        "comparison takes this into account."
    ]


def summary(experiment: Experiment, outcome: Iterable[str]) -> list[RenderableType]:
    """The sentences that stand above the tables: what happened, and whether theory agrees."""
    sentences = " ".join(outcome)
    parts: list[RenderableType] = [Text(sentences)] if sentences else []
    return [*parts, verdict(experiment), ""]


def verdict(experiment: Experiment) -> Text:
    """Whether theory and simulation agree and how well that is known, or why it cannot be said."""
    if experiment.complaint is not None:
        return Text(experiment.complaint, style="yellow")
    compared, predicted = experiment.comparison, experiment.predicted
    if compared is None or predicted is None:
        return Text("One run is not compared with theory. Use --runs 2 or more.")
    if not compared.count:
        return Text(_nothing(predicted), style="yellow")
    word = "agree" if compared.agrees else "disagree"
    return Text(
        f"Theory and simulation {word}. {certainty(experiment)}",
        style="green" if compared.agrees else "red",
    )


def certainty(experiment: Experiment) -> str:
    """How sure the verdict is, in sentences; empty where nothing is compared."""
    compared = experiment.comparison
    if experiment.complaint is not None or compared is None or not compared.count:
        return ""
    cosines = {title: f"cosine with {named(basis)}" for title, basis in experiment.subspaces}
    return comparison_words(compared, cosines)


def comparison_words(compared: Comparison, cosines: Mapping[str, str]) -> str:
    """The p-value of a comparison, its largest deviation, and the errors it would notice.

    ``cosines`` -> the columns of cosines in a table, with their names in a sentence.
    """
    where = "" if compared.agrees else f" ({compared.farthest.replace('_', ' ')})"
    return (
        f"The p-value of all {compared.count} comparisons together is {_p_value(compared)}; below "
        f"{compared.level:g} is a disagreement. Each number that theory predicts and the runs "
        "measure is one comparison, and of a matrix of overlaps each entry. The largest deviation "
        f"is {compared.sigmas:.1f} sigma{where}."
        f"{power(compared, cosines)}"
    )


def _p_value(compared: Comparison, largest: float = 0.5) -> str:
    """The p-value; of many comparisons that agree it is 1, which reads like a mistake."""
    return f"above {largest:g}" if compared.p_value > largest else f"{compared.p_value:.2g}"


def _nothing(predicted: Trajectory) -> str:
    """Why there is nothing to compare."""
    if predicted.relative_uncertainty > UNKNOWN:
        return (
            "Theory and simulation are not compared: at these sizes theory "
            f"is uncertain by {predicted.relative_uncertainty:.0%}."
        )
    return "Theory predicts nothing that these runs measure."


def power(compared: Comparison, cosines: Mapping[str, str]) -> str:
    """How large an error of theory these runs would reveal, in the numbers of the tables."""
    if not compared.agrees:
        return ""
    names = {**cosines, **RESOLUTIONS}
    shares = {text: compared.resolution.get(name, math.inf) for name, text in names.items()}
    noticed = [
        f"{plain(100 * share, 2)} % in the {text}" for text, share in shares.items() if share < 1
    ]
    runs = f" With {compared.runs} runs"
    if not noticed:
        return f"{runs} only errors of theory above 100 % would be noticed. Use more runs."
    # The first observables, and the test error where there is one.
    first, last = noticed[:-1][:2], noticed[-1]
    errors = f"{', '.join(first)} or {last}" if first else last
    return f"{runs} an error of theory of {errors} would be noticed."
