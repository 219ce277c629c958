"""The natural coordinates of an expression: those of the linear forms it is written in.

f(x) = g(<v_1, x>, <v_2, x>, ...) is analysed in an orthonormal frame of the v: orthogonal forms
become coordinates, so that separate variables, closed forms and symmetries are seen whatever the
rotation, and directions that f does not depend on disappear.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.accuracy import ROUNDING
from giantstep.language.expression import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    add,
    call,
    format_expression,
    multiply,
    parts_of,
    raise_to,
)

Form = tuple[Float[np.ndarray, " r"], int | Fraction]


def coordinates(places: list[int], r: int) -> Float[np.ndarray, "k r"]:
    """Unit vectors along some of r coordinates; a view of np.eye(r) would keep all r^2 numbers."""
    rows = np.zeros((len(places), r))
    rows[np.arange(len(places)), places] = 1.0
    return rows


def linear_form(node: Expression, r: int) -> Form | None:
    """(slopes, constant) of an expression that is written as a linear form, None for others."""
    match node:
        case Number(value):
            return np.zeros(r), value
        case Variable(index):
            return coordinates([index], r)[0], 0
        case Sum(parts):
            forms = [form for part in parts if (form := linear_form(part, r)) is not None]
            if len(forms) < len(parts):
                return None
            return np.sum([slopes for slopes, _ in forms], axis=0), sum(c for _, c in forms)
        case Product((Number(value), factor)):
            form = linear_form(factor, r)
            return None if form is None else (float(value) * form[0], value * form[1])
    return None


def _split(parts: tuple[Expression, ...], r: int) -> tuple[Expression | None, list[Expression]]:
    """The linear terms of a sum as one expression, and the other terms."""
    linear = [part for part in parts if linear_form(part, r) is not None]
    return (add(*linear) if linear else None), [part for part in parts if part not in linear]


def forms(node: Expression, r: int) -> list[Float[np.ndarray, " r"]]:
    """Slopes of the linear forms an expression is written in."""
    form = linear_form(node, r)
    if form is not None:
        return [form[0]] if np.any(form[0]) else []
    parts = parts_of(node)
    if isinstance(node, Sum):
        linear, others = _split(parts, r)
        parts = (*others,) if linear is None else (linear, *others)
    return [slopes for part in parts for slopes in forms(part, r)]


def natural_frame(node: Expression, r: int) -> Float[np.ndarray, "k r"]:
    """Orthonormal rows spanning the forms: the forms themselves where they are orthogonal.

    Forms that are not orthogonal to each other share a block; a block that is spanned by
    coordinates keeps them.
    """
    listed = forms(node, r)
    if all(np.count_nonzero(slopes) == 1 for slopes in listed):
        return coordinates(sorted({int(np.flatnonzero(slopes)[0]) for slopes in listed}), r)
    distinct: list[Float[np.ndarray, " r"]] = []
    for slopes in listed:
        unit = slopes / np.linalg.norm(slopes)
        if all(abs(abs(unit @ other) - 1.0) > ROUNDING for other in distinct):
            distinct.append(unit)
    blocks: list[list[Float[np.ndarray, " r"]]] = []
    for unit in distinct:
        touching = [b for b in blocks if any(abs(unit @ other) > ROUNDING for other in b)]
        blocks = [b for b in blocks if not any(b is t for t in touching)]
        blocks.append([unit, *(other for b in touching for other in b)])
    rows: list[Float[np.ndarray, " r"]] = []
    for block in blocks:
        used = np.flatnonzero(np.any(np.abs(block) > ROUNDING, axis=0))
        rank = int(np.sum(np.linalg.svd(np.array(block), compute_uv=False) > ROUNDING**0.5))
        if rank == len(used):
            rows += list(coordinates(used.tolist(), r))
            continue
        for unit in sorted(block, key=lambda u: int(np.sum(np.abs(u) > ROUNDING))):
            outside = unit - sum((unit @ row) * row for row in rows)
            outside = outside - sum((outside @ row) * row for row in rows)
            if np.linalg.norm(outside) > ROUNDING**0.5:
                rows.append(outside / np.linalg.norm(outside))
    order = sorted(range(len(rows)), key=lambda k: int(np.argmax(np.abs(rows[k]))))
    return np.array([rows[k] for k in order]).reshape(len(rows), r)


def realign(node: Expression, frame: Float[np.ndarray, "k r"]) -> Expression:
    """The expression in the coordinates u = frame x, rounding left out of its forms."""
    r = frame.shape[1]
    form = linear_form(node, r)
    if form is not None:
        slopes = frame @ form[0]
        small = ROUNDING * float(np.linalg.norm(slopes))
        terms = [
            multiply(Number(_number(c)), Variable(k))
            for k, c in enumerate(slopes.tolist())
            if abs(c) > small
        ]
        return add(*terms, Number(form[1]))
    match node:
        case Call(function, argument):
            inner = realign(argument, frame)
            value = call(function, inner)
            if isinstance(inner, Number) and not isinstance(value, Number):
                raise _nowhere_finite(node)
            return value
        case Sum(parts):
            linear, others = _split(parts, r)
            listed = others if linear is None else [linear, *others]
            return add(*(realign(part, frame) for part in listed))
        case Product(factors):
            return multiply(*(realign(factor, frame) for factor in factors))
        case Power(base, exponent):
            inner = realign(base, frame)
            if isinstance(inner, Number) and (
                (inner.value == 0 and exponent < 0)
                or (inner.value < 0 and exponent.denominator != 1)
            ):
                raise _nowhere_finite(node)
            return raise_to(inner, exponent)
    return node


def _nowhere_finite(node: Expression) -> InputError:
    """The complaint about a part such as 1/(x1 - x1)."""
    return InputError(f"target has no finite value anywhere, because of {format_expression(node)}")


def _number(value: float) -> int | Fraction:
    """A float as an exact number, an integer where rounding hides one."""
    nearest = round(value)
    return nearest if abs(value - nearest) <= ROUNDING * abs(value) else Fraction(value)
