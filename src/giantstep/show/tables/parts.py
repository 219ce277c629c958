"""What tables share: how they look, how numbers are written, and printing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from giantstep.records.summary import Value

MISSING = "-"
"""The cell of a number that does not exist, or that theory does not know."""

ROUGH = "~"
"""The sign before a number of which theory itself is uncertain by a few percent."""

Cell = str | Text


class TitledTable(Table):
    """A table whose title may be wider than itself: it is wrapped where the terminal ends."""

    def __init__(self, heading: str, header: bool = True) -> None:
        super().__init__(box=None, pad_edge=False, show_header=header)
        self.heading = heading

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield Text(self.heading, style="bold")
        yield from super().__rich_console__(console, options)


def make_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    unbroken: Sequence[str] = (),
    header: bool = True,
) -> Table:
    """A table without lines.  Long cells are folded, but not those of ``unbroken`` columns."""
    table = TitledTable(title, header)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in unbroken)
    for row in rows:
        table.add_row(*row)
    return table


def dim(*cells: str) -> list[Text]:
    """The cells of a row in the background, as those of theory below a simulation."""
    return [Text(cell, style="dim") for cell in cells]


def counted(count: int, noun: str) -> str:
    """1 claim, 2 claims."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters; a longer one ends in dots."""
    return text if len(text) <= most else text[: most - 4] + " ..."


def plain(value: float, digits: int, zero: float = 1e-12) -> str:
    """A number in a few digits: 100 for 1e+02, and 0 below ``zero``, the rounding of a one."""
    return "0" if abs(value) < zero else f"{float(f'{value:.{digits}g}'):.6g}"


def number(value: float | None) -> str:
    """A number in four digits."""
    return MISSING if value is None else plain(value, 4)


def spread(value: Value | None, digits: int = 3) -> str:
    """A mean with its standard error, or a number of theory with a sign where it is rough."""
    if value is None or not value.known:
        return MISSING
    mean = ROUGH * value.rough + plain(value.mean, digits)
    if value.standard_error is None:
        return mean
    # Runs that differ by a millionth of their mean differ by the rounding of single precision.
    rounding = max(1e-12, 1e-6 * abs(value.mean))
    return f"{mean} ± {plain(value.standard_error, 1, rounding)}"


def listed(values: Sequence[Value], digits: int = 4) -> str:
    """Several means with their standard errors."""
    return "  ".join(spread(value, digits) for value in values) or "none"


def chosen_steps(count: int, most: int) -> list[int]:
    """Places of the recorded steps in a table: all of a few, else early ones and the last."""
    if count <= most:
        return list(range(count))
    places = np.geomspace(1.0, count, most) - 1.0
    return sorted({round(place) for place in places.tolist()})


def notes(texts: Sequence[str]) -> list[RenderableType]:
    """Remarks below a table, a line each."""
    return ["", *(Text(f"note: {text}", style="yellow") for text in texts)] if texts else []


def show(content: RenderableType) -> None:
    """Print to standard output; a terminal that cannot show a character gets another for it.

    A text stays on its line, however long: a path can be copied.
    """
    console = Console(highlight=False, soft_wrap=isinstance(content, str))
    if (console.encoding or "").lower().replace("-", "") in ("utf8", "utf16"):
        console.print(content)
        return
    with console.capture() as capture:
        console.print(content)
    text = capture.get().replace("±", "+-")
    console.file.write(text.encode(console.encoding, "replace").decode(console.encoding))
