"""What becomes of the readout between steps: nothing, a ridge fit, or a gradient step."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.language.word import Word, form_list, read_word

BETWEEN = {"frozen": (), "ridge": (), "gradient": ("size",)}
"""frozen: a stays; ridge: fitted after each step and used in the next; gradient: a moves with W, on
the same batch, by a step of this size."""

DESCRIPTION = form_list(BETWEEN)


def read_between(value: object, letters: Mapping[str, float]) -> Word:
    """What becomes of the readout, from its text."""
    return read_word(value, "readout_between", forms=BETWEEN, letters=letters)
