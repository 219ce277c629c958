"""Vectors of R^d by their coordinates in each block of the inputs (docs/derivations/blocks.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.gaussian.coordinates import bartlett
from giantstep.problem.frames import frame_shares
from giantstep.problem.input_blocks import InputBlocks
from giantstep.problem.randomness import Purpose, generator
from giantstep.problem.setting import Setting
from giantstep.problem.starts import Space


@dataclass(frozen=True)
class SeenRows:
    """The rows as a new sample sees them: in an orthonormal basis of what it is multiplied with.

    ``rows`` are those of the network for samples whose first r coordinates are normals times
    ``root`` (so that they are along the target) and whose others are normals.  ``basis`` are the
    vectors of normals, by their coordinates in the blocks.
    """

    rows: Float[np.ndarray, "p k"]
    root: Float[np.ndarray, "r r"]
    basis: Float[np.ndarray, "q k"]

    def coordinates(self, normals: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
        """Coordinates of samples from normals: those along the target first."""
        r, root = len(self.root), self.root.astype(normals.dtype)
        return np.concatenate([normals[:, :r] @ root.T, normals[:, r:]], axis=1)

    def in_blocks(self, sums: Float[np.ndarray, "p k"]) -> Float[np.ndarray, "p q"]:
        """Sums of coefficients times samples as sums of their normals, by coordinates in blocks."""
        r = len(self.root)
        along = np.linalg.solve(self.root, sums[:, :r].T).T
        return np.concatenate([along, sums[:, r:]], axis=1) @ self.basis.T


@dataclass(frozen=True)
class BlockSpan:
    """Coordinates in the span of the target directions and of p more vectors, block by block.

    ``targets`` are the target directions by the first of the coordinates, ``known`` the blocks of
    these.  After them come, for each block, as many as p vectors may need there.
    """

    blocks: InputBlocks
    p: int
    targets: Float[np.ndarray, "r k"]
    known: Int[np.ndarray, " k"]

    @classmethod
    def of_run(cls, setting: Setting, run: int) -> BlockSpan:
        """The span of a run: its target directions are the first axes, random, or by blocks."""
        blocks, r = setting.inputs.blocks(setting.d), setting.target.r
        if setting.on_axes:
            return cls(blocks, setting.p, np.eye(r), blocks.at(np.arange(r)))
        shares = frame_shares(setting.frame, setting.inputs, setting.d, r)
        if shares is not None:
            # Directions of a block are alike: those of the target are the first r.
            held = np.flatnonzero(shares)
            targets = np.kron(np.sqrt(shares[held]), np.eye(r))
            return cls(blocks, setting.p, targets, np.repeat(held, r))
        key = generator(setting.seed, run, Purpose.FRAME)
        drawn = [bartlett(key, r, int(size)) for size in blocks.sizes]
        targets = np.linalg.qr(np.concatenate(drawn, axis=1).T)[0].T
        known = np.repeat(np.arange(len(blocks.sizes)), [part.shape[1] for part in drawn])
        return cls(blocks, setting.p, targets, known)

    @classmethod
    def of_vectors(
        cls, blocks: InputBlocks, targets: Float[np.ndarray, "r d"], rows: Float[np.ndarray, "p d"]
    ) -> tuple[BlockSpan, Float[np.ndarray, "p q"]]:
        """The span of target directions that are given in R^d, and the coordinates of rows."""
        r, ends = len(targets), np.cumsum(blocks.sizes)
        parts = np.split(np.concatenate([targets, rows]), ends[:-1], axis=1)
        triangles: list[Any] = [np.linalg.qr(part.T, mode="r") for part in parts]
        known = [min(r, int(size)) for size in blocks.sizes]
        first, others = (
            [triangle.T[:, cut] for triangle, cut in zip(triangles, cuts, strict=True)]
            for cuts in ([slice(k) for k in known], [slice(k, None) for k in known])
        )
        along, labels = np.concatenate(first, axis=1), np.arange(len(known))
        span = cls(blocks, len(rows), along[:r], np.repeat(labels, known))
        columns = np.concatenate([span.known, np.repeat(labels, [o.shape[1] for o in others])])
        held = np.concatenate([along, *others], axis=1)[r:]
        return span, span.compressed(held, columns)

    @cached_property
    def outside(self) -> Int[np.ndarray, " m"]:
        """Directions of each block that no target direction has a part along."""
        return self.unknown(self.known)

    @cached_property
    def columns(self) -> Int[np.ndarray, " q"]:
        """The block of each coordinate."""
        widths = np.minimum(self.p, self.outside)
        return np.concatenate([self.known, np.repeat(np.arange(len(widths)), widths)])

    def unknown(self, columns: Int[np.ndarray, " q"]) -> Int[np.ndarray, " m"]:
        """Directions of each block beyond those of some coordinates."""
        return self.blocks.sizes - np.bincount(columns, minlength=len(self.blocks.sizes))

    def deviations(self, columns: Int[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
        """Standard deviations of an input along coordinates."""
        return self.blocks.deviations[columns]

    def along_target(self, rows: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p r"]:
        """Inner products with the target directions."""
        return rows[:, : len(self.known)] @ self.targets.T

    def compressed(
        self, rows: Float[np.ndarray, "p k"], columns: Int[np.ndarray, " k"]
    ) -> Float[np.ndarray, "p q"]:
        """The same rows in the coordinates of the span, from others that begin with ``known``."""
        first = len(self.known)
        others, blocks = rows[:, first:], columns[first:]
        parts = [rows[:, :first]]
        for block, size in enumerate(self.outside):
            part, width = others[:, blocks == block], min(self.p, int(size))
            if part.shape[1] > width:
                triangle: Any = np.linalg.qr(part.T, mode="r")
                part = triangle.T
            parts.append(np.pad(part, ((0, 0), (0, width - part.shape[1]))))
        return np.concatenate(parts, axis=1)

    def turned(self, rows: Float[np.ndarray, "p q"]) -> Float[np.ndarray, "p k"]:
        """The rows along the target directions and p directions more, whatever their blocks."""
        along, targets = self.along_target(rows), self.padded_targets(rows.shape[1])
        triangle: Any = np.linalg.qr((rows - along @ targets).T, mode="r")
        missing = self.p - triangle.shape[0]
        return np.concatenate([along, np.pad(triangle.T, ((0, 0), (0, missing)))], axis=1)

    def padded_targets(self, q: int) -> Float[np.ndarray, "r q"]:
        """The target directions in q coordinates."""
        return np.pad(self.targets, ((0, 0), (0, q - len(self.known))))

    def seen(self, rows: Float[np.ndarray, "p q"]) -> SeenRows:
        """The rows as a new sample sees them.

        docs/derivations/blocks.md, eq. (2).
        """
        r = len(self.targets)
        vectors = np.concatenate([self.padded_targets(rows.shape[1]), rows])
        basis, triangle = np.linalg.qr((vectors * self.deviations(self.columns)).T)
        root, seen = triangle[:r, :r].T, triangle[:, r:].T
        along = np.linalg.solve(root.T, seen[:, :r].T).T
        return SeenRows(np.concatenate([along, seen[:, r:]], axis=1), root, basis)

    def summed(
        self,
        seen: SeenRows,
        known: Float[np.ndarray, "p k"],
        root: Float[np.ndarray, "p p"],
        key: np.random.Generator,
    ) -> tuple[Float[np.ndarray, "p j"], Int[np.ndarray, " j"]]:
        """Sums of coefficients times new samples, and the blocks of their coordinates.

        ``known`` are they as the rows are seen, ``root`` S has S S^T = sum c c^T.  Along all other
        directions they are S times normals.

        docs/derivations/blocks.md, eq. (3).
        """
        unseen = key.standard_normal((self.p, len(self.columns)))
        unseen -= (unseen @ seen.basis) @ seen.basis.T
        parts = [bartlett(key, self.p, int(size)) for size in self.unknown(self.columns)]
        revealed = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        columns = np.concatenate([self.columns, revealed])
        whole = [seen.in_blocks(known) + root @ unseen, *(root @ part for part in parts)]
        return np.concatenate(whole, axis=1) * self.deviations(columns), columns

    def space(self, key: np.random.Generator) -> Space:
        """The space that rows start in."""

        def gaussian(count: int) -> Float[np.ndarray, "k q"]:
            along = key.standard_normal((count, len(self.known)))
            parts = [bartlett(key, count, int(size)) for size in self.outside]
            blocks = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
            rows = np.concatenate([along, *parts], axis=1)
            return self.compressed(rows, np.concatenate([self.known, blocks]))

        def frame(count: int) -> Float[np.ndarray, "m q"]:
            vectors = gaussian(count)
            targets = self.padded_targets(vectors.shape[1])
            vectors -= (vectors @ targets.T) @ targets
            turned, triangle = np.linalg.qr(vectors.T)
            return np.concatenate([targets, (turned * np.sign(np.diagonal(triangle))).T])

        return Space(int(np.sum(self.blocks.sizes)), gaussian, frame, lambda rows: rows)
