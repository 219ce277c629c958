"""Terms of a Hermite series in words: ``He2(x1)*x2``, and sums of them in natural order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int


def name_term(exponent: Sequence[int]) -> str:
    """``He2(x1)*x2`` for the exponents (2, 1)."""
    factors = [f"x{j + 1}" if k == 1 else f"He{k}(x{j + 1})" for j, k in enumerate(exponent) if k]
    return "*".join(factors) or "1"


def hermite_terms(
    exponents: Int[np.ndarray, "m r"], coefficients: Float[np.ndarray, " m"]
) -> dict[str, float]:
    """Coefficients of He_k from those of h_k = He_k/sqrt(k!), by name.

    In natural order: by degree, within one by x1 first: x1^2, x1*x2, x1*x3, x2^2, ...
    """
    terms = zip(exponents.tolist(), coefficients.tolist(), strict=True)
    ordered = sorted(terms, key=lambda term: (sum(term[0]), [-k for k in term[0]]))
    return {
        name_term(exponent): value / math.sqrt(math.prod(map(math.factorial, exponent)))
        for exponent, value in ordered
    }


def write_sum(terms: Mapping[str, float], most: int = 8, digits: int = 4) -> str:
    """A sum as text: its ``most`` largest terms in their order, ``...`` for the rest."""
    largest = sorted(terms, key=lambda name: -abs(terms[name]))[:most]
    text = ""
    for name in terms:
        if name not in largest:
            continue
        size = f"{abs(terms[name]):.{digits}g}"
        body = size if name == "1" else name if size == "1" else f"{size}*{name}"
        sign = "-" if terms[name] < 0 else "+"
        text += f" {sign} {body}" if text else (f"-{body}" if sign == "-" else body)
    return (text or "0") + (" + ..." if len(terms) > most else "")
