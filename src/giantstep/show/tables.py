"""Records as tables for people; no formula lives here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from giantstep.analysis.activation import ActivationAnalysis
from giantstep.analysis.analyze import Analysis, describe
from giantstep.analysis.floors import floor
from giantstep.analysis.staircase import Staircase
from giantstep.analysis.subspace import completed, name_space
from giantstep.gaussian.tensors import rank_tolerance
from giantstep.language.expression import format_expression
from giantstep.problem.catalog import CATALOG

if TYPE_CHECKING:  # a report of an analysis needs none of what a simulation loads
    from giantstep.records.comparison import Comparison
    from giantstep.records.trajectory import Trajectory


def _power(letter: str, exponent: int) -> str:
    return {0: "1", 1: letter}.get(exponent, f"{letter}^{exponent}")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _exponent(value: int | None) -> str:
    return "none found" if value is None else str(value)


def _one_step(analysis: Analysis) -> Table:
    table = _table("One giant step", "batch", "labels", "learns", "through")
    for entry in analysis.one_step:
        labels = f"degrees < {entry.batch_exponent} removed" if entry.deflated else "as they are"
        learned = ", ".join(name_space(entry.learned)) or "nothing"
        through = f"T_{entry.degree}" if entry.degree else ""
        if entry.blocked:
            through += f" has {', '.join(name_space(entry.basis))}, blocked: b_{entry.degree} = 0"
        table.add_row(f"n ~ {_power('d', entry.batch_exponent)}", labels, learned, through)
    return table


def _stairs(title: str, stairs: Staircase) -> Table:
    table = _table(title, "step", "dimension", "adds", "with this activation", "kept / dropped")
    for step, (basis, decision) in enumerate(
        zip(stairs.bases, stairs.decisions, strict=True), start=1
    ):
        added = ", ".join(name_space(stairs.added(step))) or "nothing"
        if decision.undecided:
            added += f" ({decision.undecided} undecided)"
        reached = stairs.reached_dimensions
        mine = reached[min(step, len(reached)) - 1] if reached else len(basis)
        table.add_row(
            str(step),
            str(len(basis)),
            f"step {step} adds {added}",
            str(mine) if mine == len(basis) else f"{mine}, blocked",
            f"{_number(decision.smallest_kept)} / {_number(decision.largest_dropped)}",
        )
    return table


def _within(value: float, uncertainty: float) -> str:
    """A number, with its uncertainty where that shows."""
    if uncertainty <= 5e-4 * abs(value) or uncertainty < 1e-12:
        return _number(value)
    return f"{value:.3g} ± {uncertainty:.1g}"


def _at_most(value: float, uncertainty: float) -> str:
    """A number that may be too high by its uncertainty, as an interval where that shows."""
    if uncertainty <= 5e-4 * abs(value) or uncertainty < 1e-12:
        return _number(value)
    return f"{max(0.0, value - uncertainty):.3g} .. {value:.3g}"


def _floors(analysis: Analysis) -> Table:
    table = _table(
        f"Error floors with {analysis.activation.name}, fresh batches (noise not counted)",
        "after step",
        "narrow p ~ 1",
        *(f"k = {k}" for k in range(len(analysis.floors[0].by_degree))),
    )
    for step, entry in enumerate(analysis.floors):
        narrow = _within(entry.narrow, entry.narrow_uncertainty)
        degrees = (_at_most(value, entry.uncertainty) for value in entry.by_degree[1:])
        table.add_row(str(step), narrow, narrow, *degrees)
    return table


def _regimes(analysis: Analysis) -> Table:
    title = f"Five regimes, one step with {analysis.activation.name}"
    table = _table(title, "n", "labels", "p", "learned", "fitted", "floor")
    tolerance = rank_tolerance(analysis.series)
    for entry in analysis.regimes:
        table.add_row(
            f"~ {_power('d', entry.n_exponent)}",
            f"degrees < {entry.n_exponent} removed" if entry.deflated else "as they are",
            f"~ {_power('d', entry.p_exponent)}",
            ", ".join(name_space(entry.basis)) or "nothing",
            describe(entry.fitted, tolerance),
            _number(entry.floor),
        )
    return table


def _recovery(analysis: Analysis) -> str:
    """Weak recovery in one line, empty where it was not computed."""
    found = analysis.weak_recovery
    if found is None:
        return ""
    if found.threshold == 0:
        told = "at any n/d > 0: E[z | y] is not zero"
    elif found.threshold == float("inf"):
        told = (
            "not at n ~ d: E[z z^T - 1 | y] is zero"
            if found.uncertainty == 0
            else "not resolved: E[z z^T - 1 | y] is zero within its uncertainty"
        )
    else:
        told = f"from n/d = {_within(found.threshold, found.uncertainty)}"
    return f"weak recovery by the best first-order method {told}\n"


def analysis_report(analysis: Analysis) -> RenderableType:
    """The whole analysis as one page of tables."""
    series = analysis.series
    tensor = " + ".join(
        name if value == 1 else f"{value:.4g}*{name}"
        for name, value in list(analysis.deciding_tensor.items())[:6]
    ).replace("+ -", "- ")
    head = Text()
    head.append(f"{analysis.target.name}\n", style="bold")
    if analysis.target.name in CATALOG and analysis.target.expression is not None:
        text = format_expression(analysis.target.expression)
        head.append(f"= {text}\n")
    count = analysis.target.r
    variance = _within(series.variance + series.tail, 3.0 * series.tail_uncertainty)
    head.append(
        f"{count} direction{'s' if count > 1 else ''}, degree {series.degree}, "
        f"variance {variance}, activation {analysis.activation.name}\n"
    )
    head.append(
        f"leap index (information exponent) {_exponent(analysis.leap_index)}"
        + (f", decided by T_{analysis.leap_index}: {tensor}" if tensor else "")
        + "\n"
    )
    head.append(f"generative exponent {_exponent(analysis.generative_exponent)}\n")
    leaps = ", ".join(map(str, analysis.leaps)) or "none"
    head.append(f"leaps until everything is learned: {leaps}\n")
    head.append(_recovery(analysis))
    for sentence in analysis.undecided:
        head.append(f"undecided: {sentence}\n", style="yellow")
    parts: list[RenderableType] = [
        head,
        _one_step(analysis),
        "",
        _stairs("Staircase at n ~ d, fresh batches", analysis.fresh),
        "",
        _stairs("Staircase at n ~ d, reused batches", analysis.reused),
        "",
        _floors(analysis),
        "",
        _regimes(analysis),
    ]
    if analysis.notes:
        parts += ["", *(Text(f"note: {note}", style="yellow") for note in analysis.notes)]
    return Group(*parts)


def show(content: RenderableType, console: Console | None = None) -> None:
    (console or Console(highlight=False)).print(content)


def activation_report(found: ActivationAnalysis) -> RenderableType:
    """The coefficients of an activation and what they let it pick up."""
    table = _table(found.activation.name, "k", "c_k", "b_k of the slope", "picks up T_k")
    for entry in found.degrees:
        table.add_row(
            str(entry.degree),
            _number(entry.coefficient),
            "" if entry.degree == 0 else _number(entry.slope),
            "" if entry.degree == 0 else "yes" if entry.picks_up else "no",
        )
    handed = ", ".join("y" if k == 1 else f"y^{k}" for k in sorted(found.label_powers))
    return Group(table, "", Text(f"reused batches hand on {handed}"))


def catalog_report() -> RenderableType:
    """The catalog as a table."""
    table = _table("Targets by name", "name", "source", "remark")
    for name, entry in CATALOG.items():
        table.add_row(name, entry.source, entry.remark)
    return table


def _spread(values: Float[np.ndarray, "runs ..."], digits: int = 3) -> str:
    """Mean over runs, with its standard error where there are several."""
    mean = float(values.mean())
    if len(values) < 2:
        return f"{mean:.{digits}g}"
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    return f"{mean:.{digits}g} ± {error:.1g}"


def learn_report(
    trajectory: Trajectory, analysis: Analysis, predicted: Trajectory | None = None
) -> RenderableType:
    """What was learned, step by step, beside what theory predicts and the analysis allows."""
    setting, stairs = trajectory.setting, analysis.fresh
    if setting.batches == "reused":
        stairs = analysis.reused
    head = Text()
    head.append(f"{setting.target.name}\n", style="bold")
    sizes = ", ".join(f"{size:g}" for size in setting.step_size) or "none"
    head.append(
        f"{setting.activation.name}, d = {setting.d:,}, n = {setting.n:,}, p = {setting.p}, "
        f"{setting.batches} batches, step size {sizes}\n"
        f"{trajectory.runs} run{'s' if trajectory.runs > 1 else ''}, {trajectory.engine} engine, "
        f"{trajectory.seconds:.2f} s"
    )
    if trajectory.interrupted:
        head.append(f", interrupted after {trajectory.runs} of {setting.runs} runs", style="yellow")
    head.append("\n")
    groups = [(t, stairs.added(t)) for t in range(1, len(stairs.bases) + 1)]
    groups = [(t, basis) for t, basis in groups if len(basis)]
    rest = completed(stairs.bases[-1])[len(stairs.bases[-1]) :] if stairs.bases else None
    columns = [(f"{', '.join(name_space(basis))} (step {t})", basis) for t, basis in groups]
    if rest is not None and len(rest):
        columns.append((f"{', '.join(name_space(rest))} (not at n ~ d)", rest))
    table = _table(
        "Median |cosine| of the neurons with the directions of the staircase",
        "step",
        "|w|",
        *(title for title, _ in columns),
        "principal cosines",
    )
    records = [trajectory] if predicted is None else [trajectory, predicted]
    for step in range(setting.steps + 1):
        for record in records:
            theory = record is predicted
            cells = [
                _spread(np.median(record.alignment(basis)[:, step], axis=1)) for _, basis in columns
            ]
            norm = _spread(record.norms[:, step].mean(axis=1))
            cosines = record.principal_cosines(np.eye(setting.target.r))[:, step].mean(axis=0)
            angles = " ".join(f"{c:.3f}" for c in cosines)
            table.add_row(
                "theory" if theory else str(step),
                norm,
                *cells,
                angles,
                style="dim" if theory else None,
            )
    parts: list[RenderableType] = [head, table]
    if trajectory.test_error is not None:
        parts += ["", _error_table(trajectory, analysis, stairs, predicted)]
    if analysis.notes:
        parts += ["", *(Text(f"note: {note}", style="yellow") for note in analysis.notes)]
    return Group(*parts)


def verdict(compared: Comparison | None, complaint: str | None, regime: str | None) -> Text:
    """One line: how far theory and simulation are apart, or why that cannot be said."""
    if complaint is not None:
        return Text(f"\n{complaint}", style="yellow")
    if compared is None:
        return Text("\nprediction and simulation are compared with --runs 2 or more")
    word = "agree" if compared.agrees else "disagree"
    return Text(
        f"\ntheory ({regime}) and simulation {word}: largest deviation {compared.largest:.1f} "
        f"standard errors in {compared.count} comparisons of {compared.runs} runs, "
        f"p-value {compared.p_value:.2g}",
        style="green" if compared.agrees else "red",
    )


def _error_table(
    trajectory: Trajectory,
    analysis: Analysis,
    stairs: Staircase,
    predicted: Trajectory | None,
) -> Table:
    setting = trajectory.setting
    table = _table(
        "Mean squared error" + (" (label noise counted)" if setting.noisy else ""),
        "step",
        "readout, train",
        "readout, test",
        "network itself",
        "narrow floor",
        "ridge",
    )
    assert trajectory.train_error is not None
    assert trajectory.test_error is not None
    assert trajectory.network_error is not None
    assert trajectory.ridge is not None
    floors = [floor(analysis.series, basis) for basis in stairs.bases]
    floors.insert(0, analysis.floors[0])
    for step in range(setting.steps + 1):
        test = _spread(trajectory.test_error[:, step])
        if trajectory.runs == 1 and trajectory.test_error_error is not None:
            test += f" ± {trajectory.test_error_error[0, step]:.1g}"
        table.add_row(
            str(step),
            _spread(trajectory.train_error[:, step]),
            test,
            _spread(trajectory.network_error[:, step]),
            _number(setting.noisy_floor(floors[min(step, len(floors) - 1)].narrow)),
            f"{np.median(trajectory.ridge[:, step]):.1g}",
        )
        if predicted is not None:
            train, test, own = (
                "" if values is None else _spread(values[:, step])
                for values in (predicted.train_error, predicted.test_error, predicted.network_error)
            )
            table.add_row("theory", train, test, own, "", "", style="dim")
    return table


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[float, int], None] | None]:
    """A bar on standard error with rate and time left; nothing where it is not a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("simulating", total=1.0, rate="")
        start = time.perf_counter()

        def report(share: float, samples: int) -> None:
            rate = samples / max(time.perf_counter() - start, 1e-9)
            bar.update(task, completed=share, rate=f"{rate:,.0f} samples/s")

        yield report


@contextmanager
def spinner(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done; plain lines without a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda text: None if quiet else console.print(text)
        return
    with console.status("") as status:
        yield lambda text: status.update(text)
