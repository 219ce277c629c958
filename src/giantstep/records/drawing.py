"""What can be drawn: a record knows no figure, the front door of the package does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawn:
    """A record with a picture, ``giantstep.plot``.

    Rooms look up only, and figures are below: the record asks the package itself, by name and when
    it is drawn, so that neither matplotlib nor a figure is loaded before.
    """

    def plot(self) -> Figure:
        """The record as a matplotlib figure; ``.savefig(path)`` keeps it."""
        from giantstep import plot

        return plot(self)
