"""Where target directions lie among the axes: ``random``, ``axes``, and by blocks of the inputs.

``block(k)`` puts all of them into block k, ``shares(s1, s2, ..)`` puts the share s_b of the square
of each into block b.  Inside a block they are random and orthogonal to each other.
"""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.problem.input_blocks import SHARES_SUM, InputBlocks
from giantstep.problem.inputs import InputLaw
from giantstep.problem.tables import frame_columns

FORMS = "random, axes, block(k), shares(s1, s2, ..) or columns(NAME, ...)"
"""How frames are typed."""


def block_numbers(frame: str) -> tuple[str, tuple[float, ...]] | None:
    """The kind and the numbers of ``block(k)`` or ``shares(s1, ..)``, None for another text."""
    match = re.fullmatch(r"\s*(block|shares)\((.*)\)\s*", frame)
    if match is None:
        return None
    try:
        numbers = tuple(float(text) for text in match[2].split(","))
    except ValueError:
        complaint = f"frame {match[1]} must have numbers in its brackets, got {frame!r}"
        raise InputError(complaint) from None
    return match[1], numbers


def read_frame(value: object) -> str | None:
    """A frame as it is typed, None for anything else."""
    if not isinstance(value, str):
        return None
    known = value in ("random", "axes") or frame_columns(value) is not None
    return value if known or block_numbers(value) is not None else None


def frame_shares(frame: str, inputs: InputLaw, d: int, r: int) -> Float[np.ndarray, " m"] | None:
    """Shares of each block in the squares of target directions that are given by blocks."""
    given = block_numbers(frame)
    if given is None:
        return None
    kind, numbers = given
    if not inputs.in_blocks:
        raise InputError(f"frame must be random or axes for {inputs.text} inputs, got {frame!r}")
    sizes = inputs.blocks(d).sizes
    if kind == "block":
        if len(numbers) != 1 or numbers[0] not in range(1, len(sizes) + 1):
            raise InputError(f"frame must be a block from 1 to {len(sizes)}, got {frame!r}")
        shares = np.eye(len(sizes))[int(numbers[0]) - 1]
    else:
        shares = np.array(numbers)
        if len(shares) != len(sizes):
            raise InputError(f"frame must have {len(sizes)} shares, one a block, got {frame!r}")
        if not (np.all(shares >= 0.0) and abs(np.sum(shares) - 1.0) <= SHARES_SUM):
            raise InputError(f"frame must have shares from 0 to 1 that sum to 1, got {frame!r}")
        shares = shares / np.sum(shares)
    if np.any(sizes[shares > 0.0] < r):
        raise InputError(
            f"d must be so large that the blocks of frame {frame} have {r} axes each, got {d}"
        )
    return shares


def block_profiles(frame: str, inputs: InputLaw, d: int, r: int) -> Float[np.ndarray, "r m"]:
    """|P_b w*_k|^2: the squared part of each target direction in each block; means if random."""
    blocks, shares = inputs.blocks(d), frame_shares(frame, inputs, d, r)
    if frame == "axes":
        return np.eye(len(blocks.sizes))[blocks.at(np.arange(r))]
    return np.tile(blocks.sizes / d if shares is None else shares, (r, 1))


def directions_in_blocks(
    blocks: InputBlocks, shares: Float[np.ndarray, " m"], r: int, key: np.random.Generator
) -> Float[np.ndarray, "r d"]:
    """Orthonormal vectors of R^d, random in each block, with given shares of their squares."""
    parts = [
        np.sqrt(share) * np.linalg.qr(key.standard_normal((size, r)))[0].T
        if share > 0.0
        else np.zeros((r, size))
        for share, size in zip(shares, blocks.sizes.tolist(), strict=True)
    ]
    return np.concatenate(parts, axis=1)
