"""Bulk and outliers of W and of the features after giant steps, for the readout of every run.

What exceeds the threshold is an outlier, measured or predicted.  For W it is where noise ends: the
place that noise of the variance profile passes once in a hundred runs, or beyond that the place of
the noisiest direction, of the target or of one sample.  For the features it is where noise of the
start would pass their edge, or beyond that the singular value that they have along a direction
which stands at W's threshold in W: their linear parts alone see its noise.
See docs/derivations/bulk.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from giantstep.prediction.limits import refuse_beyond
from giantstep.prediction.wide.bulk import BulkProfile, bulk_profiles, residual_draws
from giantstep.prediction.wide.feature_outliers import (
    feature_density,
    feature_outliers,
    noisy_place,
)
from giantstep.prediction.wide.limits import AT_MOST_FOUR, ONE_TO_FOUR
from giantstep.prediction.wide.network import Network, ReadoutStatistics
from giantstep.prediction.wide.noisy_direction import NoisyDirection
from giantstep.prediction.wide.part_limits import (
    ANSWER,
    FEATURES,
    NOISE,
    TAILS,
    refuse_row_noise,
)
from giantstep.prediction.wide.quantities import network_answer, residual_tails
from giantstep.prediction.wide.runs import StatisticsNodes
from giantstep.prediction.wide.seen_inputs import seen_inputs
from giantstep.prediction.wide.update import update_after
from giantstep.prediction.wide.weight_outliers import WeightOutliers, outliers_of
from giantstep.problem.setting import Setting
from giantstep.records.observables import UNKNOWN
from giantstep.records.spectrum import Spectrum
from giantstep.spectra.bulk import Bulk
from giantstep.spectra.outliers import upper_limit
from giantstep.spectra.profile import ProfileBulk
from giantstep.spectra.start import feature_bulk, weight_bulk
from giantstep.spectra.uneven import uneven_neurons

LEVEL = 0.01
"""Rate at which noise is taken for an outlier."""


@dataclass(frozen=True)
class Law:
    """Edge and outliers of one matrix after one step, largest first, given one readout."""

    edge: float
    threshold: float
    outliers: Float[np.ndarray, " k"]
    vectors: dict[str, Float[np.ndarray, "k m"]]


@dataclass(frozen=True)
class Density:
    """Density of the bulk on a grid."""

    grid: Float[np.ndarray, " q"]
    density: Float[np.ndarray, " q"]


@dataclass(frozen=True)
class Matrix:
    """How the law of a matrix, and its density up to the edge, come from setting and readout."""

    name: str
    law: Callable[[Setting, ReadoutStatistics], Law]
    density: Callable[[Setting, ReadoutStatistics, float], Density]


def _grid(low: float, high: float, points: int = 48) -> Float[np.ndarray, " q"]:
    """Points at which a density is given, closer together where it rises and falls: at the ends."""
    angles = np.pi * np.linspace(0.0, 1.0, points)
    return 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angles)


# -- weights --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Weights:
    """The bulk of W, the threshold, and after a step outliers and the noise of the threshold.

    ``noise`` -> the noise of a direction whose singular value is the threshold, in rows u = 1.
    """

    bulk: Bulk | ProfileBulk
    threshold: float
    outliers: WeightOutliers | None = None
    noise: float = 0.0

    @property
    def edge(self) -> float:
        return math.sqrt(self.bulk.upper.place)


@lru_cache(maxsize=32)
def _weights(setting: Setting, statistics: ReadoutStatistics) -> _Weights:
    """W after the last step; kept, for both matrices ask for it.

    The edge of the profile may lie too low by 0.3 times the share of the steps' noise in the square
    length of a row.  Measured: tanh, output scale 1, d = 800, 1.5 % at a share of 0.09 and 3 % at
    0.23; 5 % there at d = 400.
    """
    p, d = setting.p, setting.d
    if setting.steps == 0:
        start = weight_bulk(p, d, setting.start)
        return _Weights(start, upper_limit(start, LEVEL))
    refuse_beyond(ONE_TO_FOUR, setting)
    network = Network(setting, statistics)
    update = update_after(network)
    if setting.steps > 1:
        NOISE.refuse(update.noise_added(network.readout[1]), setting)
        ANSWER.refuse(network_answer(network), setting)
    profile, batches = bulk_profiles(setting, statistics)
    bulk = ProfileBulk(*profile.factors(p, d))
    kept, added = (float(profile.weights @ part) for part in (profile.kept_square, profile.spread))
    # 2 E[kept a]: what a direction of K's eigenvalue one adds to the mean variance of the rows.
    slope = 2.0 * float(profile.weights @ (profile.kept * profile.readout)) / math.sqrt(p)
    target = np.tensordot(profile.weights, update.target_spread, axes=1)
    target += _quadratic(network, slope)
    noisiest = max(
        float(np.max(np.linalg.eigvalsh(target))) - added, _single_sample(network, slope)
    )
    total = kept + added
    direction = NoisyDirection(
        profile.kept_square + profile.spread, profile.readout, p / d * profile.weights
    )
    place = direction.place(max(noisiest, 0.0))
    edge = math.sqrt(bulk.upper.place)
    random = upper_limit(bulk, LEVEL) / edge - 1.0
    # Heavy residuals spread the edge over batches by the samples that stand at the isolated place.
    reach = math.hypot(random, _batch_reach(batches, p / d, d))
    ends = edge * (1.0 + 0.3 * added / total) * (1.0 + reach), place * (1.0 + random)
    threshold = max(ends)
    return _Weights(bulk, threshold, outliers_of(network, update), direction.noise_at(threshold))


def _batch_reach(batches: list[BulkProfile], aspect: float, d: int) -> float:
    """Relative height that the edge of one batch passes once in a hundred runs.

    Edges of batches deviate from their mean by a normal variable of variance 1/d.

    docs/derivations/bulk.md, eq. (12).
    """
    from scipy.special import ndtri

    size = len(batches[0].directions)
    shape = (max(1, round(aspect * size)), size)
    bulks = [ProfileBulk(*each.factors(*shape), tolerance=1e-3) for each in batches]
    edges = [bulk.top for bulk in bulks]
    deviation = float(np.std(edges, ddof=1) / np.mean(edges)) * math.sqrt(size / d)
    return float(-ndtri(LEVEL)) * deviation


def _quadratic(network: Network, slope: float, deviations: float = 3.0) -> Float[np.ndarray, "r r"]:
    """k^2/p + slope k, k = size l M, M = E[y (z z^T - 1)]: mean part of the noise on the target.

    The gradient of row i holds l M w_i, l = E[z sigma'], of mean M and variance 2 E r^2/n: that of
    n labels may lie on either side of its mean by so many standard ``deviations``.
    """
    setting = network.setting
    size = network.moments.tilt * sum(network.size(step) for step in range(setting.steps))
    values, vectors = np.linalg.eigh(np.asarray(network.inputs.target.series.tensor(2)))
    stray = deviations * math.sqrt(2.0 * network.residual_square / setting.n)
    k = size * (values[:, None] + stray * np.array([-1.0, 1.0]))
    return (vectors * np.max(k**2 / setting.p + slope * k, axis=1)) @ vectors.T


def _single_sample(network: Network, slope: float, count: int = 2**18) -> float:
    """(d/n size r)^2 Var sigma'/p + slope l (d/n) size r: the noise along the sample of largest r.

    The largest of n residuals is exceeded once in a hundred runs: of ``count`` drawn ones some
    three are beyond it at n = 1000.
    """
    n, moments = network.setting.n, network.moments
    draws = residual_draws(network, count, np.random.default_rng(0))
    share = LEVEL / (2.0 * n)
    extreme = network.noise_ratio * np.array(
        [np.quantile(rho, [share, 1.0 - share]) for rho in draws]
    )
    along = extreme**2 * moments.slope_variance / network.setting.p
    return float(np.max(along + slope * moments.tilt * extreme))


def weight_law(setting: Setting, statistics: ReadoutStatistics) -> Law:
    """W: at the start a Marchenko-Pastur law, then outliers of the update over a profile."""
    weights = _weights(setting, statistics)
    outliers, overlap = np.zeros(0), np.zeros((0, setting.target.r))
    if weights.outliers is not None:
        # The edge of independent rows is below that of the profile: what lies between is bulk.
        beyond = weights.outliers.singular_values > weights.edge
        outliers, overlap = (
            weights.outliers.singular_values[beyond],
            weights.outliers.overlap[beyond],
        )
    return Law(weights.edge, weights.threshold, outliers, {"overlap": overlap})


def weight_density(setting: Setting, statistics: ReadoutStatistics, edge: float) -> Density:
    """The density between the ends of the bulk."""
    bulk = _weights(setting, statistics).bulk
    grid = _grid(max(bulk.edges[0][0], 1e-3 * edge), edge)
    return Density(grid, bulk.density(grid))


# -- features -------------------------------------------------------------------------------------


def feature_law(setting: Setting, statistics: ReadoutStatistics) -> Law:
    """sigma(X W^T)/sqrt(readout_n) by the closed system."""
    refuse_beyond((*FEATURES, *AT_MOST_FOUR), setting)
    refuse_row_noise(setting, statistics)
    TAILS.refuse(residual_tails(setting, statistics), setting)
    features = feature_outliers(setting, statistics)
    # Noise passes the edge by as much as it does before the step.
    margin = _start_margin(setting.vary(steps=0, step_size=1.0))
    weights, noisiest = _weights(setting, statistics), features.edge
    if weights.outliers is not None:
        noisiest = max(noisiest, noisy_place(setting, weights.noise, statistics))
    vectors = {"left": features.left, "right": features.right}
    return Law(features.edge, margin * noisiest, features.values, vectors)


@lru_cache(maxsize=8)
def _start_margin(setting: Setting) -> float:
    """How far noise passes the edge of the features before any step, as a factor; kept."""
    activation = seen_inputs(setting).activation
    start = feature_bulk(activation, setting.readout_n, setting.d, setting.p, setting.start)
    return _raised(setting) * upper_limit(start, LEVEL) / math.sqrt(start.upper.place)


def _raised(setting: Setting) -> float:
    """By which factor unequal powers of neurons and of samples raise the edge, at the start.

    The edge is raised by both, and one neuron or one sample may stand above it.

    docs/derivations/bulk.md, eq. (16).
    """
    inputs, kind = seen_inputs(setting), setting.start.kind
    samples, neurons = setting.readout_n, setting.p // kind.copies
    second = inputs.moment(2)
    rows = 2.0 * (second - (0.0 if kind.normal else 1.0)) / setting.d
    dimension = setting.d / second
    by_neurons, neuron = uneven_neurons(
        inputs.activation, samples, dimension, neurons, length_variance=rows
    ).raised(LEVEL)
    # Features are a function of the product of row and input: samples are neurons of the rows.
    by_samples, sample = uneven_neurons(
        inputs.activation, neurons, dimension, samples, length_variance=2.0 / dimension
    ).raised(LEVEL)
    return max(by_neurons * by_samples, neuron, sample)


def feature_law_density(setting: Setting, statistics: ReadoutStatistics, edge: float) -> Density:
    """The density up to the edge."""
    grid = _grid(0.01 * edge, edge)
    return Density(grid, feature_density(setting, grid, statistics, edge))


MATRICES = (
    Matrix("weights", weight_law, weight_density),
    Matrix("features", feature_law, feature_law_density),
)


# -- every run ------------------------------------------------------------------------------------


def unknown_places(
    edge: Float[np.ndarray, " runs"],
    threshold: Float[np.ndarray, " runs"],
    outliers: Float[np.ndarray, "runs k"],
) -> Bool[np.ndarray, "runs k"]:
    """Which places noise may move by so large a share that they are no prediction."""
    places = outliers[:, None]
    spectrum = Spectrum(edge=edge[:, None], threshold=threshold[:, None], outliers=places)
    moved = spectrum.place_uncertainty
    assert moved is not None
    return (moved > UNKNOWN * places)[:, 0]


def spectra_of_runs(
    matrix: Matrix, setting: Setting, nodes: StatisticsNodes, resolution: float = 1e-3
) -> dict[str, Float[np.ndarray, "runs ..."]]:
    """Edge, threshold, outliers and their vectors for each run, NaN where there is no outlier.

    An outlier meets the edge with its slope and loses its vectors there: where a node has fewer of
    them than another, those missing are at the edge, with overlaps 0.  The density is one for all,
    that of the median node.  Outliers that stand out by less than ``resolution``, relative, are not
    told from the edge between the nodes.
    """
    laws = [matrix.law(setting, each) for each in nodes.statistics]
    edge, threshold = (
        nodes.carried_sizes([getattr(law, name) for law in laws]) for name in ("edge", "threshold")
    )
    most = max(len(law.outliers) for law in laws)
    places = [np.r_[law.outliers, np.full(most - len(law.outliers), law.edge)] for law in laws]
    outliers = nodes.carried_sizes(places)
    outliers[outliers <= (1.0 + resolution) * edge[:, None]] = np.nan
    outliers[unknown_places(edge, threshold, outliers)] = np.nan
    fields = {"edge": edge, "threshold": threshold, "outliers": outliers}
    for name in laws[0].vectors:
        missing = [((0, most - len(law.outliers)), (0, 0)) for law in laws]
        vectors = [np.pad(law.vectors[name], pad) for law, pad in zip(laws, missing, strict=True)]
        carried = np.maximum(nodes.carried(vectors), 0.0)
        fields[name] = np.where(np.isnan(outliers)[:, :, None], np.nan, carried)
    return fields | vars(
        matrix.density(setting, nodes.statistics[nodes.median], laws[nodes.median].edge)
    )
