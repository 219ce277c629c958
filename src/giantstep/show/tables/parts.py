"""What tables share: their look, numbers with standard errors, and printing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from giantstep.records.summary import Value


def make_table(title: str, *columns: str) -> Table:
    """A table without lines; long cells are folded."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def spread(value: Value | None, digits: int = 3) -> str:
    """A mean with its standard error where there is one."""
    if value is None:
        return "-"
    mean = f"{value.mean:.{digits}g}"
    return mean if value.standard_error is None else f"{mean} ± {value.standard_error:.1g}"


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
