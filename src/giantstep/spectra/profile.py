"""Bulk of a matrix whose entries are independent with a profile of variances.

The weights after giant steps are, beside a few outliers, W_ij ~ N(0, S_ij/d) with variances
S_ij = sum_k A_ik B_jk of low rank, at most 3.  Their singular values follow the Dyson equations of
[[0, W], [W^T, 0]],

    G_i = 1/(z - sum_k A_ik h_k),   h_k = mean_j B_jk H_j,
    H_j = 1/(z - sum_k B_jk g_k),   g_k = sum_i A_ik G_i / d.

(h, g) is a fixed point of a map T of 2k numbers.  For real z above the law the sums A h and B g
increase under T, convexly: Newton's method from 0 climbs to the least fixed point, and fails
exactly where there is none, below the edge.  See docs/derivations/bulk.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Complex, Float

from giantstep.errors import InputError, NotConvergedError
from giantstep.spectra.bulk import Edge

DEPTH = 1e-5
"""Distance from the real line, in units of the edge, at which the density is read off.

It blurs an edge over 1e-5 of its place; the density is then wrong by sqrt(1e-5) there and by 1e-5
inside.
"""


@dataclass(frozen=True)
class ProfileBulk:
    """Law of the singular values of W (p x d), variances sum_k rows_ik columns_jk / d.

    rows -> A with p rows, columns -> B with d rows.  The edge is found to ``tolerance``, relative.

    docs/derivations/bulk.md, eq. (10).
    """

    rows: Float[np.ndarray, "p k"]
    columns: Float[np.ndarray, "d k"]
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        for name, values in (("rows", self.rows), ("columns", self.columns)):
            if not np.all(np.isfinite(values)):
                raise InputError(f"{name} must be finite numbers, got {values.min():g}")
        if self.rows.min() < 0 or self.columns.min() < 0:
            least = float(np.min(self.rows @ self.columns.T))
            # What rounding leaves of a variance that is zero.
            if least < -1e-9 * float(np.max(np.abs(self.rows)) * np.max(np.abs(self.columns))):
                raise InputError(f"variances of entries must not be negative, got {least:g}")

    @property
    def size(self) -> int:
        """d, the number of columns."""
        return len(self.columns)

    @property
    def rank(self) -> int:
        """Number of nonzero singular values."""
        return min(self.rows.shape[0], self.columns.shape[0])

    @cached_property
    def _pairs(self) -> tuple[Float[np.ndarray, "p q"], Float[np.ndarray, "d q"]]:
        """A_ik A_il and B_jk B_jl, (k, l) along the second axis."""
        a, b = self.rows, self.columns
        return (
            (a[:, :, None] * a[:, None, :]).reshape(len(a), -1),
            (b[:, :, None] * b[:, None, :]).reshape(len(b), -1),
        )

    # -- above the law --------------------------------------------------------------------------

    def _map(
        self, z: np.ndarray, state: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """T(state) with its Jacobian, G and H; state = (h, g) for each z, along the last axis."""
        k = self.rows.shape[1]
        left, right = (1.0 / (z[..., None] - part) for part in self._sums(state))
        image = np.concatenate(
            [right @ self.columns / self.size, left @ self.rows / self.size], axis=-1
        )
        jacobian = np.zeros((*image.shape, 2 * k), image.dtype)
        squares = (right**2 @ self._pairs[1], left**2 @ self._pairs[0])
        jacobian[..., :k, k:] = squares[0].reshape(*image.shape[:-1], k, k)
        jacobian[..., k:, :k] = squares[1].reshape(*image.shape[:-1], k, k)
        return image, jacobian / self.size, left, right

    def _sums(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A h and B g, what G and H subtract from z."""
        k = self.rows.shape[1]
        return state[..., :k] @ self.rows.T, state[..., k:] @ self.columns.T

    def _least(self, z: float) -> Float[np.ndarray, " q"] | None:
        """The least positive fixed point at real z, None where there is none."""
        k = self.rows.shape[1]
        state = np.zeros(2 * k)
        for _ in range(200):
            image, jacobian, left, right = self._map(np.array(z), state)
            if left.min() <= 0 or right.min() <= 0:
                return None
            change = np.linalg.solve(np.eye(2 * k) - jacobian, image - state)
            # A climb from below never turns back while a fixed point is above.
            climb = min(np.min(part) for part in self._sums(change))
            if climb < -1e-9 * z:
                return None
            state = state + change
            if np.max(np.abs(change)) <= 1e-13 * np.max(np.abs(state)):
                return state
        return None

    def means(self, z: float) -> tuple[float, float]:
        """Means of G_i over the rows and of H_j over the columns at real z above the law."""
        state = self._least(z)
        if state is None:
            raise InputError(f"z must lie above the bulk, got {z:g}")
        _, _, left, right = self._map(np.array(z), state)
        return float(left.mean()), float(right.mean())

    @property
    def top(self) -> float:
        """The upper edge as a singular value."""
        return self._top[0]

    @cached_property
    def _top(self) -> tuple[float, Float[np.ndarray, " q"]]:
        """The upper edge as a singular value, and the fixed point just above it."""
        # The norm is at most twice the largest root of a row's or column's summed variance.
        row = float(np.max(self.rows @ self.columns.mean(axis=0)))
        column = float(np.max(self.columns @ self.rows.sum(axis=0))) / self.size
        place = 1.01 * (math.sqrt(row) + math.sqrt(column))
        state = self._least(place)
        if state is None:
            raise NotConvergedError(f"no solution of the profile equations at {place:g}")
        low, way, opening = 0.0, place, self._opening(place, state)
        # The fixed point there has the square root of that accuracy.
        while min(way, place - low) > self.tolerance * place:
            ahead = place - 0.95 * way  # most of the expected way to the edge
            middle = ahead if ahead > low else 0.5 * (low + place)
            solution = self._least(middle)
            if solution is None:
                low = middle
                continue
            # The opening falls to 0 at the edge, there linearly.
            narrow = self._opening(middle, solution)
            if narrow < opening:
                way = (place - middle) * narrow / (opening - narrow)
            place, state, opening = middle, solution, narrow
        return place, state

    def _opening(self, z: float, state: Float[np.ndarray, " q"]) -> float:
        """(1 - rate)^2, rate the largest eigenvalue of T' at the fixed point: 1 at the edge."""
        rates = np.linalg.eigvals(self._map(np.array(z), state)[1])
        return (1.0 - float(np.max(rates.real))) ** 2

    @cached_property
    def upper(self) -> Edge:
        """The upper end, as an eigenvalue of W^T W, with its Tracy-Widom scale.

        At the edge 1 - T' has null vectors (right r, left l), and for z below it the state moves by
        i r sqrt(2 |l.T_z| (edge - z)/(l.T''(r, r))).
        """
        edge, state = self._top
        _, jacobian, left, right = self._map(np.array(edge), state)
        null, dual = (_leading(matrix) for matrix in (jacobian, jacobian.T))
        # Both sums have one sign; that of the dual cancels.
        tilted, turned = (np.abs(part) for part in self._sums(null))
        # T_z and T''(r, r): derivatives of 1/(z - .).
        fall = np.r_[right**2 @ self.columns, left**2 @ self.rows] / self.size
        bend = np.r_[
            (2.0 * right**3 * turned**2) @ self.columns, (2.0 * left**3 * tilted**2) @ self.rows
        ]
        rate = math.sqrt(2.0 * float(dual @ fall) / float(dual @ bend / self.size))
        # Singular values have density (2/pi) |Im sum_j H_j| = (1/pi) strength sqrt(edge - x).
        strength = 2.0 * rate * float(np.sum(right**2 * turned))
        scale = strength ** (-2.0 / 3.0)
        return Edge(edge**2, 0.0, 2.0 * edge * scale, 1)

    # -- inside ---------------------------------------------------------------------------------

    def solve(
        self, z: Complex[np.ndarray, " m"], solved: float = 1e-12, on_the_way: float = 1e-4
    ) -> tuple[Complex[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """mean_j H_j at Im z > 0, and the residual of its equations.

        The imaginary part comes down from the size of the edge, a quarter at a time; at each height
        Newton's step where it lowers the residual in the right half plane, else an average.
        solved, on_the_way -> residuals at the height asked for, and at those that lead to it.
        """
        k = self.rows.shape[1]
        height = max(self._top[0], float(np.max(z.imag)))
        state = np.zeros((len(z), 2 * k), complex)
        residual = np.zeros(len(z))
        while np.any(height > z.imag):
            height = 0.25 * height
            at = z.real + 1j * np.maximum(z.imag, height)
            going = np.arange(len(z))
            enough = on_the_way if np.any(height > z.imag) else solved
            for _ in range(1000):
                following, residual[going] = self._improve(at[going], state[going])
                unsolved = residual[going] > solved
                state[going[unsolved]] = following[unsolved]
                going = going[residual[going] > enough]
                if len(going) == 0:
                    break
        return self._map(z, state)[3].mean(axis=-1), residual

    def _improve(
        self, z: Complex[np.ndarray, " m"], state: Complex[np.ndarray, "m q"]
    ) -> tuple[Complex[np.ndarray, "m q"], Float[np.ndarray, " m"]]:
        """One step, and the residual it started from."""
        image, jacobian, _, _ = self._map(z, state)
        gap = image - state
        size = np.max(np.abs(gap), axis=1)
        change = np.linalg.solve(np.eye(jacobian.shape[-1]) - jacobian, gap[..., None])[..., 0]
        following, left = 0.5 * (state + image), np.arange(len(z))
        for share in (1.0, 0.5, 0.2, 0.05):
            newton = state[left] + share * change[left]
            residual = np.max(np.abs(self._map(z[left], newton)[0] - newton), axis=1)
            lower = [np.all(part.imag <= 0, axis=1) for part in self._sums(newton)]
            good = (residual < (1.0 - 0.3 * share) * size[left]) & lower[0] & lower[1]
            following[left[good]] = newton[good]
            left = left[~good]
            if len(left) == 0:
                break
        return following, size

    def density(self, values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """Density of the nonzero singular values, read off at DEPTH above the real line."""
        x = np.asarray(values, dtype=float)
        depth = DEPTH * self._top[0]
        trace, residual = self.solve(x + 1j * depth)
        if residual.max(initial=0.0) > 1e-8:
            raise NotConvergedError(
                f"profile equations did not converge, residual {residual.max():g}"
            )
        # Columns beyond the rank are an atom at zero, (1 - p/d)/z.
        empty = (1.0 - self.rank / self.size) / (x + 1j * depth)
        return np.maximum(-2.0 * (trace - empty).imag * self.size / (np.pi * self.rank), 0.0)

    @cached_property
    def ends(self) -> tuple[tuple[Edge, Edge], ...]:
        """One interval: from where the density starts, to DEPTH, to the exact upper end."""
        top = self._top[0]
        floor = 1e-2 / top
        places = np.linspace(0.0, top, 129)
        low, high = self._rise(places, floor)
        while low > 0.0 and high - low > DEPTH * top:
            low, high = self._rise(np.linspace(low, high, 34), floor)
        return ((Edge(low**2, 0.0, 0.0, -1), self.upper),)

    def _rise(self, places: Float[np.ndarray, " m"], floor: float) -> tuple[float, float]:
        """The neighbours between which the density first passes a floor, below it at the first."""
        inside = self.density(places[1:-1]) > floor
        first = int(np.argmax(np.append(inside, True)))
        return float(places[first]), float(places[first + 1])

    @property
    def edges(self) -> tuple[tuple[float, float], ...]:
        """The interval of singular values."""
        [(low, high)] = self.ends
        return ((math.sqrt(low.place), math.sqrt(high.place)),)


def _leading(matrix: Float[np.ndarray, "q q"]) -> Float[np.ndarray, " q"]:
    """Eigenvector of the largest eigenvalue, which is real and simple."""
    values, vectors = np.linalg.eig(matrix)
    return np.asarray(vectors[:, np.argmax(values.real)].real)
