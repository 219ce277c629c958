"""Activations: the function, its derivative and its Hermite coefficients at any scale and shift."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError, shown
from giantstep.gaussian.expansion import line_coefficients
from giantstep.gaussian.kinks import kink_planes
from giantstep.gaussian.polynomials import polynomial_series
from giantstep.gaussian.rules import adaptive_coefficients, hermite_values, panel_rule
from giantstep.language.algebra import Terms, multiplied_out
from giantstep.language.derivative import differentiate
from giantstep.language.expression import (
    Expression,
    Number,
    Variable,
    add,
    multiply,
    raise_to,
    substitute,
    variables,
)
from giantstep.language.functions import FUNCTIONS, NUMPY, Namespace
from giantstep.language.parser import parse
from giantstep.language.program import Program
from giantstep.language.symbols import as_sympy, real_symbols

# The field's erf (Saad and Solla) is erf(z/sqrt 2), whose derivative coefficients have closed
# forms; every other name is the function of the language at z.
NAMED = {name: f"{name}(z)" for name in FUNCTIONS} | {"erf": "erf(z/sqrt(2))"}


@dataclass(frozen=True)
class Coefficients:
    """E[sigma(shift + scale z) He_k(z)] for k = 0, 1, ..., and a bound on their error."""

    values: Float[np.ndarray, " k"]
    error: float


@dataclass(frozen=True)
class ActivationMoments:
    """Moments over z ~ N(0, 1) of sigma, and of sigma' as a gradient sees it.

    ``mean`` -> E sigma, ``linear`` -> E[z sigma], ``square`` -> E sigma^2; ``slope`` -> E sigma',
    ``tilt`` -> E[z sigma'], ``bend`` -> E[(z^2 - 1) sigma'], ``slope_square`` -> E sigma'^2,
    ``pull_square`` -> E[(z sigma')^2] and ``own_pull`` -> E[z sigma sigma'] less
    E sigma E[z sigma'] + E[z sigma] E sigma', where sigma' is the derivative almost everywhere: by
    parts slope = linear, tilt = E[sigma He2] and bend = E[sigma He3], but not if sigma jumps.
    """

    mean: float
    linear: float
    square: float
    slope: float
    tilt: float
    bend: float
    slope_square: float
    pull_square: float
    own_pull: float

    @property
    def variance(self) -> float:
        """Var sigma."""
        return max(self.square - self.mean**2, 0.0)

    @property
    def rest(self) -> float:
        """Variance beyond the linear part: E sigma^2 - (E sigma)^2 - E[z sigma]^2."""
        return max(self.square - self.mean**2 - self.linear**2, 0.0)

    @property
    def slope_variance(self) -> float:
        """Var sigma'."""
        return max(self.slope_square - self.slope**2, 0.0)


@dataclass(frozen=True, eq=False)
class Activation:
    """A neuron's nonlinearity sigma: an expression in z, or a Python callable on arrays.

    ``slope`` is the derivative of the callable; without it, central differences serve.  Two
    activations with callables are equal where the callables are the same objects.

    sigma = sum_k c_k He_k; b_k = k! c_k = E[sigma^(k)(z)] decides what a step can pick up
    (``giantstep activation NAME``; arXiv 2305.18270).
    """

    name: str
    expression: Expression | None = None
    function: Callable[[Any], Any] | None = None
    slope: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        return f"Activation({self.name!r})"

    @property
    def text(self) -> str:
        """The activation as it is typed."""
        return self.name

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self.name, self.expression, id(self.function), id(self.slope))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __call__(self, z: Any, namespace: Namespace = NUMPY) -> Any:
        if self.expression is None:
            assert self.function is not None
            return self.function(z)
        return self._program((z,), namespace)[0]

    def derivative(self, z: Any, namespace: Namespace = NUMPY) -> Any:
        """sigma'(z) almost everywhere; by central differences for a callable without slope.

        The difference step eps^(1/3) balances truncation and rounding: error about 1e-10 for a
        callable that computes in double precision, whatever z has.
        """
        if self.slope is not None:
            return self.slope(z)
        if self.expression is None:
            step, wide = self._precision ** (1 / 3), np.asarray(z, dtype=float)
            slope = (self(wide + step) - self(wide - step)) / (2 * step)
            return np.asarray(slope, dtype=np.asarray(z).dtype)
        return self._shaped(self._slope_program((z,), namespace)[0], z)

    def with_slope(self, z: Any, namespace: Namespace = NUMPY) -> tuple[Any, Any]:
        """sigma(z) and sigma'(z): functions that are in both are computed once."""
        if self.expression is None or self.slope is not None:
            return self(z, namespace), self.derivative(z, namespace)
        value, slope = self._both((z,), namespace)
        return value, self._shaped(slope, z)

    def _shaped(self, slope: Any, z: Any) -> Any:
        # 0*z gives a constant derivative the shape of z.
        return slope + 0 * z if self._is_linear else slope

    @cached_property
    def _program(self) -> Program:
        assert self.expression is not None
        return Program(self.expression)

    @cached_property
    def _slope_program(self) -> Program:
        return Program(self._derivative)

    @cached_property
    def _both(self) -> Program:
        assert self.expression is not None
        return Program(self.expression, self._derivative)

    @cached_property
    def _is_linear(self) -> bool:
        return not variables(self._derivative)

    @cached_property
    def _derivative(self) -> Expression:
        assert self.expression is not None
        return differentiate(self.expression)

    @cached_property
    def _precision(self) -> float:
        """Rounding of the callable itself: jax.nn.gelu answers in single precision."""
        kind = np.asarray(self(np.zeros(1))).dtype
        return float(np.finfo(kind if np.issubdtype(kind, np.floating) else float).eps)

    def stretched(self, scale: float) -> Activation:
        """The activation sigma(scale z), as neurons with longer rows or inputs have it."""
        if self.expression is not None:
            stretched = multiply(Number(Fraction(scale)), Variable(0))
            return replace(self, expression=substitute(self.expression, (stretched,)))
        return replace(
            self,
            function=lambda z: self(scale * z),
            slope=lambda z: scale * self.derivative(scale * z),
        )

    def to_sympy(self) -> Any:
        """sigma as a sympy expression in the real symbol z; sympy is an optional library.

        >>> from giantstep import make_activation
        >>> make_activation("sigmoid").to_sympy()
        tanh(z/2)/2 + 1/2
        """
        if self.expression is None:
            raise InputError(f"activation must be an expression for sympy, got {self.name!r}")
        return as_sympy(self.expression, real_symbols("z"))

    @cached_property
    def kinks(self) -> tuple[float, ...] | None:
        """Where sigma may have a kink or a jump; None if that is not known."""
        planes = None if self.expression is None else kink_planes(self.expression, 1)
        if planes is None:
            return None
        return tuple(sorted({offset / float(normal[0]) for normal, offset in planes}))

    @cached_property
    def moments(self) -> ActivationMoments:
        """Moments under N(0, 1) of sigma and of its derivative almost everywhere."""
        kinks = self.kinks or ()
        mean, linear = self.coefficients(1).values.tolist()
        [square], _ = adaptive_coefficients(lambda z: _real(self(z)) ** 2, 0, kinks)
        # E[g h_k], h_2 = (z^2 - 1)/sqrt 2
        [slope, tilt, bend], _ = adaptive_coefficients(
            lambda z: _real(self.derivative(z)), 2, kinks
        )
        [power, _, curve], _ = adaptive_coefficients(
            lambda z: _real(self.derivative(z)) ** 2, 2, kinks
        )
        [_, product], _ = adaptive_coefficients(
            lambda z: _real(self(z)) * _real(self.derivative(z)), 1, kinks
        )
        return ActivationMoments(
            mean=mean,
            linear=linear,
            square=float(square),
            slope=float(slope),
            tilt=float(tilt),
            bend=float(math.sqrt(2.0) * bend),
            slope_square=float(power),
            pull_square=float(math.sqrt(2.0) * curve + power),
            own_pull=float(product - mean * tilt - linear * slope),
        )

    @cached_property
    def _terms(self) -> Terms:
        assert self.expression is not None
        return multiplied_out(self.expression, 1)

    def coefficients(self, degree: int, scale: float = 1.0, shift: float = 0.0) -> Coefficients:
        """E[sigma(shift + scale z) He_k(z)] for k <= degree.

        Exact for polynomials, closed forms for relu, leaky_relu, abs, sign and step, adaptive
        quadrature otherwise.
        """
        factorials = np.array([math.factorial(k) for k in range(degree + 1)], dtype=float)
        if not (math.isfinite(scale) and math.isfinite(shift)):
            raise InputError(f"scale and shift must be finite, got {scale} and {shift}")
        if scale == 0.0:
            values = np.zeros(degree + 1)
            values[0] = float(self(np.array([shift]))[0])
            return Coefficients(values, 0.0)
        if self.expression is None:
            normalised, error = adaptive_coefficients(
                lambda z: np.asarray(self(shift + scale * z), dtype=float),
                degree,
                accuracy=4.0 * self._precision,
            )
        else:
            normalised, error = self._from_terms(degree, scale, shift)
        values = normalised * np.sqrt(factorials)
        return Coefficients(values, error * math.sqrt(factorials[-1]))

    def _from_terms(
        self, degree: int, scale: float, shift: float
    ) -> tuple[Float[np.ndarray, " k"], float]:
        moved = add(Number(Fraction(shift)), multiply(Number(Fraction(scale)), Variable(0)))
        total, error = np.zeros(degree + 1), 0.0
        for (powers, functions), value in self._terms.items():
            factor = raise_to(Variable(0), powers[0])
            if not functions:
                part = multiplied_out(substitute(factor, (moved,)), 1)
                series = polynomial_series(part, 1)
                low = series.degrees <= degree
                total[series.exponents[low, 0]] += float(value) * series.coefficients[low]
                continue
            node = multiply(factor, *(raise_to(function, power) for function, power in functions))
            direction, origin = np.array([scale]), np.array([shift])
            part_values, part_error = line_coefficients(node, direction, degree, origin)
            total += float(value) * part_values
            error += abs(float(value)) * part_error
        return total, error

    def derivative_coefficients(self, degree: int, scale: float = 1.0) -> Coefficients:
        """b_k(s) = E[sigma^(k)(s z)] = s^-k E[sigma(s z) He_k(z)] for k <= degree."""
        if scale == 0.0:
            raise InputError("scale must not be 0 for derivative coefficients, got 0")
        plain = self.coefficients(degree, scale)
        powers = scale ** -np.arange(degree + 1.0)
        return Coefficients(plain.values * powers, plain.error * float(np.max(powers)))

    def slope_coefficients(
        self, degree: int, scale: float = 1.0, *, nodes: int = 3584, jump: float = 0.01
    ) -> Coefficients:
        """s^(1-k) E[sigma'(s z) He_{k-1}(z)] for k <= degree (0 for k = 0): what a gradient sees.

        sigma' is the almost-everywhere derivative: without jumps these are the b_k, while sign and
        step, whose gradient is zero, have none.  The slope of a callable is integrated over
        ``nodes``, which resolve a kink to 1e-3; where it misses more than ``jump`` of the rise, the
        callable has a jump.
        """
        if scale == 0.0:
            raise InputError("scale must not be 0 for slope coefficients, got 0")
        powers = scale ** -np.arange(float(max(degree, 1)))
        if self.expression is not None:
            if isinstance(self._derivative, Number):
                values = np.zeros(max(degree, 1))
                values[0] = float(self._derivative.value)
                coefficients = Coefficients(values, 0.0)
            else:
                slope = Activation(f"{self.name}'", self._derivative)
                coefficients = slope.coefficients(max(degree - 1, 0), scale)
            return Coefficients(
                np.concatenate([[0.0], coefficients.values * powers]),
                coefficients.error * float(np.max(powers)),
            )
        smooth = self.derivative_coefficients(degree, scale)
        # Differences on a fixed grid miss a jump, which E[sigma He_k] counts as a slope.
        z, weights = panel_rule(nodes)
        products = hermite_values(z, max(degree - 1, 0)) * np.sqrt(
            [float(math.factorial(k)) for k in range(max(degree, 1))]
        )
        grid = (weights * np.asarray(self.derivative(scale * z), dtype=float)) @ products * powers
        gap = float(np.max(np.abs(grid - smooth.values[1:]) / (1.0 + np.abs(grid)), initial=0.0))
        if gap <= jump:
            return replace(smooth, values=np.concatenate([[0.0], smooth.values[1:]]))
        return Coefficients(np.concatenate([[0.0], grid]), jump * float(np.max(np.abs(grid))))


def _real(values: Any) -> Float[np.ndarray, "..."]:
    return np.asarray(values, dtype=float)


def make_activation(value: str | Callable[[Any], Any] | Activation) -> Activation:
    """An activation from its name, an expression in z such as ``He1 + He2/2``, or a callable.

    >>> from giantstep import make_activation
    >>> make_activation("He1 + He2/2")
    Activation('He1 + He2/2')
    >>> float(make_activation("relu")(-1.0))
    0.0
    """
    if isinstance(value, Activation):
        return value
    if isinstance(value, str):
        return _read_once(value)
    if callable(value):
        return _checked(Activation(getattr(value, "__name__", "callable"), function=value), value)
    raise InputError(f"activation must be a name, an expression or a callable, got {shown(value)}")


@lru_cache(maxsize=2**8)
def _read_once(text: str) -> Activation:
    """One Activation for all settings with this text: its checks and integrals take a while."""
    expression = parse(NAMED.get(text.strip(), text), "activation", variable="z")
    if isinstance(expression, Number):
        raise InputError(f"activation is constant, got {text!r}")
    return _checked(Activation(text.strip(), expression), text)


def _checked(activation: Activation, value: str | Callable[[Any], Any]) -> Activation:
    """An activation with finite values and moments."""
    with np.errstate(all="ignore"):
        probe = np.asarray(activation(np.linspace(-8.0, 8.0, 33)), dtype=float)
    if probe.shape != (33,) or not np.all(np.isfinite(probe)):
        raise InputError(f"activation must give finite numbers on [-8, 8], got {value!r}")
    if activation.expression is not None and _grows_too_fast(activation):
        raise InputError(f"activation has no finite second moment, got {value!r}")
    return activation


def _grows_too_fast(activation: Activation) -> bool:
    """Whether sigma^2 times the normal density is larger at |z| = 30 than at 15."""
    ends = np.array([-15.0, 15.0])
    with np.errstate(all="ignore"):
        near, far = (
            np.max(np.asarray(activation(e), dtype=float) ** 2 * np.exp(-0.5 * e**2))
            for e in (ends, 2.0 * ends)
        )
    return not bool(far <= near)


def centred(text: str) -> str:
    """An activation less its mean under N(0, 1), as the papers take it at linear width.

    ``text`` is a name or an expression in z.
    """
    mean = float(make_activation(text).coefficients(0).values[0])
    return f"{NAMED.get(text.strip(), text)} {'-' if mean >= 0 else '+'} {abs(mean)!r}"
