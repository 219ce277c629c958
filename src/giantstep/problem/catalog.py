"""The papers' targets under a name: expression, source, and what is interesting about each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A target of the papers: its expression, where it is from, and why it is interesting."""

    expression: str
    source: str
    remark: str


DKLPS, MLHD, MH = "arXiv 2305.18270", "arXiv 2310.07891", "arXiv 2605.17767"
ONE_STEP = f"{DKLPS}, theorem on one step"

# 1{z > 1.5} without its Hermite degrees <= 1 (<= 2): Phi(-1.5) and phi(1.5) written out, then
# divided by the standard deviation of what is left.
_TAIL = "(1 - erf(1.5/sqrt(2)))/2"
_DENSITY = "exp(-1.125)/sqrt(2*3.141592653589793)"
_VARIANCE_1 = f"({_TAIL})*(1 - {_TAIL}) - ({_DENSITY})^2"
_VARIANCE_2 = f"{_VARIANCE_1} - (1.5*{_DENSITY})^2/2"

CLIPPED_EXPONENTIAL = "exp(2 - relu(2 - z)) + exp(2)*relu(z - 2)"
"""The activation of fresh against reused batches: exp(z), straight from z = 2 on."""

CATALOG: dict[str, Entry] = {
    "staircase": Entry(
        "x1 + x2 + x1^2 - x2^2", f"{DKLPS}, Example 1", "x1 + x2 first, x1 - x2 in the second step"
    ),
    "equal-links": Entry(
        "x1 + x2 + x1^2 + x2^2 - 2", f"{DKLPS}, Example 2", "never leaves x1 + x2"
    ),
    "joint-step": Entry(
        "x1 + x1*x2 + x1*x3", f"{DKLPS}, Example 3, first function", "x2 and x3 only as a sum"
    ),
    "split-step": Entry(
        "x1 + x1*x2 + He3(x1)*x3",
        f"{DKLPS}, Example 3, second function",
        "x2 and x3 both, in one step",
    ),
    "five-regimes": Entry(
        "x1 + He2(x2) + He2(x1)*x2 + He4(x1)*He2(x2)*x3 + He2(x2)*He2(x3)",
        f"{DKLPS}, second-layer example",
        "five regimes of n and p, five fitted functions",
    ),
    "linear": Entry("x1", ONE_STEP, "leap 1"),
    "leap-2": Entry("He2(x1) + He2(x2)", ONE_STEP, "leap 2, full rank at n ~ d^2"),
    "leap-3": Entry("He3(x1) + He3(x2)", ONE_STEP, "leap 3, full rank at n ~ d^3"),
    "hidden-by-oddness": Entry(
        "He3(x1)", "arXiv 2402.03220", "fresh batches never, reused ones through y^3"
    ),
    "even": Entry("He2(x1)", "arXiv 2402.03220", "n ~ d samples do not teach it, fresh or reused"),
    "tanh-cubic": Entry(
        "tanh(x1 + He3(x2))", "arXiv 2402.03220", "the published reused-batch simulation"
    ),
    "linear-quadratic": Entry(
        "x1 + He2(x1)/sqrt(2)", f"{MLHD}, numerical experiments", "spikes of degree 1 and 2"
    ),
    "two-step": Entry("x1 + He2(x1)/1.4", f"{MH}, two steps", "outliers of the second step"),
    "threshold": Entry(
        f"(step(x1 - 1.5) - {_TAIL} - {_DENSITY}*x1)/({_VARIANCE_1})^0.5",
        f"{MH}, fresh against reused",
        "information exponent 2: reuse learns what fresh batches cannot",
    ),
    "threshold-deep": Entry(
        f"(step(x1 - 1.5) - {_TAIL} - {_DENSITY}*x1 - 0.75*{_DENSITY}*He2(x1))/({_VARIANCE_2})^0.5",
        f"{MH}, fresh against reused",
        "threshold without its part of degree 2: information exponent 3",
    ),
}
