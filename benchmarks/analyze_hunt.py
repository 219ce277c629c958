"""Random targets against a Monte Carlo of the definitions: does ``analyze`` ever err?

``python -m benchmarks analyze_hunt [--count=2000] [--seed=1]``.  Polynomials, kinks of polynomials,
smooth compositions, products and sums of them in at most six directions, a third of them rotated.
The oracle knows nothing of the package: it evaluates the target itself and averages over SAMPLES
independent normal points.

What it checks, in standard errors of its own (LEVEL: 5.5, a probability of 4e-8 each, some 300
comparisons a target and 2,000 targets: 0.02 false alarms), where sizes are in standard deviations
of the target:
- the variance, and the coefficients of the deciding tensor T_l;
- degrees below the leap index: nothing beyond RELEVANT, the size the package may call absent;
- each step of the fresh staircase: what it adds is seen (or is too small to be seen), and what it
  leaves out, undecided directions apart, is not there beyond RELEVANT;
- the generative exponent: E[z | slice of y] and E[z z^T - 1 | slice of y];
- the narrow floors, by pairs of points that share x_U.

It prints how long the analyses take, beside this Monte Carlo.  ``--fresh=40`` does nothing but
time so many targets with kinks in two to four variables: analysed one after the other, and by the
command line in a process of its own each.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

from giantstep.analysis.analyze import Analysis, analyze
from giantstep.errors import InputError

SAMPLES = 400_000
LEVEL = 5.5
RELEVANT = 0.03
SLICES = 12
SECONDS = 2.0

Values = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Example:
    """A target as text, and its values at the rows of x."""

    text: str
    r: int
    values: Values


def _hermite(k: int, z: np.ndarray) -> np.ndarray:
    before, now = np.zeros_like(z), np.ones_like(z)
    for j in range(k):
        before, now = now, z * now - j * before
    return now


KINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda z: np.maximum(z, 0.0),
    "abs": np.abs,
    "sign": np.sign,
    "step": lambda z: (z > 0).astype(float),
    "leaky_relu": lambda z: np.where(z > 0, z, 0.01 * z),
}
SMOOTH: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "atan": np.arctan,
}

Part = tuple[str, Values]


def _polynomial(rng: np.random.Generator, names: Sequence[str], terms: int, degree: int) -> Part:
    """A sparse sum of Hermite products."""
    texts: list[str] = []
    listed: list[tuple[float, list[tuple[int, int]]]] = []
    for _ in range(terms):
        size = int(rng.integers(1, min(3, len(names)) + 1))
        chosen = sorted(rng.choice(len(names), size, replace=False).tolist())
        powers = [int(k) for k in rng.integers(1, max(2, degree - size + 2), size)]
        scale = math.sqrt(math.prod(math.factorial(k) for k in powers))
        c = float(rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])) / scale
        product = "*".join(f"He{k}({names[j]})" for j, k in zip(chosen, powers, strict=True))
        texts.append(f"{c!r}*{product}")
        listed.append((c, list(zip(chosen, powers, strict=True))))

    def values(x: np.ndarray) -> np.ndarray:
        total = np.zeros(len(x))
        for c, factors in listed:
            part = np.full(len(x), c)
            for j, k in factors:
                part *= _hermite(k, x[:, j])
            total += part
        return total

    return " + ".join(texts).replace("+ -", "- "), values


def _composed(rng: np.random.Generator, names: Sequence[str], functions: dict[str, Values]) -> Part:
    """A function of a polynomial of low degree, shifted half of the time."""
    inner, values = _polynomial(rng, names, int(rng.integers(1, 4)), 2)
    name = str(rng.choice(sorted(functions)))
    shift = float(rng.choice([0.0, 0.0, 0.5, -1.0]))
    outer = functions[name]
    return f"{name}({inner} + {shift!r})", lambda x: outer(values(x) + shift)


def _line(rng: np.random.Generator, names: Sequence[str]) -> Part:
    """A function of one coordinate."""
    j = int(rng.integers(len(names)))
    name = str(rng.choice(sorted(KINKS | SMOOTH)))
    outer = (KINKS | SMOOTH)[name]
    scale = float(rng.choice([0.5, 1.0, 2.0]))
    return f"{name}({scale!r}*{names[j]})", lambda x: outer(scale * x[:, j])


def _part(rng: np.random.Generator, names: Sequence[str]) -> Part:
    kind = int(rng.integers(5))
    if kind == 0:
        return _polynomial(rng, names, int(rng.integers(1, 5)), 4)
    if kind == 1:
        return _composed(rng, names, KINKS)
    if kind == 2:
        return _composed(rng, names, SMOOTH)
    if kind == 3:
        (a, f), (b, g) = _line(rng, names), _line(rng, names)
        return f"{a}*{b}", lambda x: f(x) * g(x)
    (a, f), (b, g) = _line(rng, names), _polynomial(rng, names, 1, 2)
    return f"{a}*({b})", lambda x: f(x) * g(x)


def example(seed: int, index: int) -> Example:
    """The random target of a seed and a number."""
    rng = np.random.default_rng([seed, index])
    r = int(rng.integers(1, 7))
    frame = np.eye(r)
    names = [f"x{k + 1}" for k in range(r)]
    if r > 1 and index % 3 == 2:
        frame = np.linalg.qr(rng.standard_normal((r, r)))[0]
        names = [
            "(" + " + ".join(f"{c!r}*x{k + 1}" for k, c in enumerate(row)) + ")"
            for row in frame.tolist()
        ]
    parts = [_part(rng, names) for _ in range(int(rng.choice([1, 1, 2])))]
    text = " + ".join(text for text, _ in parts)
    functions = [values for _, values in parts]
    return Example(text, r, lambda x: sum((f(x @ frame.T) for f in functions), np.zeros(len(x))))


def kinked(seed: int, index: int) -> str:
    """A random target with kinks in two to four variables."""
    rng = np.random.default_rng([seed, index])
    names = [f"x{k + 1}" for k in range(int(rng.integers(2, 5)))]
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        (a, b), (x, y) = rng.choice(sorted(KINKS), 2), rng.choice(names, 2, replace=False)
        kind = int(rng.integers(3))
        composed = _composed(rng, names, KINKS)[0]
        parts.append((composed, f"{a}({x})*{b}({y})", f"{a}({x} - {y})")[kind])
    return " + ".join(parts)


@dataclass
class Verdict:
    """What the oracle holds against an analysis."""

    wrong: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


def _mean(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means over the first axis and their standard errors."""
    return values.mean(axis=0), values.std(axis=0) / math.sqrt(len(values)) + 1e-12


def _products(x: np.ndarray, degree: int) -> dict[tuple[int, ...], np.ndarray]:
    """Orthonormal Hermite products of the columns of x, of total degree 0 .. degree."""
    h = [
        [_hermite(k, column) / math.sqrt(math.factorial(k)) for k in range(degree + 1)]
        for column in x.T
    ]
    found = {}
    for total in range(degree + 1):
        for chosen in combinations_with_replacement(range(x.shape[1]), total):
            alpha = tuple(chosen.count(j) for j in range(x.shape[1]))
            product = np.ones(len(x))
            for j, k in enumerate(alpha):
                if k:
                    product = product * h[j][k]
            found[alpha] = product
    return found


def _seen(matrix: np.ndarray, errors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Largest size over its standard error, for each direction, of rows times it."""
    sizes = np.abs(matrix @ directions.T)
    noise = np.sqrt(errors**2 @ (directions.T**2)) + 1e-12
    return np.max(sizes / noise, axis=0, initial=0.0)


def judge(case: Example, found: Analysis, samples: int = SAMPLES, seed: int = 0) -> Verdict:
    """Compare an analysis with the oracle."""
    rng = np.random.default_rng([seed, 77])
    x = rng.standard_normal((samples, case.r))
    y = case.values(x)
    verdict = Verdict()
    sd = float(y.std())
    record = found.as_dict()
    mean, error = _mean((y - y.mean()) ** 2)
    if abs(mean - record["variance"]) > LEVEL * error + record["variance_uncertainty"] + 1e-9:
        verdict.wrong.append(f"variance {record['variance']:.5g}, sampled {mean:.5g} ± {error:.1g}")
    _judge_leap(verdict, found, x, y, sd)
    _judge_stairs(verdict, found, x, y, sd)
    _judge_generative(verdict, found, x, y)
    _judge_floors(verdict, case, found, rng, samples)
    return verdict


def _judge_leap(verdict: Verdict, found: Analysis, x: np.ndarray, y: np.ndarray, sd: float) -> None:
    undecided = any(text.startswith("leap index") for text in found.undecided)
    top = min(found.leap_index or 4, 3)
    for alpha, product in _products(x, top).items():
        degree = sum(alpha)
        if not degree:
            continue
        mean, error = _mean(y * product)
        below = found.leap_index is None or degree < found.leap_index
        if below and not undecided and abs(mean) > LEVEL * error + RELEVANT * sd:
            verdict.wrong.append(f"leap {found.leap_index}, but T_{degree} has {mean / sd:.3g} sd")
        if degree == found.leap_index:
            match = (found.series.exponents == np.array(alpha)).all(axis=1)
            claimed = float(found.series.coefficients[match].sum())
            doubt = float(found.series.standard_errors[match].sum())
            if abs(mean - claimed) > LEVEL * math.hypot(error, doubt):
                verdict.wrong.append(f"T_{degree}{alpha} {claimed:.4g}, sampled {mean:.4g}")


def _judge_stairs(
    verdict: Verdict, found: Analysis, x: np.ndarray, y: np.ndarray, sd: float
) -> None:
    r = x.shape[1]
    before = np.zeros((0, r))
    for step, (basis, decision) in enumerate(
        zip(found.fresh.bases, found.fresh.decisions, strict=True), start=1
    ):
        rows = list(_products(x @ before.T, 3 if len(before) <= 2 else 2).values())
        matrix, errors = (
            np.array(part)
            for part in zip(*(_mean((y * row)[:, None] * x) for row in rows), strict=True)
        )
        outside = (
            np.linalg.svd(basis, full_matrices=True)[2][len(basis) :] if len(basis) else (np.eye(r))
        )
        sizes, noise = np.abs(matrix @ outside.T), np.sqrt(errors**2 @ (outside.T**2))
        missed = sizes > LEVEL * noise + RELEVANT * sd
        if not decision.undecided and missed.any():
            verdict.wrong.append(f"step {step} misses a direction of {sizes.max() / sd:.3g} sd")
        added = found.fresh.added(step)
        faint = _seen(matrix, errors, added) < 4.5
        if faint.any():
            verdict.unseen.append(f"step {step}: kept {decision.smallest_kept:.3g}")
        before = basis


def _judge_generative(verdict: Verdict, found: Analysis, x: np.ndarray, y: np.ndarray) -> None:
    undecided = any(text.startswith("generative") for text in found.undecided)
    edges = np.unique(np.quantile(y, np.arange(1, SLICES) / SLICES))
    at = np.searchsorted(edges, y, side="left")
    largest = {1: 0.0, 2: 0.0}
    sure = {1: 0.0, 2: 0.0}
    for alpha, product in _products(x, 2).items():
        degree = sum(alpha)
        for k in range(len(edges) + 1) if degree else ():
            inside = at == k
            share = inside.mean()
            if share < 1e-3:
                continue
            mean, error = _mean(product * inside)
            # In standard deviations of the slice's own indicator.
            spread = math.sqrt(share * (1 - share)) + 1e-12
            largest[degree] = max(largest[degree], abs(float(mean)) / float(error))
            if abs(mean) > LEVEL * error:
                excess = abs(float(mean)) - LEVEL * float(error)
                sure[degree] = max(sure[degree], excess / spread)
    claimed = found.generative_exponent
    for degree in (1, 2):
        below = claimed is None or degree < claimed
        if below and not undecided and sure[degree] > RELEVANT:
            verdict.wrong.append(f"generative {claimed}, degree {degree} has {sure[degree]:.3g}")
        if claimed == degree and largest[degree] < 4.5:
            verdict.unseen.append(f"generative exponent {claimed}")


def _judge_floors(
    verdict: Verdict, case: Example, found: Analysis, rng: np.random.Generator, samples: int
) -> None:
    for step, entry in enumerate(found.floors_any):
        project = entry.basis.T @ entry.basis
        common, one, two = (rng.standard_normal((samples, case.r)) for _ in range(3))
        shared = common @ project
        pair = [case.values(shared + rest - rest @ project) for rest in (one, two)]
        mean, error = _mean(0.5 * (pair[0] - pair[1]) ** 2)
        if abs(mean - entry.narrow) > LEVEL * error + entry.narrow_uncertainty + 1e-6 * (1 + mean):
            verdict.wrong.append(
                f"floor after step {step}: {entry.narrow:.4g}, sampled {mean:.4g} ± {error:.1g}"
            )


def _fresh_seconds(text: str) -> float:
    """Processor time of the command line in a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "giantstep", "analyze", text]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time_fresh(count: int, seed: int) -> None:
    """Time analyses of targets with kinks, in this process and in new ones."""
    least = min(_fresh_seconds("x1") for _ in range(4))
    here, alone = [], []
    for index in range(count):
        text = kinked(seed, index)
        start = time.process_time()
        analyze(text)
        here.append(time.process_time() - start)
        alone.append(_fresh_seconds(text))
        print(f"{index} {here[-1]:.2f} s here, {alone[-1]:.2f} s alone: {text}", flush=True)
    for place, seconds in (("in one process", here), ("in a process each", alone)):
        median, high = np.quantile(seconds, [0.5, 0.95])
        print(
            f"analyze_hunt {count} targets with kinks, seed {seed}, {place}: median {median:.2f}, "
            f"95 % {high:.2f}, worst {max(seconds):.2f} s of one core"
        )
    print(f"a process that analyses x1: {least:.2f} s, median ratio {np.median(alone) / least:.2f}")


def main() -> None:
    """Hunt; print every wrong answer, then one line of counts."""
    given = dict(a[2:].split("=") for a in sys.argv if a.startswith("--") and "=" in a)
    count, seed = int(given.get("count", 2000)), int(given.get("seed", 1))
    if "fresh" in given:
        time_fresh(int(given["fresh"]), seed)
        return
    samples = int(given.get("samples", SAMPLES))
    tally: Counter[str] = Counter()
    seconds, ratios = [], []
    for index in range(count):
        case = example(seed, index)
        start = time.process_time()
        try:
            found = analyze(case.text, directions=np.eye(case.r))
        except InputError as error:
            tally["constant" if "constant" in str(error) else "refused"] += 1
            if "constant" not in str(error):
                print(f"{index} refused: {case.text}: {error}", flush=True)
            continue
        seconds.append(time.process_time() - start)
        if seconds[-1] > SECONDS:
            print(f"{index} slow {seconds[-1]:.1f} s: {case.text}", flush=True)
        start = time.process_time()
        verdict = judge(case, found, samples, seed=index)
        ratios.append(seconds[-1] / (time.process_time() - start))
        if verdict.wrong:  # a false alarm does not come back with other points
            verdict = judge(case, found, 4 * samples, seed=index + 10**6)
        tally["undecided" if found.undecided else "decided"] += 1
        tally["unseen"] += bool(verdict.unseen)
        tally["wrong"] += bool(verdict.wrong)
        for text in verdict.wrong:
            print(f"{index} WRONG {text}: {case.text}", flush=True)
        for text in found.undecided:
            print(f"{index} undecided {text}: {case.text}", flush=True)
        for text in verdict.unseen:
            print(f"{index} unseen {text}: {case.text}", flush=True)
    slow = float(np.mean(np.array(seconds) > SECONDS)) if seconds else 0.0
    median, ratio = (float(np.median(each)) if each else 0.0 for each in (seconds, ratios))
    print(
        f"analyze_hunt seed {seed}: {dict(tally)}, median {median:.2f} s of one core, {ratio:.3f} "
        f"of the Monte Carlo, {slow:.2%} beyond {SECONDS:g} s"
    )


if __name__ == "__main__":
    main()
