"""Targets and activations inside compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from giantstep.activation import Activation
from giantstep.setting import Setting


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
        jax.eval_shape(function, *([shape] * arguments))
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
            found = np.asarray(function(*arrays), dtype=first.dtype)
            return np.broadcast_to(found, arrays[0].shape)

        return jax.pure_callback(host, jax.eval_shape(jnp.zeros_like, first), *columns)

    return outside


def traced_activation(sigma: Activation) -> Activation:
    """A user's activation for compiled code: traced with its exact derivative, or called back."""
    function = sigma.function
    assert function is not None
    if not can_trace(function, 1):
        return replace(
            sigma, function=called_back(function), slope=called_back(_in_float64(sigma.derivative))
        )

    def slope(z: Any) -> Any:
        return jax.jvp(function, (z,), (jnp.ones_like(z),))[1]

    return sigma if sigma.slope else replace(sigma, slope=slope)


def _in_float64(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Central differences need double precision, whatever the samples have."""
    return lambda z: function(np.asarray(z, dtype=np.float64))


def traced_setting(setting: Setting) -> Setting:
    """The setting with callables replaced by versions that compiled functions can use."""
    changes: dict[str, Any] = {}
    sigma, target = setting.activation, setting.target
    if sigma.expression is None:
        changes["activation"] = traced_activation(sigma)
    if target.expression is None:
        assert target.function is not None
        if not can_trace(target.function, target.r):
            changes["target"] = replace(target, function=called_back(target.function))
    return setting.model_copy(update=changes)
