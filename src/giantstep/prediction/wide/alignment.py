"""Does the second step find the target? Limits of |<v_2, w*_k>| when the first step cannot.

With f_1 = E[y z] = 0, the step-1 direction beta is noise.  To first order in size_1/sqrt(p), the
second step adds u^2 times Q = (1/n) sum_mu y (2 c_1 c_2 t + [reused] delta kappa y) x_mu, with
kappa = E[z sigma'^2]/2, t = beta.x and delta = d/n; v_2 is Q made orthogonal to beta.  Fresh, Q
knows w* only by chance; reused, y^2 is regressed on x.  arXiv 2605.17767;
docs/derivations/two_step.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.limits import ALIGNMENT
from giantstep.prediction.wide.network import Network
from giantstep.prediction.wide.slopes import start_rule
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Alignment:
    """``limit`` -> lim |<v_2, w*_k>| on reused batches; ``floor`` its root mean square on fresh
    batches of this d; ``exponent`` that of the length in the target's span, as a power of d.
    """

    limit: Float[np.ndarray, " r"]
    floor: Float[np.ndarray, " r"]
    exponent: float


@dataclass(frozen=True)
class LabelPowers:
    """Moments of the noisy label: E y^2, E y^3, E y^4, E[y^2 z], E[y^2 z z^T], E[y (z z^T - 1)]."""

    second: float
    third: float
    fourth: float
    linear: Float[np.ndarray, " r"]
    spread: Float[np.ndarray, "r r"]
    hessian: Float[np.ndarray, "r r"]


def second_alignment(setting: Setting, negligible: float = 3e-3) -> Alignment:
    """Alignment of the second right singular vector with the target, small output scale.

    With M = E[y^2 z], q = E y^2, F_2 = E[y (z z^T - 1)],

        reused: cos_k^2 = kappa^2 M_k^2 / [kappa^2 |M|^2 + (2 c_1 c_2 q)^2
                                           + delta kappa^2 (E y^4 - (E y^3)^2/q)]
        fresh:  cos_k^2 = [E[y^2 z_k^2]/q + (F_2 E[y^2 z z^T] F_2)_kk/(delta q^2)] / d -> 0.

    For sizes p^alpha1, p^alpha2 with alpha1 + alpha2 > 1/2 and f_1 = 0, which is required.  A limit
    below ``negligible`` is quadrature error of a label with jumps.

    docs/derivations/two_step.md, eqs. (12) and (13).
    """
    refuse_beyond(ALIGNMENT, setting)
    network = Network(setting)
    powers = label_powers(network)
    signal, total = second_direction(network, powers)
    limit = np.sqrt(signal / total)
    chance = np.diag(powers.spread) / powers.second
    carried = np.diag(powers.hessian @ powers.spread @ powers.hessian)
    carried = carried / (network.noise_ratio * powers.second**2)
    learned = network.reused and float(np.linalg.norm(limit)) > negligible
    return Alignment(limit, np.sqrt((chance + carried) / setting.d), 0.0 if learned else -0.5)


def label_powers(network: Network) -> LabelPowers:
    """Moments of y = f(z) + noise on the nodes of the label."""
    mean, variance, _ = network.label
    points, weights, signs = network.label_points
    y, noise = signs * network.label_at(points), network.setting.noise**2
    shares = weights * (y**2 + noise)
    return LabelPowers(
        second=variance + mean**2 + noise,
        third=float(weights @ (y**3 + 3.0 * noise * y)),
        fourth=float(weights @ (y**4 + 6.0 * noise * y**2 + 3.0 * noise**2)),
        linear=shares @ points,
        spread=(points.T * shares) @ points,
        hessian=(points.T * (weights * y)) @ points - mean * np.eye(points.shape[1]),
    )


def second_direction(
    network: Network, powers: LabelPowers
) -> tuple[Float[np.ndarray, " r"], float]:
    """Squares of Q along each w*_k and of Q off beta, reused batches, over delta^2."""
    activation = network.setting.activation
    h, weights = start_rule(activation.kinks or ())
    slopes = np.asarray(activation.derivative(h), dtype=float)
    # kappa = E[sigma' sigma''] = E[z sigma'^2]/2
    kappa = 0.5 * float(weights @ (h * slopes**2))
    # (Q.w*_k)^2/delta^2 = kappa^2 M_k^2
    signal = kappa**2 * powers.linear**2
    # 2 c_1 c_2 q, the part of t x; tilt = 2 c_2.
    plain = (network.gain * network.moments.tilt * powers.second) ** 2
    # delta kappa^2 (E y^4 - (E y^3)^2/q), the label of a sample itself
    itself = kappa**2 * (powers.fourth - powers.third**2 / powers.second)
    return signal, float(signal.sum()) + plain + network.noise_ratio * itself
