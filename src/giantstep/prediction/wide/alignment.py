"""Does the second step find the target? Limits of |<v_2, w*_k>| when the first step cannot.

With f_1 = E[y z] = 0, the step-1 direction beta is noise.  To first order in size_1/sqrt(p), the
second step adds u^2 times Q = (1/n) sum_mu y (2 c_1 c_2 t + [reused] delta kappa y) x_mu, with
kappa = E[z sigma'^2]/2, t = beta.x and delta = d/n; v_2 is Q made orthogonal to beta.  Fresh, Q
knows w* only by chance; reused, y^2 is regressed on x.  arXiv 2605.17767;
docs/derivations/two_step.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.prediction.wide.second_kernel import start_rule
from giantstep.prediction.wide.second_samples import Network, check_supported, label_points
from giantstep.problem.setting import Setting

# Overlaps below this share of the label's deviation are quadrature error of a label with jumps.
NEGLIGIBLE = 3e-3


@dataclass(frozen=True)
class Alignment:
    """``limit`` -> lim |<v_2, w*_k>| on reused batches; ``floor`` its root mean square on fresh
    batches of this d; ``exponent`` that of the length in the target's span, as a power of d.
    """

    limit: Float[np.ndarray, " r"]
    floor: Float[np.ndarray, " r"]
    exponent: float


def second_alignment(setting: Setting) -> Alignment:
    """Alignment of the second right singular vector with the target, small output scale.

    With M = E[y^2 z], q = E y^2, F_2 = E[y (z z^T - 1)],

        reused: cos_k^2 = kappa^2 M_k^2 / [kappa^2 |M|^2 + (2 c_1 c_2 q)^2
                                           + delta kappa^2 (E y^4 - (E y^3)^2/q)]
        fresh:  cos_k^2 = [E[y^2 z_k^2]/q + (F_2 E[y^2 z z^T] F_2)_kk/(delta q^2)] / d -> 0.

    For sizes p^alpha1, p^alpha2 with alpha1 + alpha2 > 1/2 and f_1 = 0, which is required.
    """
    check_supported(setting)
    network = Network(setting)
    mean, variance, slope = network.label
    second = variance + mean**2 + setting.noise**2
    if float(np.linalg.norm(slope)) > NEGLIGIBLE * math.sqrt(second):
        raise InputError(
            f"target must have no linear part for this limit, got E[y z] = {slope.tolist()}"
        )
    points, weights = label_points(setting.target.r)
    y, noise = network.label_at(points), setting.noise**2
    square = y**2 + noise
    third = float(weights @ (y**3 + 3.0 * noise * y))
    fourth = float(weights @ (y**4 + 6.0 * noise * y**2 + 3.0 * noise**2))
    linear = (weights * square) @ points
    spread = (points.T * (weights * square)) @ points
    hessian = (points.T * (weights * y)) @ points - mean * np.eye(setting.target.r)
    tilt = network.moments.tilt
    h, h_weights = start_rule(setting.activation.kinks or ())
    slopes = np.asarray(setting.activation.derivative(h), dtype=float)
    kappa = 0.5 * float(h_weights @ (h * slopes**2))
    delta = network.noise_ratio
    # |Q - its part along beta|^2 / delta^2; tilt = 2 c_2.
    signal = kappa**2 * linear**2
    plain = (network.gain * tilt * second) ** 2
    own = delta * kappa**2 * (fourth - third**2 / second)
    total = float(signal.sum()) + plain + own
    if total <= 0:
        raise InputError(
            f"activation {setting.activation.name!r} has no second direction: c_2 and kappa vanish"
        )
    chance = np.diag(spread) / second
    carried = np.diag(hessian @ spread @ hessian) / (delta * second**2)
    limit = np.sqrt(signal / total)
    learned = setting.batches == "reused" and float(np.linalg.norm(limit)) > NEGLIGIBLE
    return Alignment(limit, np.sqrt((chance + carried) / setting.d), 0.0 if learned else -0.5)
