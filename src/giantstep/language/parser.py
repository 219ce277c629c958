"""Read the language of targets and activations, and reject what is outside it.

Numbers, ``pi``, variables, ``+ - * / ^``, parentheses, the functions of ``FUNCTIONS``,
``max(a, b)``, ``min(a, b)`` and the Hermite polynomials ``He0`` .. ``He32``; as in printed
mathematics also indices as subscripts, powers as superscripts, the Greek letter pi, a raised dot
for a product and the long minus.  The text is read by the parser below and by nothing else: no
piece of it is ever evaluated as Python.
"""

from __future__ import annotations

import difflib
import math
import re
from fractions import Fraction
from typing import NamedTuple

from giantstep.errors import InputError
from giantstep.language.expression import (
    ONE,
    ZERO,
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    add,
    brief,
    call,
    format_expression,
    hermite,
    multiply,
    negate,
    raise_to,
)
from giantstep.language.functions import FUNCTIONS, hermite_degree

# Limits, here and below as defaults of arguments, keep every rejection within milliseconds and
# megabytes; each is far above any target of the literature.
MAX_DEGREE = 32
"""Largest degree of a polynomial, in x1, x2, ... together, and largest power of anything else."""

EXTREMES = {"max": ONE, "min": Number(-1)}
"""Functions of two arguments, and the sign s in (a + b + s |a - b|)/2."""

_FUNCTIONS = frozenset([*FUNCTIONS, *EXTREMES])
FUNCTION_NAMES = ", ".join(sorted(_FUNCTIONS))

# Superscripts stand for "^ and a whole number" and are read by ``power``; the other signs are
# written anew, token by token, so that positions count the characters that were typed.
_LOWERED = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089"
_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_RAISED_MINUS = "\u207b"
_TIMES, _MINUS, _SPACES = "\u00b7\u22c5\u00d7\u2217", "\u2212\u2013", "\u00a0\u2009\u202f"
_TYPED = str.maketrans(
    dict(zip(_LOWERED + _RAISED, 2 * "0123456789", strict=True))
    | dict.fromkeys(_TIMES, "*")
    | dict.fromkeys(_MINUS + _RAISED_MINUS, "-")
    | {"\u03c0": "pi"}
)
_TOKEN = re.compile(
    rf"[ \t\r\n{_SPACES}]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    rf"|[A-Za-z]+[{_LOWERED}]+|[A-Za-z_][A-Za-z0-9_]*|\u03c0|{_RAISED_MINUS}?[{_RAISED}]+"
    rf"|[-+*/^(),{_TIMES}{_MINUS}]",
    re.ASCII,
)
_EXPONENT = re.compile(rf"{_RAISED_MINUS}?[{_RAISED}]+")
_INDEXED = re.compile(r"x([1-9][0-9]{0,3})", re.ASCII)

_INSTEAD = (
    ("|", "write abs(..) for an absolute value"),
    ("[]", "write parentheses"),
    ("{}", "write x1 and x1^2 without braces"),
    ("\\", "write functions without a backslash"),
    ("=", "write the right-hand side of the equation alone"),
    ("<>\u2264\u2265", "write step(a - b) for a > b"),
    ("\u221a", "write sqrt(..)"),
    ("\u2014", "write -"),
    (".", "write functions by their name alone, and numbers as 0.5"),
)
"""Signs that are outside the language, and what to write in their place."""

_MEANT = {
    "ln": "log",
    "arctan": "atan",
    "swish": "silu",
    "heaviside": "step",
    "maximum": "max",
    "minimum": "min",
}
_WRITTEN = {
    "sinh": "(exp(..) - exp(-..))/2",
    "cosh": "(exp(..) + exp(-..))/2",
    "pow": "a^2 for pow(a, 2)",
    "e": "exp(..) for a power of e",
    "he": "He2(..) for the Hermite polynomial of degree 2",
}
"""Names that others use: those of the language, and what is written where there is none."""


def _shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _tokens(text: str, field: str, most: int = 6_000) -> list[str]:
    """Every token and gap of the text in order; together they are the text."""
    if not text.strip():
        raise InputError(f"{field} is empty, got {_shorten(text)!r}")
    if len(text) > most:
        raise InputError(f"{field} has {len(text)} characters, more than the {most} allowed")
    tokens = _TOKEN.findall(text)
    if sum(map(len, tokens)) != len(text):
        position = 0
        while match := _TOKEN.match(text, position):
            position = match.end()
        character = text[position]
        instead = next((help_ for signs, help_ in _INSTEAD if character in signs), None)
        expected = (
            instead
            or f"expected numbers, variables, + - * / ^, parentheses or one of {FUNCTION_NAMES}"
        )
        raise InputError(
            f"{field}: unexpected character {character!a} at position {position + 1}, {expected}"
        )
    return tokens


def _plain(token: str) -> str:
    """A token in ASCII; a superscript stays as it is, since it is no number of its own."""
    return token if token.isascii() or _EXPONENT.fullmatch(token) else token.translate(_TYPED)


class _Parser:
    """Recursive descent; a ``variable`` z in place of x1, x2, ..., and He<k> for He<k>(z).

    ``at`` counts tokens, and the end of the text is the empty token: positions in the text are
    worked out only when something is wrong, which keeps reading fast.
    """

    def __init__(self, text: str, field: str, variable: str | None) -> None:
        self.places: dict[int, tuple[int, Expression]] = {}
        self.field, self.variable = field, variable
        self.pieces = _tokens(text, field)
        self.index = [i for i, piece in enumerate(self.pieces) if not piece.isspace()]
        self.tokens = [_plain(self.pieces[i]) for i in self.index] + [""]
        self.index.append(len(self.pieces))
        self.at = 0
        self.depth = self.extremes = 0

    def fail(self, complaint: str, at: int, hint: str = "") -> InputError:
        position = 1 + sum(map(len, self.pieces[: self.index[at]]))
        return InputError(f"{self.field}: {complaint} at position {position}{hint}")

    def parse(self) -> Expression:
        node = self.sum()
        if self.tokens[self.at]:
            raise self.left_over(self.tokens[self.at])
        self.measure(node)
        return node

    def left_over(self, token: str) -> InputError:
        """The complaint about a token where the expression could have ended."""
        before, hint = self.tokens[self.at - 1], ""
        if token[0] in "_.," and not before[0].isalpha() and before[-1].isdigit():
            hint = ", write numbers as 1000 and 0.5"
        elif token == ",":
            hint = ", a comma stands only between the two arguments of max and min"
        elif token == ")":
            hint = ", no parenthesis is open"
        elif token[0].isalpha() and not self.known(token):
            return self.fail(f"unknown name {_shorten(token)!r}", self.at, self.hint(token))
        elif token[0].isalnum() or token[0] in "_.(":
            hint = ", write * for a product"
        return self.fail(f"unexpected {_shorten(token)!r}", self.at, hint)

    def known(self, name: str) -> bool:
        """Whether a name is one of the language."""
        indexed = self.variable is None and _INDEXED.fullmatch(name)
        plain = name in _FUNCTIONS or name in ("pi", self.variable)
        return bool(indexed) or plain or hermite_degree(name) is not None

    def sum(self) -> Expression:
        at = self.at
        terms = [self.product()]
        while (operator := self.tokens[self.at]) in ("+", "-"):
            self.at += 1
            term = self.product()
            terms.append(negate(term) if operator == "-" else term)
        return self.placed(add(*terms), at) if len(terms) > 1 else terms[0]

    def product(self) -> Expression:
        start = self.at
        factors = [self.unary()]
        while (operator := self.tokens[self.at]) in ("*", "/"):
            at = self.at
            self.at += 1
            if operator == self.tokens[self.at] == "*":
                raise self.fail("unexpected '**'", at, ", write ^ for a power")
            factor = self.unary()
            if operator == "/":
                if factor == ZERO:
                    raise self.fail("division by zero", at)
                factor = raise_to(factor, -1)
            factors.append(factor)
            # Numbers gather in front, so that a long product of them is checked as it grows.
            if isinstance(factor, Number) and isinstance(factors[0], Number):
                factors[0] = self.checked(multiply(factors[0], factors.pop()), at)
        return self.placed(multiply(*factors), start) if len(factors) > 1 else factors[0]

    def unary(self) -> Expression:
        operator = self.tokens[self.at]
        if operator not in ("+", "-"):
            return self.power()
        self.descend()
        node = self.unary()
        self.depth -= 1
        return negate(node) if operator == "-" else node

    def power(self) -> Expression:
        base = self.atom()
        while _EXPONENT.fullmatch(self.tokens[self.at]):
            at = self.at
            self.at += 1
            exponent = self.number(self.tokens[at].translate(_TYPED).lstrip("-"), at)
            negative = self.tokens[at].startswith(_RAISED_MINUS)
            base = self.raised(base, -exponent.value if negative else exponent.value, at)
        if self.tokens[self.at] != "^":
            return base
        at = self.at
        self.descend()
        power = self.unary()
        self.depth -= 1
        if not isinstance(power, Number):
            hint = ", write exp(x1*log(2)) for 2^x1"
            raise self.fail("the exponent of ^ must be a number", at, hint)
        return self.raised(base, power.value, at)

    def raised(self, base: Expression, value: int | Fraction, at: int) -> Expression:
        """The base to a power, refused beyond MAX_DEGREE and where it is no real number."""
        if not -MAX_DEGREE <= value <= MAX_DEGREE:
            raise self.fail(f"exponent {brief(value)} is beyond {MAX_DEGREE}", at)
        if base == ZERO and value < 0:
            raise self.fail("division by zero", at)
        if isinstance(base, Number) and base.value < 0 and value.denominator != 1:
            raise self.fail("a negative number has no fractional power", at)
        return self.placed(self.checked(raise_to(base, value), at), at)

    def atom(self) -> Expression:
        at, token = self.at, self.tokens[self.at]
        if not token:
            raise self.fail("the expression ends too early", at)
        if token == "(":
            self.descend()
            node = self.sum()
            self.close()
            return node
        self.at += 1
        if token in "+-*/^)," or _EXPONENT.fullmatch(token):
            hint = ", an expression is missing before it" if token in ")," else ""
            raise self.fail(f"unexpected {token!r}", at, hint)
        if token[0].isdigit() or token[0] == ".":
            return self.number(token, at)
        return self.name(token, at)

    def number(self, token: str, at: int, largest: int = 30) -> Number:
        """A number, exact; ``largest`` is the decimal exponent that it may have."""
        if len(token) <= 15 and token.isdigit():
            return Number(int(token))
        mantissa, _, exponent = token.lower().partition("e")
        integer, _, decimals = mantissa.partition(".")
        # Read the exponent before the number: 1e999999999 as a fraction would fill the memory.
        if len(token) > 60 or len(exponent) > 4:
            raise self.out_of_range(token, at, largest)
        power = int(exponent or 0) - len(decimals)
        digits = int(integer + decimals)
        magnitude = len(str(digits)) - 1 + power
        if digits and abs(magnitude) > largest:
            raise self.out_of_range(token, at, largest)
        return Number(digits * 10**power if power >= 0 else Fraction(digits, 10**-power))

    def out_of_range(self, token: str, at: int, largest: int) -> InputError:
        sizes = f", expected 0 or a size from 1e-{largest} to 1e{largest}"
        return self.fail(f"number {_shorten(token)!r} is out of range", at, sizes)

    def name(self, name: str, at: int, most_variables: int = 64) -> Expression:
        if self.variable is None and (indexed := _INDEXED.fullmatch(name)):
            index = int(indexed.group(1))
            if index > most_variables:
                raise self.fail(f"{name!r} is beyond x{most_variables}", at)
            return Variable(index - 1)
        if name == self.variable:
            return Variable(0)
        if name == "pi":
            return self.number(repr(math.pi), at)
        degree = hermite_degree(name)
        if degree is not None and degree > MAX_DEGREE:
            raise self.fail(f"{name!r} is beyond He{MAX_DEGREE}", at)
        if not self.known(name):
            raise self.fail(f"unknown name {_shorten(name)!r}", at, self.hint(name))
        if name in EXTREMES:
            return self.extreme(name, at)
        if self.tokens[self.at] != "(":
            if self.variable and degree is not None:
                return hermite(degree, Variable(0))
            raise self.fail(f"{name!r} needs an argument in parentheses", at)
        self.descend()
        argument = self.sum()
        self.close(f", {name!r} takes one argument")
        return self.placed(self.checked(call(name, argument), at), at)

    def extreme(self, name: str, at: int, deepest: int = 4) -> Expression:
        """max(a, b) = (a + b + |a - b|)/2, and min(a, b) with the other sign.

        The arguments appear twice, so that nested ones double at each level.
        """
        two = ", as in max(x1, x2)" if self.variable is None else ", as in max(z, 0)"
        complaint = f"{name!r} needs two arguments"
        if self.tokens[self.at] != "(":
            raise self.fail(complaint, at, two)
        self.extremes += 1
        if self.extremes > deepest:
            raise self.fail(f"max and min are nested more than {deepest} deep", at)
        self.descend()
        first = self.sum()
        if self.tokens[self.at] != ",":
            raise self.fail(complaint, at, two)
        self.at += 1
        second = self.sum()
        self.close(f", {name!r} takes two arguments")
        self.extremes -= 1
        apart = self.checked(call("abs", add(first, negate(second))), at)
        total = add(first, second, multiply(EXTREMES[name], apart))
        return self.placed(multiply(Number(Fraction(1, 2)), total), at)

    def hint(self, name: str) -> str:
        """What an unknown name may have meant, or all that is known."""
        bare = name.lower().replace("_", "")
        if bare in _WRITTEN:
            return f", write {_WRITTEN[bare]}"
        number = bare.lstrip("abcdefghijklmnopqrstuvwxyz")
        letters = bare.removesuffix(number)
        meant = _MEANT.get(bare) or self.apart(name)
        index = int(number) if number.isdigit() and len(number) < 4 else None
        if letters in ("x", "z") and (index is not None or not number):
            meant = self.variable or f"x{index or 1}"
        elif letters in ("h", "he") and index is not None and index <= MAX_DEGREE:
            meant = f"He{index}"
        elif meant is None:
            meant = next(iter(difflib.get_close_matches(bare[:40], _FUNCTIONS, 1, 0.75)), None)
        if meant is not None:
            return f", did you mean {meant}?"
        names = f"the variable {self.variable}" if self.variable else "x1, x2, ..."
        return f", expected {names}, pi, He<k>(..) or one of {FUNCTION_NAMES}"

    def apart(self, name: str) -> str | None:
        """x1x2 as x1*x2 and sinx1 as sin(x1); None for other names."""
        variable = re.escape(self.variable) if self.variable else "x[1-9][0-9]?"
        if re.fullmatch(f"({variable}){{2,}}", name[:40]):
            return "*".join(re.findall(variable, name))
        glued = re.fullmatch(f"(.+?)({variable})", name[:40])
        return f"{glued[1]}({glued[2]})" if glued and self.known(glued[1]) else None

    def descend(self, deepest: int = 40) -> None:
        self.depth += 1
        if self.depth > deepest:
            raise self.fail(f"nested more than {deepest} deep", self.at)
        self.at += 1

    def close(self, arguments: str = "") -> None:
        """Read a closing parenthesis; ``arguments`` is what is said of a comma in its place."""
        token = self.tokens[self.at]
        if token != ")":
            instead = repr(_shorten(token)) if token else "the end"
            hint = arguments if token == "," else ""
            raise self.fail(f"expected ')', found {instead}", self.at, hint)
        self.at += 1
        self.depth -= 1

    def checked(self, node: Expression, at: int, most_bits: int = 4096) -> Expression:
        """The node, unless it is a constant that grew without bound or left the real numbers.

        A tower of k powers of such numbers would need 100 * 32^k bits.
        """
        if isinstance(node, Number):
            size = max(node.value.numerator.bit_length(), node.value.denominator.bit_length())
            if size > most_bits:
                raise self.fail("a constant grows out of range", at)
        elif isinstance(node, Call) and isinstance(node.argument, Number):
            raise self.fail(f"{format_expression(node)} is not a finite number", at)
        return node

    def placed(self, node: Expression, at: int) -> Expression:
        # The node is kept alive with its place, so that its id stays its own.
        self.places[id(node)] = (at, node)
        return node

    def measure(self, node: Expression, most_terms: int = 5_000) -> Size:
        """Size of the node multiplied out; raise before anything is multiplied out."""
        match node:
            case Number():
                return Size(1, 0, frozenset())
            case Variable():
                return Size(1, 1, frozenset({node}))
            case Call(function, argument):
                inner = self.measure(argument)
                degree = hermite_degree(function)
                size = Size(1, 1, frozenset({node})) if degree is None else inner.power(degree)
            case Power(base, exponent):
                inner = self.measure(base)
                polynomial = exponent.denominator == 1 and exponent > 0
                size = inner.power(int(exponent)) if polynomial else Size(1, 1, frozenset({node}))
            case Sum(parts) | Product(parts):
                sizes = [self.measure(part) for part in parts]
                generators = frozenset().union(*(each.generators for each in sizes))
                counts, degrees = [s.terms for s in sizes], [s.degree for s in sizes]
                if isinstance(node, Sum):
                    size = Size(sum(counts), max(degrees), generators)
                else:
                    size = Size(math.prod(counts), sum(degrees), generators)
        size = size.bounded()
        at, _ = self.places.get(id(node), (0, node))
        if size.degree <= MAX_DEGREE and size.terms <= most_terms:
            return size
        piece = _shorten(format_expression(node))
        if size.degree > MAX_DEGREE:
            raise self.fail(f"{piece!r} has degree {size.degree}, beyond {MAX_DEGREE}", at)
        raise self.fail(f"{piece!r} multiplies out to more than {most_terms} terms", at)


class Size(NamedTuple):
    """Bounds on an expression multiplied out: terms, degree, variables and functions in it."""

    terms: int
    degree: int
    generators: frozenset[Expression]

    def bounded(self) -> Size:
        """No more terms than there are monomials of that degree."""
        return self._replace(
            terms=min(self.terms, math.comb(len(self.generators) + self.degree, self.degree))
        )

    def power(self, exponent: int) -> Size:
        terms = math.comb(self.terms + exponent - 1, exponent)
        return Size(terms, self.degree * exponent, self.generators)


def parse(text: str, field: str = "target", *, variable: str | None = None) -> Expression:
    """Read an expression in x1, x2, ... or in one ``variable``.

    Anything outside the language raises InputError with its position.
    """
    return _Parser(text, field, variable).parse()
