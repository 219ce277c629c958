"""Records that notebooks show, and those that have a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Shown:
    """A record that a notebook shows as a table, with its picture where it has one.

    Tables and figures are in a room below this one.  ``giantstep/__init__.py``, which stands above
    all rooms, sets ``page``; the room is loaded when the first record is shown.
    """

    page: ClassVar[Callable[[Any], str]]

    def _repr_html_(self) -> str:
        return type(self).page(self)


class Drawn(Shown):
    """A record that ``giantstep.plot`` can draw.

    ``giantstep/__init__.py`` sets ``picture``; matplotlib is loaded when the first record is drawn.
    """

    picture: ClassVar[Callable[[Any], Figure]]

    def plot(self) -> Figure:
        """The record as a matplotlib figure; ``.savefig(path)`` keeps it."""
        return type(self).picture(self)
