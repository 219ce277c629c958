"""Generalised Marchenko-Pastur laws: density, edges, their fluctuations, Stieltjes transform.

The n x n matrix K = F F^T/n of n independent rows with covariance of eigenvalues s_j (fraction
c_j = number of them over n) has in the limit the Stieltjes transform m(z) = E 1/(x - z),

    1/m = -z + sum_j c_j s_j/(1 + m s_j).

With v = -1/m this reads z = v + sum_j c_j s_j v/(v - s_j), dz/dv = 1 - phi(v) where
phi(v) = sum_j c_j s_j^2/(v - s_j)^2.  On the real line outside the law v is real and phi < 1: the
edges are the roots of phi = 1.  Inside, v = a + ib with b > 0 the root of
sum_j c_j s_j^2/((a - s_j)^2 + b^2) = 1, which makes z real; z increases with a, so that the density
b/(pi |v|^2) needs two nested root searches and no continuation.  See docs/derivations/bulk.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Complex, Float

from giantstep.errors import InputError, NotConvergedError
from giantstep.language.brief import brief
from giantstep.spectra.tracy_widom import tracy_widom_moments

# Tolerances of Brent's method are this times the size of what is sought.
ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Edge:
    """An end of the bulk in the eigenvalues of K = F F^T/n.

    At finite size the extreme eigenvalue is place + shift + side * scale * TW_1, up to smaller
    terms: ``place`` is the limit, ``shift`` of order 1/n, ``scale`` of order n^(-2/3), and side is
    1 at an upper end, -1 at a lower one.  Scale 0 says that no law of the fluctuations is
    known: a hard edge at zero, the lower end of a profile.
    """

    place: float
    shift: float
    scale: float
    side: int


@dataclass(frozen=True)
class Bulk:
    """Law of the eigenvalues of K = F F^T/n and of the singular values of F/sqrt(n).

    scales -> s_j > 0 in increasing order, masses -> c_j, size -> n.  ``breaks`` are the j at which
    the population truly has a gap between s_j and s_{j+1}; None says all of them are atoms.
    ``fixed_rows``: the population's members have fixed length, as rows on a sphere have.

    1/m = -z + sum_j c_j s_j/(1 + m s_j) for the Stieltjes transform m(z), n large: the law of
    Marchenko and Pastur for the scales s_j (docs/derivations/bulk.md); edges fluctuate by Tracy and
    Widom's law.

    docs/theory/index.md, eq. (7); docs/derivations/bulk.md, eqs. (1) and (2).
    """

    scales: Float[np.ndarray, " m"]
    masses: Float[np.ndarray, " m"]
    size: int
    breaks: tuple[int, ...] | None = None
    fixed_rows: bool = False

    __repr__ = brief

    def __post_init__(self) -> None:
        if len(self.scales) == 0 or np.any(self.scales <= 0) or np.any(np.diff(self.scales) < 0):
            raise InputError("scales must be positive and increasing")
        if np.any(self.masses <= 0):
            raise InputError(f"masses must be positive, got {self.masses.min():g}")

    @property
    def aspect(self) -> float:
        """Number of population eigenvalues over n."""
        return float(np.sum(self.masses))

    @property
    def zero_mass(self) -> float:
        """Fraction of the n eigenvalues of K that are zero."""
        return max(0.0, 1.0 - self.aspect)

    # -- the map z(v) ---------------------------------------------------------------------------

    def _phi(self, v: float) -> float:
        return float(np.sum(self.masses * (self.scales / (v - self.scales)) ** 2))

    def _place(self, v: float) -> float:
        return v * (1.0 + float(np.sum(self.masses * self.scales / (v - self.scales))))

    def _z(self, v: np.ndarray) -> np.ndarray:
        """z = v + sum_j c_j s_j v/(v - s_j), real or complex."""
        terms = self.masses * self.scales / (v[..., None] - self.scales)
        return v * (1.0 + np.sum(terms, axis=-1))

    @cached_property
    def _ends(self) -> tuple[tuple[float, float], ...]:
        """Intervals (v at the lower edge, v at the upper edge), increasing."""
        s = [float(scale) for scale in self.scales]
        # phi grows from 0 to infinity on (-inf, s_1): sum c s^2/(v-s)^2 < 1 for v < s_1 - sqrt(..).
        reach = math.sqrt(float(np.sum(self.masses * self.scales**2)))
        low = self._root(s[0] - reach * 1.01, s[0])
        high = self._root(s[-1], s[-1] + reach * 1.01)
        inner = range(len(s) - 1) if self.breaks is None else self.breaks
        ends, start = [], low
        for j in inner:
            middle = self._valley(s[j], s[j + 1])
            if middle is None:
                continue
            ends.append((start, self._root(s[j], middle)))
            start = self._root(middle, s[j + 1])
        return (*ends, (start, high))

    def _root(self, left: float, right: float) -> float:
        """phi = 1 between an atom and a place where phi < 1, phi monotone between them.

        phi^(-1/2) is 0 at the atom, and nearly a straight line.
        """
        from scipy.optimize import brentq

        def gap(v: float) -> float:
            with np.errstate(divide="ignore"):
                return self._phi(v) ** -0.5 - 1.0

        return float(brentq(gap, left, right, xtol=ROUNDING * (right - left)))

    def _valley(self, left: float, right: float) -> float | None:
        """The least point of phi between two atoms, where phi is convex; None unless phi < 1."""
        from scipy.optimize import brentq

        if not right > left * (1.0 + 1e-9):  # atoms that are one but for rounding
            return None

        def slope(v: float) -> float:
            # Of phi^(-1/2), concave between the atoms and with finite slopes at them.
            cubes = self.masses * self.scales**2 / (v - self.scales) ** 3
            return float(np.sum(cubes)) * self._phi(v) ** -1.5

        ends = np.nextafter(left, right), np.nextafter(right, left)
        middle = float(brentq(slope, *ends, xtol=ROUNDING * (right - left)))
        return middle if self._phi(middle) < 1.0 else None

    # -- edges ----------------------------------------------------------------------------------

    @cached_property
    def ends(self) -> tuple[tuple[Edge, Edge], ...]:
        """Lower and upper end of each interval of the law of the eigenvalues, zero excluded."""
        return tuple((self._edge(low, -1), self._edge(high, 1)) for low, high in self._ends)

    @property
    def edges(self) -> tuple[tuple[float, float], ...]:
        """The intervals of singular values of F/sqrt(n), increasing."""
        return tuple((math.sqrt(low.place), math.sqrt(high.place)) for low, high in self.ends)

    @property
    def upper(self) -> Edge:
        """The upper end of the law."""
        return self.ends[-1][1]

    def _edge(self, v: float, side: int) -> Edge:
        """Place z(v), scale (v^4 |z2|/(2 n^2))^(1/3), shift v^2 z3/(6 z2 n) where z1 = 0.

        zk is the k-th derivative of z(v).  Rows of fixed length lack the variance 2/n of a Gaussian
        row's squared length, which would move the edge by v^2 z2/n and, all rows together, add the
        variance 2 z^2/(aspect n^2).

        docs/derivations/bulk.md, eqs. (4), (7) and (8).
        """
        n = self.size
        # At aspect 1 the law reaches down to zero, v = 0: a hard edge, which is not Tracy-Widom's.
        if abs(v) < 1e-7 * self.scales[0]:
            return Edge(0.0, 0.0, 0.0, side)
        second = 2.0 * float(np.sum(self.masses * self.scales**2 / (v - self.scales) ** 3))
        third = -6.0 * float(np.sum(self.masses * self.scales**2 / (v - self.scales) ** 4))
        place = max(0.0, self._place(v))
        scale = float((v**4 * abs(second) / (2.0 * n**2)) ** (1.0 / 3.0))
        shift, variance = v**2 * third / (6.0 * second * n), 0.0
        if self.fixed_rows:
            shift -= v**2 * second / n
            variance -= 2.0 * place**2 / (self.aspect * n**2)
        stretch = 1.0 + variance / (tracy_widom_moments()[1] * scale**2) if variance else 1.0
        # Where the corrections are as large as the law itself they mean nothing.
        return Edge(place, float(shift), scale * math.sqrt(max(stretch, 0.25)), side)

    # -- density --------------------------------------------------------------------------------

    def eigenvalue_density(self, values: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """Density at x > 0 of the n eigenvalues of K; it integrates to 1 - zero_mass."""
        x = np.asarray(values, dtype=float)
        density = np.zeros(x.shape)
        for interval, (first, last) in enumerate(self.ends):
            inside = (x > first.place) & (x < last.place)
            if np.any(inside):
                v = self._inside(x[inside], interval)
                density[inside] = v.imag / (np.pi * np.abs(v) ** 2)
        return density

    def density(self, values: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """Density of the nonzero singular values of F/sqrt(n); it integrates to 1."""
        x = np.asarray(values, dtype=float)
        return 2.0 * x * self.eigenvalue_density(x**2) / (1.0 - self.zero_mass)

    def cdf(self, values: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """Distribution function of the nonzero singular values of F/sqrt(n)."""
        below = np.zeros(np.shape(values))
        for (x, v), (low, _) in zip(self._curves, self.ends, strict=True):
            # dF = 2 sqrt(x) Im(-1/v) d(sqrt x) / pi, by trapezoids along the curve.
            root = np.sqrt(np.maximum(x, 0.0))
            height = 2.0 * root * v.imag / (np.pi * np.maximum(np.abs(v) ** 2, 1e-300))
            if low.place == 0.0:  # a hard edge: 0/0 at the end, but smooth in sqrt(x)
                height[0] = height[1]
            steps = 0.5 * (height[1:] + height[:-1]) * np.diff(root)
            total = np.r_[0.0, np.cumsum(steps)] / (1.0 - self.zero_mass)
            below += np.interp(values, root, total)
        return below

    @cached_property
    def _curves(self) -> tuple[tuple[Float[np.ndarray, " q"], Complex[np.ndarray, " q"]], ...]:
        """(x, v) along each interval of the law: x = z(v) real and increasing."""
        curves = []
        for low, high in self._ends:
            # Trapezoids along so many points give the mass to 2e-5.
            angle = np.linspace(0.0, np.pi, 801)
            a = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
            v = a + 1j * self._height(a)
            curves.append((np.maximum.accumulate(self._z(v).real), v))
        return tuple(curves)

    def _inside(self, x: Float[np.ndarray, " k"], interval: int) -> Complex[np.ndarray, " k"]:
        """v with z(v) = x inside an interval of the law: Newton from the curve, else bisection."""
        knots, curve = self._curves[interval]
        v = np.interp(x, knots, curve.real) + 1j * np.interp(x, knots, curve.imag)
        powers = self.masses * self.scales**2
        for _ in range(8):
            slope = 1.0 - np.sum(powers / (v[:, None] - self.scales) ** 2, axis=1)
            v = v - (self._z(v) - x) / slope
        bad = ~((np.abs(self._z(v) - x) <= 1e-10 * np.abs(x)) & (v.imag > 0))
        if np.any(bad):
            v[bad] = self._bisected(x[bad], *self._ends[interval])
        return v

    def _bisected(
        self, x: Float[np.ndarray, " k"], low: float, high: float
    ) -> Complex[np.ndarray, " k"]:
        """v = a + ib with z(v) = x, by bisection over a: z increases along the curve.

        All x at once: one at a time Brent's method would evaluate the heights k times as often.
        """
        left, right = np.full(x.shape, low), np.full(x.shape, high)
        for _ in range(60):  # from any size down to rounding
            a = 0.5 * (left + right)
            below = self._z(a + 1j * self._height(a)).real < x
            left, right = np.where(below, a, left), np.where(below, right, a)
        a = 0.5 * (left + right)
        return a + 1j * self._height(a)

    def _height(self, a: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """b > 0 with sum_j c_j s_j^2/((a - s_j)^2 + b^2) = 1, by Newton's method on 1/sum - 1."""
        powers, gaps = self.masses * self.scales**2, (a[:, None] - self.scales) ** 2
        # 1/sum is concave and increasing in b^2: from the left Newton's steps never overshoot.
        square = np.zeros(a.shape)
        square += np.maximum(0.0, np.max(powers - gaps, axis=1))
        square = np.maximum(square, 1e-300)
        for _ in range(60):
            ratio = powers / (gaps + square[:, None])
            total = np.sum(ratio, axis=1)
            slope = np.sum(ratio / (gaps + square[:, None]), axis=1)
            change = (total - 1.0) * total / slope
            square = np.maximum(square + change, 0.0)
            if np.all(np.abs(change) <= 1e-14 * square):
                break
        return np.sqrt(square)

    # -- Stieltjes transform --------------------------------------------------------------------

    def stieltjes(self, z: complex | float) -> complex:  # noqa: PYI041 - beartype tells them apart
        """m(z) = lim tr (K - z)^-1 / n, for complex z, or real z outside the law."""
        if isinstance(z, complex) and z.imag != 0.0:
            m = self._complex(complex(z.real, abs(z.imag)))
            return m if z.imag > 0 else m.conjugate()
        return complex(-1.0 / self._real(float(z.real)))

    def m1(self, ridge: float) -> float:
        """lim tr (K + ridge)^-1 / n."""
        if not ridge > 0:
            raise InputError(f"ridge must be positive, got {ridge:g}")
        return float(self.stieltjes(-ridge).real)

    def _real(self, z: float) -> float:
        """v with z(v) = z on a real interval outside the law, where z(v) increases."""
        from scipy.optimize import brentq

        if z == 0.0:
            raise InputError("z must not be 0, an eigenvalue of K may be there, got 0")
        reach = abs(z) + 2.0 * float(np.sum(self.masses * self.scales)) + self.scales[-1]
        # Far out z(v) = v + sum c s + O(1/v).
        outside = [
            -reach - self.upper.place,
            *(v for pair in self._ends for v in pair),
            reach + self.upper.place,
        ]
        for left, right in zip(outside[::2], outside[1::2], strict=True):
            if self._place(left) < z < self._place(right):
                # v may be as small as z, many halvings away: its own digits count.
                xtol = ROUNDING * abs(z)
                return float(
                    brentq(lambda v: self._place(v) - z, left, right, xtol=xtol, maxiter=1000)
                )
        raise InputError(f"z must lie outside the bulk, got {z:g}")

    def _complex(self, z: complex | float) -> complex:  # noqa: PYI041 - beartype tells them apart
        """m at Im z > 0: v <- z - sum c s - sum c s^2/(v - s) maps Im v >= Im z into itself.

        The plain iteration always converges, slowly near the law; Newton's step is taken instead
        wherever it keeps Im v >= Im z and lowers the residual.
        """
        flat = float(np.sum(self.masses * self.scales))
        powers = self.masses * self.scales**2

        def gap(v: complex) -> complex:
            return z - flat - complex(np.sum(powers / (v - self.scales))) - v

        v, residual = z, abs(gap(z))
        for _ in range(10_000):
            if residual <= 1e-13 * (abs(z) + flat):
                return -1.0 / v
            slope = 1.0 - complex(np.sum(powers / (v - self.scales) ** 2))
            newton = v + gap(v) / slope
            if newton.imag >= z.imag and abs(gap(newton)) < 0.5 * residual:
                v = newton
            else:
                v = v + 0.5 * gap(v)
            residual = abs(gap(v))
        raise NotConvergedError(f"stieltjes({z}) did not converge, residual {residual:.1e}")
