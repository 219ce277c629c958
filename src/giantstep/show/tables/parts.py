"""What tables share: their look, numbers with standard errors, and printing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from giantstep.records.summary import Value


class TitledTable(Table):
    """A table whose title may be wider than itself: it is wrapped where the terminal ends."""

    def __init__(self, heading: str) -> None:
        super().__init__(box=None, pad_edge=False)
        self.heading = heading

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield Text(self.heading, style="bold")
        yield from super().__rich_console__(console, options)


def make_table(title: str, *columns: str) -> Table:
    """A table without lines; long cells are folded."""
    table = TitledTable(title)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def counted(count: int, noun: str) -> str:
    """1 claim, 2 claims."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


UNKNOWN = "-"
"""The cell of a number that there is not, or that theory does not know."""

ROUGH = "~"
"""What stands before a number of theory that is rough."""

ROUNDING = 1e-12
"""Numbers of order one that should be zero are this small at most."""

FLOAT32 = 1e-6
"""Runs that differ by less than this share of their mean are equal but for single precision."""


def plain(value: float, digits: int, zero: float = ROUNDING) -> str:
    """A number in a few digits: 100 for 1e+02, 0 for what is below ``zero``."""
    return "0" if abs(value) < zero else f"{float(f'{value:.{digits}g}'):.6g}"


def number(value: float | None) -> str:
    return UNKNOWN if value is None else plain(value, 4)


def spread(value: Value | None, digits: int = 3) -> str:
    """A mean with its standard error where there is one; of theory, whether it is rough."""
    if value is None or not value.known:
        return UNKNOWN
    mean = ROUGH * value.rough + plain(value.mean, digits)
    if value.standard_error is None:
        return mean
    rounded = max(ROUNDING, FLOAT32 * abs(value.mean))
    return f"{mean} ± {plain(value.standard_error, 1, rounded)}"


def listed(values: Sequence[Value], digits: int = 4) -> str:
    """Several of them; none is said in words."""
    return "  ".join(spread(value, digits) for value in values) or "none"


def notes(texts: Sequence[str]) -> list[RenderableType]:
    """A line each, below a table."""
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
