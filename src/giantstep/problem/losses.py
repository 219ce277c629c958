"""Losses of a step, each by its residual: minus the derivative in the network's output.

A new one is one entry of ``LOSSES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from giantstep.errors import InputError
from giantstep.language.expression import Expression
from giantstep.language.functions import Namespace
from giantstep.language.parser import parse
from giantstep.language.word import Word, shortest


@dataclass(frozen=True)
class Loss:
    """A loss l(y, f): ``residual(m, y, f, *numbers)`` is -dl/df, ``numbers`` what it is given.

    ``first`` is -dl/df at f = 0, an expression in y that may hold the numbers by their letters.
    ``plain``: the squared loss, whose residual y - f is linear in both.
    """

    name: str
    residual: Callable[..., Any]
    numbers: tuple[str, ...] = ()
    first: str = "y"
    plain: bool = False


def _huber(m: Namespace, y: Any, f: Any, c: float) -> Any:
    """(y - f)^2/2 up to c, linear beyond."""
    return m.clip(y - f, -c, c)


def _logistic(m: Namespace, y: Any, f: Any) -> Any:
    """log(1 + exp(-y f)), y meant as +-1: y/(1 + exp(y f)), written so that nothing overflows."""
    return 0.5 * y * (1.0 - m.tanh(0.5 * y * f))


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("square", lambda m, y, f: y - f, plain=True),
        Loss("huber", _huber, ("c",), "y - relu(y - {c}) + relu(-y - {c})"),
        Loss("absolute", lambda m, y, f: m.sign(y - f), first="sign(y)"),
        Loss("logistic", _logistic, first="y/2"),
    )
}


class LossWord(Word[Loss]):
    """The loss of the steps with its numbers."""

    kinds = LOSSES


def read_loss(value: object, field: str = "loss") -> LossWord:
    """A loss from its text."""
    word = LossWord.read(value, field)
    for letter, number in zip(word.kind.numbers, word.numbers, strict=True):
        if not number > 0:
            raise InputError(f"loss {word.name} needs a positive {letter}, got {word!r}")
    return word


def residual(loss: LossWord, y: Any, f: Any, namespace: Namespace) -> Any:
    """-dl/df of a loss at labels y and outputs f."""
    return loss.kind.residual(namespace, y, f, *loss.numbers)


def first_residual(loss: LossWord) -> Expression:
    """-dl/df against a network that answers 0, as an expression in y."""
    named = dict(zip(loss.kind.numbers, map(shortest, loss.numbers), strict=True))
    return parse(loss.kind.first.format(**named), "loss", variable="y")
