"""Targets and activations inside compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from giantstep.errors import InputError
from giantstep.problem.activation import Activation
from giantstep.problem.setting import Setting


class JaxNamespace:
    """jax.numpy with erf: what expressions are evaluated with inside compiled functions."""

    def __getattr__(self, name: str) -> Any:
        return jax.scipy.special.erf if name == "erf" else getattr(jnp, name)

    @staticmethod
    def step(z: Any) -> Any:
        """1{z > 0} in the precision of z."""
        return (z > 0).astype(z.dtype)


JAX = JaxNamespace()


def can_trace(function: Callable[..., Any], arguments: int) -> bool:
    """Whether a user's function is made of JAX operations."""
    shape = jnp.zeros(4, jnp.float32)
    try:
        # Through a Python function: handed a NumPy ufunc itself, JAX crashes the process.
        jax.eval_shape(lambda *columns: function(*columns), *([shape] * arguments))
    except Exception:
        # Any failure under tracing only means that the function has to be called from outside.
        return False
    return True


def called_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function of arrays of one shape, called from compiled code."""

    def outside(*columns: Any) -> Any:
        first = columns[0]

        def host(*values: Any) -> Any:
            arrays = [np.asarray(v) for v in values]
            returned = np.asarray(function(*arrays), dtype=first.dtype)
            return np.broadcast_to(returned, arrays[0].shape)

        return jax.pure_callback(host, jax.eval_shape(jnp.zeros_like, first), *columns)

    return outside


def traced_activation(sigma: Activation) -> Activation:
    """A user's activation for compiled code: traced with its exact derivative, or called back."""
    function = sigma.function
    assert function is not None
    if not can_trace(function, 1):
        return replace(sigma, function=called_back(function), slope=called_back(sigma.derivative))

    def slope(z: Any) -> Any:
        return jax.jvp(function, (z,), (jnp.ones_like(z),))[1]

    return sigma if sigma.slope else replace(sigma, slope=slope)


def host_activation(sigma: Activation) -> Activation:
    """A user's JAX activation for NumPy code: values as plain arrays, exact derivative."""
    traced = traced_activation(sigma)
    assert traced.function is not None
    assert traced.slope is not None

    def on_host(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        compiled = jax.jit(function)

        def values(z: Any) -> Any:
            with jax.enable_x64(z.dtype == np.float64):
                return np.asarray(compiled(z))

        return values

    return replace(sigma, function=on_host(traced.function), slope=on_host(traced.slope))


def traced_setting(setting: Setting) -> Setting:
    """The setting with callables replaced by versions that compiled functions can use."""
    changes: dict[str, Any] = {}
    sigma, target = setting.activation, setting.target
    for field, part, arguments in (("activation", sigma, 1), ("target", target, target.r)):
        if part.function is None or can_trace(part.function, arguments):
            continue
        if setting.precision == "float64":
            # JAX hands results of a call back in single precision.
            raise InputError(
                f"{field} must be an expression or a function of JAX for the dense engine in "
                f"float64, got the callable {part.name!r}"
            )
        changes[field] = replace(part, function=called_back(part.function))
    if sigma.function is not None:
        changes["activation"] = traced_activation(sigma)
    return setting.with_held(**changes)
