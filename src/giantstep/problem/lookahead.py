"""Where a step takes its gradient: at the rows, or after a look ahead.  A new kind is one entry."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.language.word import Word


@dataclass(frozen=True)
class Lookahead:
    """``on_sample``: the gradient of a sample is taken after a step of size rho on it alone.

    ``on_batch``: the gradient of a batch is taken after a step of size rho on that batch.  Either
    moves the rows along the plain gradient and is undone, so that only the gradient knows of it.
    ``meaning`` explains it in the help.
    """

    numbers: tuple[str, ...] = ()
    meaning: str = ""
    on_sample: bool = False
    on_batch: bool = False

    @property
    def looks(self) -> int:
        """How often a step sees its batch as a whole."""
        return 1 + self.on_batch


LOOKAHEADS = {
    "none": Lookahead(),
    "sample": Lookahead(("rho",), " (of a sample after a step on it alone)", on_sample=True),
    "batch": Lookahead(("rho",), " (after one on the batch)", on_batch=True),
}


class LookaheadWord(Word[Lookahead]):
    """Where a step takes its gradient."""

    kinds = LOOKAHEADS

    @property
    def size(self) -> float:
        """rho: positive along the descent direction (extragradient), negative against it."""
        return self.numbers[0] if self.numbers else 0.0
