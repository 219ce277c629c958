"""Records that have a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawn:
    """A record that ``giantstep.plot`` can draw.

    Figures are in a room below this one.  ``giantstep/__init__.py``, which stands above all rooms,
    sets ``picture``; matplotlib is loaded when the first record is drawn.
    """

    picture: ClassVar[Callable[[Any], Figure]]

    def plot(self) -> Figure:
        """The record as a matplotlib figure; ``.savefig(path)`` keeps it."""
        return type(self).picture(self)
