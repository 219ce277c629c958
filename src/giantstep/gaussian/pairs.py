"""E[sigma sigma'] of two neurons whose inputs are correlated, kinks of sigma respected."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from giantstep.gaussian.moments import PANEL_NODES, SMOOTH_NODES, Nonlinearity
from giantstep.gaussian.rules import gauss_hermite, normal_panels, split_panels


def pair_product(
    activation: Nonlinearity,
    shift: Float[np.ndarray, "*m 2"],
    scale: Float[np.ndarray, "*m 2"],
    correlation: Float[np.ndarray, "*m"],
    across_nodes: int = 12,
) -> Float[np.ndarray, "*m"]:
    """E sigma(b_1 + s_1 z_1) sigma(b_2 + s_2 z_2) for normals of the given correlation.

    z_1, z_2 = x cos(angle) +- y sin(angle) with cos(2 angle) = correlation, x and y independent.
    The integral over x leaves a smooth function of y, for which a few Gauss-Hermite nodes serve.
    """
    b, s = shift.reshape(-1, 2), scale.reshape(-1, 2)
    angle = 0.5 * np.arccos(np.clip(correlation.ravel(), -1.0, 1.0))
    y, across = gauss_hermite(across_nodes)
    moved = np.sin(angle)[:, None] * y
    centre = b[:, None, :] + s[:, None, :] * np.stack([moved, -moved], axis=2)
    width = np.repeat((s * np.cos(angle)[:, None])[:, None, :], len(y), axis=1)
    centre, width = centre.reshape(-1, 2), width.reshape(-1, 2)
    products = np.empty(len(centre))
    size = max(1, 2**18 // SMOOTH_NODES)  # 2 MB an array: stays in the cache
    for begin in range(0, len(centre), size):
        c, v = centre[begin : begin + size], width[begin : begin + size]
        x, weights = _nodes(activation.kinks or (), c, v)
        first, second = (activation(c[:, [k]] + v[:, [k]] * x) for k in (0, 1))
        products[begin : begin + size] = np.sum(weights * first * second, axis=1)
    return (products.reshape(-1, len(y)) @ across).reshape(correlation.shape)


def _nodes(
    kinks: tuple[float, ...], centre: Float[np.ndarray, "m 2"], width: Float[np.ndarray, "m 2"]
) -> tuple[Float[np.ndarray, "*m q"], Float[np.ndarray, "*m q"]]:
    """Nodes and weights for E over x, split where either neuron meets a kink."""
    if not kinks:
        return gauss_hermite(SMOOTH_NODES)
    # A width of zero is a neuron that does not depend on x: its kinks lie at infinity.
    with np.errstate(divide="ignore", invalid="ignore"):
        places = [(kink - centre) / width for kink in kinks]
    breaks = np.nan_to_num(np.concatenate(places, axis=1))
    return normal_panels(split_panels(breaks), PANEL_NODES)
