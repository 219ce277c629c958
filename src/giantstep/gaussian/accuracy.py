"""Numerical tolerances that several rooms share.

They are relative: each is compared with a share of the largest number of its kind.  A tolerance
that only one function needs is a keyword argument of that function.
"""

from __future__ import annotations

import numpy as np

EPSILON = float(np.finfo(float).eps)
"""Spacing of double precision at 1, 2.2e-16: no solver can settle closer."""

ROUNDING = 1e-12
"""Two numbers of order one that differ by less are equal: a sum of 10^4 terms rounds to 1e-12."""

NULL_DIRECTION = 1e-12
"""An eigenvalue of a Gram matrix below this share of the largest is zero: the direction has at most
a millionth of the longest one's length, and a Gram matrix itself rounds to 1e-16."""

RANK = 1e-10
"""A singular value of a given matrix below this share of the largest is zero: data of order one
with 16 digits, over a thousand rows, leave 1e-13."""

BASIS = 1e-7
"""An entry or a sine of a computed orthonormal basis below this is zero: a basis is the square root
of a Gram matrix that rounds to 1e-14."""

VANISHING = 1e-9
"""A coefficient of a function of order one, or the difference of two of its values, below this is
zero: adaptive quadrature leaves 1e-13, and an expression may cancel four digits more."""

SINGLE_PRECISION = 1e-6
"""Rounding of numbers that were computed from samples in single precision (1.2e-7 each)."""
