"""Where a run starts: the rows of W and the entries of a.  A new kind is one entry of a table.

A start is written once, for any space its rows may live in: R^d itself, the few coordinates of the
span of the rows and the target directions, or the typical rows that theory begins from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.coordinates import bartlett, compressed, root
from giantstep.gaussian.rules import REACH, Rule, condensed, legendre, normal_panels
from giantstep.language.word import Word


@dataclass(frozen=True)
class Space:
    """How vectors of R^d are drawn, and held by q coordinates.

    ``gaussian(k)`` are k independent N(0, I_d) vectors, ``frame(k)`` the r target directions and
    below them k more vectors, random but for being orthonormal to all others.  ``hold(rows)`` are
    given rows: of d numbers, or of fewer coordinates that begin with those along what is known.
    """

    d: int
    gaussian: Callable[[int], Float[np.ndarray, "k q"]]
    frame: Callable[[int], Float[np.ndarray, "m q"]]
    hold: Callable[[Float[np.ndarray, "p k"]], Float[np.ndarray, "p q"]]


def whole_space(
    key: np.random.Generator, directions: Float[np.ndarray, "r d"], others: int = 0
) -> Space:
    """R^d itself, with orthonormal target directions; ``others`` that are known come last."""
    r, d = directions.shape

    def frame(count: int) -> Float[np.ndarray, "m d"]:
        outside = key.standard_normal((d, count))
        outside -= directions.T @ (directions @ outside)
        return np.concatenate([directions, np.linalg.qr(outside)[0].T])

    def hold(rows: Float[np.ndarray, "p k"]) -> Float[np.ndarray, "p d"]:
        p, k = rows.shape
        if k == d:
            return rows
        target, by_law, remaining = np.split(rows, [r, r + others], axis=1)
        return np.concatenate([target, remaining, np.zeros((p, d - k)), by_law], axis=1)

    return Space(d, lambda count: key.standard_normal((count, d)), frame, hold)


def known_span(key: np.random.Generator, r: int, d: int, others: int = 0) -> Space:
    """Coordinates in the span of the target directions, which come first, and of what is drawn.

    After them come ``others`` that are known as well, and that what is drawn knows nothing of.
    """

    def gaussian(count: int, first: int = r + others) -> Float[np.ndarray, "k q"]:
        along = key.standard_normal((count, first))
        return np.concatenate([along, bartlett(key, count, d - r - others)], axis=1)

    def frame(count: int) -> Float[np.ndarray, "m q"]:
        if others == 0:
            return np.eye(r + count)
        rows = np.eye(r + count, r + others + count)
        turned, triangle = np.linalg.qr(gaussian(count, others).T)
        # QR is free in the signs of its columns, and LAPACK's depend on the first coordinates.
        rows[r:, r:] = (turned * np.sign(np.diagonal(triangle))).T
        return rows

    return Space(d, gaussian, frame, lambda rows: _held(rows, r, d, others))


def typical_span(r: int, d: int, others: int = 0) -> Space:
    """Coordinates of ``known_span`` for typical rows, whose cosines of order d^(-1/2) are zero."""
    first = r + others
    return Space(
        d,
        lambda count: math.sqrt(d) * np.eye(count, first + count, k=first),
        lambda count: np.delete(np.eye(first + count), range(r, first), axis=0),
        lambda rows: _held(rows, r, d, others),
    )


def _held(rows: Float[np.ndarray, "p k"], r: int, d: int, others: int) -> Float[np.ndarray, "p q"]:
    """Given rows in coordinates that begin with those along what is known."""
    if rows.shape[1] == d:
        target, remaining, by_law = np.split(rows, [r, d - others], axis=1)
        rows = np.concatenate([target, by_law, remaining], axis=1)
    return compressed(rows, r + others)


# -- rows of W ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """Overlaps M with the target directions and Gram matrix Q of the rows, as the record has it.

    Without a Gram matrix it is the identity, which no start makes unless it needs it.
    """

    overlaps: Float[np.ndarray, "p r"]
    gram: Float[np.ndarray, "p p"] | None = None


@dataclass(frozen=True)
class RowStart:
    """How the rows of W are drawn.

    ``draw(space, p, given)`` gives the p rows.  ``paired``: row i + p/2 is row i again, with the
    opposite entry of a.  ``framed``: the rows are combinations of the target directions and of p
    more orthonormal vectors, with overlaps that are ``given``.  ``unit``: they are of norm one, not
    only nearly so.  ``normal``: they are N(0, I/d), so that their lengths vary.  ``takes_gram``:
    the record gives their Gram matrix, or the rows themselves.
    """

    name: str
    draw: Callable[[Space, int, Given], Float[np.ndarray, "p q"]]
    paired: bool = False
    framed: bool = False
    unit: bool = True
    normal: bool = False
    takes_gram: bool = False
    numbers: tuple[str, ...] = ()

    @property
    def copies(self) -> int:
        """How often each row occurs."""
        return 2 if self.paired else 1

    def check(self, p: int, r: int, d: int) -> None:
        """Refuse sizes at which there is no such start."""
        if self.paired and p % 2:
            raise InputError(
                f"p must be even for the {self.name} start, got {p}; take {p + 1}, or the start "
                "sphere, which takes any p"
            )
        if self.framed and p + r > d:
            raise InputError(
                f"p must be at most d - r = {d - r} for the {self.name} start, got {p}"
            )


def _normalised(rows: Float[np.ndarray, "k q"]) -> Float[np.ndarray, "k q"]:
    """The rows themselves, divided by their lengths."""
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def _with_overlaps(space: Space, p: int, given: Given) -> Float[np.ndarray, "p q"]:
    """w_i = sum_k m_ik w*_k + sqrt(1 - |m_i|^2) v_i, v orthonormal."""
    r = given.overlaps.shape[1]
    frame = space.frame(p)
    lengths = np.sqrt(np.maximum(1.0 - np.sum(given.overlaps**2, axis=1), 0.0))
    return given.overlaps @ frame[:r] + lengths[:, None] * frame[r:]


def _with_gram(space: Space, p: int, given: Given) -> Float[np.ndarray, "p q"]:
    """W = M W* + (Q - M M^T)^(1/2) V, V orthonormal: rows of any overlaps and Gram matrix."""
    r = given.overlaps.shape[1]
    frame = space.frame(p)
    gram = np.eye(p) if given.gram is None else given.gram
    outside = root(gram - given.overlaps @ given.overlaps.T)
    return given.overlaps @ frame[:r] + outside @ frame[r:]


STARTS = {
    start.name: start
    for start in (
        RowStart(
            "symmetric",
            lambda space, p, _: np.tile(_normalised(space.gaussian(p // 2)), (2, 1)),
            paired=True,
        ),
        RowStart("sphere", lambda space, p, _: _normalised(space.gaussian(p))),
        RowStart(
            "gaussian",
            lambda space, p, _: space.gaussian(p) / math.sqrt(space.d),
            unit=False,
            normal=True,
        ),
        RowStart("orthogonal", _with_overlaps, framed=True),
        RowStart("given", _with_gram, framed=True, unit=False, takes_gram=True),
    )
}


class StartWord(Word[RowStart]):
    """How the rows of W are drawn."""

    kinds = STARTS


# -- entries of a ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadoutStart:
    """How the entries of a are drawn.

    ``draw(key, count, p)`` gives the first ``count`` of p entries, ``rms(p)`` is the root of their
    mean square.  ``fixed``: they are the same in every run.  ``balanced``: they sum to zero
    where p is even.  ``normal``: they are normal.

    ``law(nodes)`` is a quadrature rule for the law of an entry over its root mean square, with so
    many nodes for |u| below ``STEEP_BELOW`` and as many beyond, on either side of 0; entries of one
    size (``law`` is None) are two signs.
    """

    name: str
    meaning: str
    draw: Callable[[np.random.Generator, int, int], Float[np.ndarray, " k"]]
    rms: Callable[[float], float]
    fixed: bool = False
    balanced: bool = False
    normal: bool = False
    law: Callable[[int], Rule] | None = None
    numbers: tuple[str, ...] = ()

    @property
    def one_size(self) -> bool:
        """Whether all entries have the same absolute value."""
        return self.law is None

    @property
    def exponent(self) -> float:
        """The power of p that an entry goes as: 0, or -1/2 where |a| is of order one."""
        return math.log2(self.rms(2.0) / self.rms(1.0))

    def rule(self, nodes: int) -> Rule:
        """Values and weights for an entry over its root mean square, as ``law`` has them."""
        if self.law is None:
            return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
        return self.law(nodes)


STEEP_BELOW = 0.5
"""Entries |u| below it, over their root mean square, have as many nodes as all others.

Neurons that a step moves by many times their length are functions of the sign of the learned
coordinate alone, but for those of small u: the features are steep in u there.  A Gauss rule for the
whole law has four of 16 nodes in that range; with it the largest outlier of tanh features was 5 %
too high where rows move by 6 times their length.
"""


@lru_cache(maxsize=16)
def _normal_rule(nodes: int) -> Rule:
    beyond = np.linspace(STEEP_BELOW, REACH, 5)
    below = normal_panels(np.array([0.0, STEEP_BELOW]), 20)
    return _both_sides(condensed(below, nodes), condensed(normal_panels(beyond, 20), nodes))


@lru_cache(maxsize=16)
def _uniform_rule(nodes: int) -> Rule:
    (x, weights), edges = legendre(nodes), (0.0, STEEP_BELOW, math.sqrt(3.0))
    parts = [
        (0.5 * (low + high) + 0.5 * (high - low) * x, (high - low) * weights)
        for low, high in pairwise(edges)
    ]
    return _both_sides(*parts)


def _both_sides(*parts: Rule) -> tuple[Float[np.ndarray, " both"], Float[np.ndarray, " both"]]:
    """A rule for u from the parts of one for |u|; its weights sum to one."""
    size, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    both = np.concatenate([weights[::-1], weights])
    return np.concatenate([-size[::-1], size]), both / both.sum()


READOUT_STARTS = {
    start.name: start
    for start in (
        ReadoutStart(
            "signs",
            "+-1",
            lambda key, count, p: key.choice([-1.0, 1.0], size=count),
            lambda p: 1.0,
        ),
        ReadoutStart(
            "alternating",
            "+-1",
            lambda key, count, p: np.where(np.arange(count) % 2 == 0, 1.0, -1.0),
            lambda p: 1.0,
            fixed=True,
            balanced=True,
        ),
        ReadoutStart(
            "ones",
            "1",
            lambda key, count, p: np.ones(count),
            lambda p: 1.0,
            fixed=True,
        ),
        ReadoutStart(
            "gaussian",
            "N(0, 1/p)",
            lambda key, count, p: key.standard_normal(count) / math.sqrt(p),
            lambda p: 1.0 / math.sqrt(p),
            normal=True,
            law=_normal_rule,
        ),
        ReadoutStart(
            "uniform",
            "on [-1, 1]",
            lambda key, count, p: key.uniform(-1.0, 1.0, size=count),
            lambda p: 1.0 / math.sqrt(3.0),
            law=_uniform_rule,
        ),
    )
}


def readout_kind(readout_start: str | Sequence[float]) -> ReadoutStart:
    """How a is drawn, by name or from the numbers that were given.

    An unknown name is refused by the record itself, and stands here for signs.
    """
    if isinstance(readout_start, str):
        return READOUT_STARTS.get(readout_start, READOUT_STARTS["signs"])
    entries = np.array(readout_start, dtype=float)
    rms = float(np.sqrt(np.mean(entries**2)))
    return ReadoutStart(
        "given",
        "",
        lambda key, count, p: entries,
        lambda p: rms,
        fixed=True,
        law=lambda nodes: (entries / rms, np.full(len(entries), 1.0 / len(entries))),
    )


def readout_rms(readout_start: str | Sequence[float], p: float) -> float:
    """Root mean square of the entries of a."""
    return readout_kind(readout_start).rms(p)


ReadoutName = str
"""A name of ``READOUT_STARTS``."""


class ReadoutWord(Word[ReadoutStart]):
    """How the entries of a are drawn."""

    kinds = READOUT_STARTS
