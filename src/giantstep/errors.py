"""What can go wrong: bad input, no theory, no convergence, a run that diverged.

A bug is none of them, and is never printed as a sentence.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Input that cannot be used; its message is one sentence with the offending value.

    >>> from giantstep import InputError, Setting
    >>> try:
    ...     Setting("x1", d="4q")
    ... except InputError as error:
    ...     print(error)
    d must be a whole number, got '4q'
    """


class NoTheoryError(Exception):
    """No theory covers a setting; the message says why.

    Raised by ``predict``; ``run_experiment`` and the command line go on without a prediction and
    say why.
    """


class NotConvergedError(ArithmeticError):
    """An iteration that stopped short of its tolerance; the message says where and how far.

    Fixed points of the theories raise it (docs/derivations/closed_system.md): a NaN is no result.
    """


class DivergenceError(ArithmeticError):
    """A number of a run became infinite or NaN; the message says where.

    ``simulate`` raises it at the first step with a number that is not finite: the step size is too
    large for this activation.
    """


def memory_words(error: MemoryError) -> str:
    """What is said where memory ran out, with what Python or NumPy know of it."""
    return f"memory ran out: {error}" if str(error) else "memory ran out"


def shown(value: object, most: int = 60) -> str:
    """A value as a message quotes it: its repr on one line, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a value too long to print"
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= most else line[: most - 3] + "..."


def near(name: str, known: Iterable[str], most: int = 4) -> list[str]:
    """At most so many known names that look like one that is not: those that hold it come first."""
    names, low = list(known), name.lower()
    holding = [each for each in names if low and low in each.lower()]
    folded = {each.lower(): each for each in names}
    close = [folded[each] for each in get_close_matches(low, folded, most)]
    return list(dict.fromkeys([*holding, *close]))[:most]


def unknown_name(kind: str, name: str, known: Iterable[str], where: str) -> InputError:
    """The complaint about a name: what it looks like, and ``where`` all of them are listed."""
    similar = near(name, known)
    meant = f", did you mean {' or '.join(similar)}" if similar else ""
    return InputError(f"unknown {kind} {shown(name)}{meant}; {where} lists all")
