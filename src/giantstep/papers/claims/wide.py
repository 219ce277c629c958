"""What claims about one step at linear width share: a setting, step sizes, spikes and losses."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from giantstep.prediction.wide.feature_outliers import FeatureOutliers
from giantstep.problem.activation import centred
from giantstep.problem.setting import Setting
from giantstep.simulation.readout import Readout, fit_readout, squared_errors
from giantstep.simulation.stepped import SteppedRun
from giantstep.simulation.table import FeatureTable
from giantstep.spectra.outliers import count_above

RELU = centred("relu(z)")
# Even, so that c_1 = 0, and smooth.
EVEN = centred("cos(z)")
WIDE = {
    "target": "linear-quadratic",
    "activation": RELU,
    "n": "4d",
    "p": "d",
    "steps": 1,
    "output_scale": "1",
    "start": "sphere",
    "readout_start": "gaussian",
    "ridge": 0.1,
    "readout_n": "8d",
    "test_n": 2000,
}
"""n, d and p in proportion, unit output scale and |a| = 1."""

ALPHA = r"step size exponent $\alpha$"


def step_size(alpha: float, multiple: float = 1.5) -> str:
    """eta = multiple n^alpha as a text, as the papers' eta of order n^alpha allows.

    With relu the first two spikes leave at eta = 2.4 and 1.3 n^(1/4): in between, at the sizes in
    reach, the numbers of spikes at 1.5 n^alpha are those of the limit.
    """
    return f"{multiple}*n^{alpha:g}"


def spikes_in_the_limit(alpha: float) -> int:
    """l with (l-1)/(2l) < alpha < l/(2l+2), for an activation with c_1, .., c_l != 0."""
    # alpha > (l-1)/(2l) is l < 1/(1 - 2 alpha).
    return 0 if alpha <= 0 else math.ceil(1.0 / (1.0 - 2.0 * alpha)) - 1


def singular_values(features: Float[np.ndarray, "n p"], count: int = 4) -> Float[np.ndarray, " k"]:
    """The largest singular values of F/sqrt(n)."""
    from scipy.linalg import eigh

    n, p = features.shape
    gram = features.T @ features if n >= p else features @ features.T
    last = len(gram) - 1
    values = eigh(gram / n, eigvals_only=True, subset_by_index=[last + 1 - count, last])
    return np.sqrt(np.maximum(values[::-1], 0.0))


def counted(
    values: Iterable[Float[np.ndarray, " k"]], edge: float, margin: float = 0.1
) -> Float[np.ndarray, " runs"]:
    """Number of singular values of every run that are above the predicted edge by the margin.

    At n = 400 the largest singular value of noise exceeds the edge by 5 % once in a hundred runs.
    """
    return np.array([count_above(run, edge, margin).count for run in values], dtype=float)


def clear_outliers(theory: FeatureOutliers, margin: float = 0.1) -> int:
    """Predicted outliers that stand clear of the edge by the margin."""
    return int(np.sum(theory.values > (1.0 + margin) * theory.edge))


def predicted_places(theory: FeatureOutliers, count: int) -> list[float]:
    """Places of the first outliers; one that is predicted inside the bulk stands at its edge."""
    return [*(float(value) for value in theory.values), *[theory.edge] * count][:count]


def readout_scatter(degree: int, p: int) -> float:
    """Relative deviation of |a^k| over p normals: sqrt(E u^4k/(E u^2k)^2 - 1)/(2 sqrt p).

    Spike k is as strong as |a^k|, of which a few large readouts are most: 0.7, 1.6, 3.4 over
    sqrt(p) for k = 1, 2, 3.
    """
    from scipy.special import factorial2

    fourth, second = (float(factorial2(m * degree - 1)) for m in (4, 2))
    return 0.5 * math.sqrt((fourth / second**2 - 1.0) / p)


def along_power(left: Float[np.ndarray, " degrees"], k: int) -> float:
    """Overlap with kappa^k, k = 1, 2, from those with h_j(kappa): kappa^2 = h_0 + sqrt 2 h_2."""
    return float(left[1]) if k == 1 else float(left[0] + math.sqrt(2.0) * left[2]) / math.sqrt(3.0)


def spike_overlaps(step: SteppedRun) -> Float[np.ndarray, "2 2"]:
    """|cosines| of the first two left and right singular vectors with (X beta)^k and a^k."""
    from scipy.linalg import eigh

    inputs = step.training.inputs
    features = step.features(inputs)
    p = features.shape[1]
    right = eigh(features.T @ features, subset_by_index=[p - 2, p - 1])[1][:, ::-1]
    left = features @ right
    return np.array(
        [
            [_cosine(vectors[:, k], vector ** (k + 1)) for k in range(2)]
            for vectors, vector in ((left, inputs @ step.spike), (right, step.readout))
        ]
    )


def _cosine(one: Float[np.ndarray, " m"], other: Float[np.ndarray, " m"]) -> float:
    return float(abs(one @ other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def features_of(step: SteppedRun, weights: Float[np.ndarray, "p d"]) -> Float[np.ndarray, "n p"]:
    """F = sigma(X W^T) of other rows on the batch of the readout."""
    return np.asarray(step.setting.activation(step.training.inputs @ weights.T), dtype=float)


def update_unit(step: SteppedRun) -> float:
    """|a| |beta|, which tends to a constant; in units of it the scatter of the runs is gone."""
    return float(np.linalg.norm(step.readout) * np.linalg.norm(step.spike))


def objective(step: SteppedRun, weights: Float[np.ndarray, "p d"]) -> float:
    """min over a of mean (y - s_p phi.a)^2 + ridge |a|^2, phi the features of these rows."""
    table = FeatureTable(features_of(step, weights), step.training.labels)
    return _objective(fit_readout(table, step.setting))


def objective_and_test_error(
    training: FeatureTable, test: FeatureTable, setting: Setting
) -> tuple[float, float]:
    """The objective at its minimum, and the test error there."""
    fit = fit_readout(training, setting)
    squares, _ = test.reduce(squared_errors, setting.scale * fit.weights)
    return _objective(fit), float(squares[0]) / test.count


def _objective(fit: Readout) -> float:
    return float(fit.train_errors[0] + fit.penalties[0] * np.sum(fit.weights[0] ** 2))
