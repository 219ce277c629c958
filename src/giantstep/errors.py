"""What can go wrong: bad input, no theory, no convergence, a run that diverged.

A bug is none of them, and is never printed as a sentence.
"""


class InputError(ValueError):
    """Input that cannot be used; its message is one sentence with the offending value."""


class NoTheoryError(Exception):
    """No theory covers a setting; the message says why."""


class NotConvergedError(ArithmeticError):
    """An iteration that stopped short of its tolerance; the message says where and how far."""


class DivergenceError(ArithmeticError):
    """A run left the finite numbers; the message says where."""


SHOWN = 60
"""Characters of a value that a message quotes: it stays one short sentence."""


def shown(value: object) -> str:
    """A value as a message quotes it: its repr on one line, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a value too long to print"
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."
