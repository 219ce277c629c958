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
from giantstep.prediction.wide.quantities import label_powers, second_direction
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Alignment:
    """``limit`` -> lim |<v_2, w*_k>| on reused batches; ``floor`` its root mean square on fresh
    batches of this d; ``exponent`` that of the length in the target's span, as a power of d.
    """

    limit: Float[np.ndarray, " r"]
    floor: Float[np.ndarray, " r"]
    exponent: float


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
