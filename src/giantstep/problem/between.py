"""What becomes of the readout between steps: nothing, a ridge fit, or a gradient step."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.language.word import Word


@dataclass(frozen=True)
class Between:
    """``frozen``: a stays as it is.  ``fitted``: a ridge fit after each step is used in the next.

    ``moved``: a moves with W, on the same batch, by a gradient step of the size given.
    """

    numbers: tuple[str, ...] = ()
    frozen: bool = False
    fitted: bool = False
    moved: bool = False


BETWEEN = {
    "frozen": Between(frozen=True),
    "ridge": Between(fitted=True),
    "gradient": Between(("size",), moved=True),
}


class BetweenWord(Word[Between]):
    """What becomes of the readout between steps."""

    kinds = BETWEEN
