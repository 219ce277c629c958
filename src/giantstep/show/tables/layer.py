"""Outliers of a given weight matrix, in words and as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.show.tables.parts import counted, make_table, notes, number
from giantstep.spectra.layer import LayerOutliers
from giantstep.spectra.tracy_widom import LEAST_TAIL


def layer_report(layer: LayerOutliers, name: str) -> RenderableType:
    """The bulk in two lines, the outliers, and what was left out."""
    record = layer.as_dict()
    head = Text().append(f"{name}\n", style="bold")
    kinds = {
        "none": "one variance for all entries",
        "rows": "rows of different scales",
        "columns": "columns of different scales",
    }
    head.append(
        f"{record['p']:,} neurons (rows) of {record['d']:,} inputs (columns)\n"
        f"bulk: independent entries of standard deviation {number(layer.deviation)}, "
        f"{kinds[record['differing_scales']]}. Its edge is {number(layer.edge)}.\n"
        "fit: the number of singular values below any point differs from that of the bulk by at "
        f"most {layer.misfit:.2g}. Noise explains up to {layer.misfit_limit:.2g}.\n"
    )
    left_out = [
        f"{record[key]} {side} of zeros are left out."
        for key, side in (("zero_rows", "rows"), ("zero_columns", "columns"))
        if record[key]
    ]
    return Group(head, _verdict(layer), *_outliers(record), *notes(left_out))


def _verdict(layer: LayerOutliers) -> Text:
    rate = f" Pure noise exceeds it with probability {layer.level:g}."
    if layer.count == 0:
        return Text(
            f"No outliers: the largest singular value, {number(float(layer.singular_values[0]))}, "
            f"is below the threshold {number(layer.threshold)}.{rate}"
        )
    return Text(
        f"{counted(layer.count, 'outlier')} above the threshold {number(layer.threshold)}.{rate}"
    )


def _outliers(record: dict[str, object]) -> list[Table | str]:
    outliers = record["outliers"]
    assert isinstance(outliers, list)
    if not outliers:
        return []
    columns = ("value", "p-value", "without noise", "cosine of its direction", "neurons", "inputs")
    rows = (
        (
            str(k),
            number(outlier["singular_value"]),
            f"{'< ' if outlier['p_value'] <= LEAST_TAIL else ''}{outlier['p_value']:.1g}",
            number(outlier["strength"]),
            f"{outlier['direction_cosine']:.3f}",
            f"{outlier['neurons']:.0f}",
            f"{outlier['inputs']:.0f}",
        )
        for k, outlier in enumerate(outliers, 1)
    )
    return ["", make_table("Outlying singular values", ("", *columns), rows)]
