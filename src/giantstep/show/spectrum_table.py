"""Spectra as tables for people."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def spectra_report(record: dict[str, Any]) -> RenderableType:
    """Outliers step by step, alignment of the learned directions, losses, and notes."""
    setting = record["setting"]
    head = (
        f"{setting['target']}, {setting['activation']}: d = {setting['d']:,}, "
        f"n = {setting['n']:,}, p = {setting['p']:,}, {setting['batches']} batches, "
        f"runs: {record['runs']}"
    )
    parts: list[RenderableType] = [Text(head, "bold"), "", _outliers(record)]
    if record["alignment"]["measured"]:
        parts += ["", _alignment(record["alignment"])]
    if record["losses"] is not None:
        parts += ["", _losses(record["losses"])]
    parts += ["", *(Text(note, "yellow") for note in record["notes"])]
    return Group(*parts)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _listed(values: list[float] | None, errors: list[float] | None = None) -> str:
    if values is None:
        return "-"
    if not values:
        return "none"
    if errors is None:
        return "  ".join(f"{value:.4g}" for value in values)
    return "  ".join(f"{v:.4g} ± {e:.1g}" for v, e in zip(values, errors, strict=True))


def _outliers(record: dict[str, Any]) -> Table:
    table = _table("Outlying singular values", "matrix", "step", "predicted", "measured", "count")
    for name, symbol in (("weights", "W"), ("features", "sigma(X W^T)/sqrt(n)")):
        for step, entry in enumerate(record["steps"][name] or ()):
            counts = entry["measured_count"]
            spread = str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
            table.add_row(
                symbol if step == 0 else "",
                str(step),
                _listed(entry["predicted"]),
                _listed(entry["measured"], entry["standard_error"]),
                spread,
            )
    edges = record["bulk_edge"]
    for name, symbol in (("weights", "W"), ("features", "sigma(X W^T)/sqrt(n)")):
        if edges[name] is not None:
            table.add_row(symbol, "edge", f"{edges[name]:.4g}", "", "", style="dim")
    return table


def _alignment(alignment: dict[str, Any]) -> Table:
    table = _table(
        "Alignment of W's leading directions with the target", "", "predicted", "measured"
    )
    predicted = alignment["predicted"] or []
    for k, value in enumerate(alignment["measured"]):
        theory = f"{predicted[k]:.3f}" if k < len(predicted) else "-"
        table.add_row(f"direction {k + 1}", theory, f"{value:.3f}")
    return table


def _losses(losses: dict[str, Any]) -> Table:
    table = _table("Ridge readout, mean squared error", "step", "train", "theory", "test", "theory")
    for step in range(len(losses["train"]["measured"])):
        cells = [str(step)]
        for name in ("train", "test"):
            error = losses[name]["standard_error"]
            value = f"{losses[name]['measured'][step]:.4f}"
            cells.append(value if error is None else f"{value} ± {error[step]:.1g}")
            theory = losses[name]["predicted"][step]
            cells.append("-" if theory is None else f"{theory:.4f}")
        table.add_row(*cells)
    return table
