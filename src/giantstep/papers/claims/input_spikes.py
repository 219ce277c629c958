"""Claims about the gradient of a step on inputs with a spike (arXiv 2510.01303)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.papers.claims import sources
from giantstep.papers.claims.experiments import FIRST_LAYER, Runs, at_sizes, growth, scaling_curve
from giantstep.papers.claims.quantity import (
    LEARNED,
    NOT_LEARNED,
    Quantity,
    Region,
    drift,
    exponent_of,
    mean_of,
)
from giantstep.papers.claims.record import Changes, Claim, Fields, Findings
from giantstep.problem.network import network_output, residuals
from giantstep.problem.setting import Setting
from giantstep.records.plot import Curve, Plot
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import MEMORY
from giantstep.spectra.bulk import Bulk
from giantstep.spectra.tracy_widom import tracy_widom_moments


@dataclass(frozen=True)
class GradientSpikes:
    """Of one run: singular values 1, 2, 3 of the gradient, |cosines| of the right singular vectors.

    ``residue`` -> |<v_1, X^T r>|/|X^T r|, ``spike`` -> |<v_2, q>|, q the spike of the inputs,
    ``noise`` -> ``noise_edge``.
    """

    values: Float[np.ndarray, " three"]
    residue: float
    spike: float
    noise: float


def noise_edge(
    setting: Setting, inputs: Float[np.ndarray, "n d"], residual: Float[np.ndarray, " n"]
) -> float:
    """Largest singular value of the gradient's noise given the batch, as predicted.

    Beside c_1, the slope sigma'(w.x) is c_2 w.x and a remainder of variance Var(sigma') - c_2^2
    that is independent from sample to sample.  With S = X^T diag(r) X/n the rows of the gradient
    are noise of covariance

        s_p^2 (c_2^2 S^2/d + (Var(sigma') - c_2^2) X^T diag(r)^2 X/n^2),

    p of them, for readout weights +-1: a law of Marchenko and Pastur.  Its edge, with the mean of
    Tracy and Widom's law, is sigma_2 without a spike; the direction q is left out of X.
    """
    (n, d), moments = inputs.shape, setting.activation.moments
    free = inputs[:, :-1]
    matrix = free.T @ (residual[:, None] * free) / n
    scatter = free.T @ (residual[:, None] ** 2 * free) / n**2
    remainder = moments.slope_variance - moments.tilt**2
    covariance = setting.scale**2 * (moments.tilt**2 * matrix @ matrix / d + remainder * scatter)
    scales = np.linalg.eigvalsh(covariance)
    # Smaller eigenvalues are zero: there are n < d samples.
    scales = scales[scales > 1e-12 * scales[-1]]
    edge = Bulk(scales, np.full(len(scales), 1.0 / setting.p), setting.p).upper
    return math.sqrt(setting.p * (edge.place + edge.shift + edge.scale * tracy_widom_moments()[0]))


def gradient_spikes(setting: Setting) -> Iterator[GradientSpikes]:
    """Run by run, from the first step of the dense engine; q is the last axis."""
    from giantstep.simulation.engines.dense import DenseEngine

    engine = DenseEngine(setting, MEMORY, Meter(0, None))
    for run in range(setting.runs):
        engine.begin(run)
        start = np.asarray(engine.weights)
        inputs, labels = engine.batch(0).inputs_and_labels()
        features = np.asarray(setting.activation(start @ inputs.T), dtype=float)
        residual = residuals(setting, labels, network_output(setting, features, engine.readout))
        engine.step(0)
        update = np.asarray(engine.weights) - start
        # The few leading ones: those of the Gram matrix, largest last.
        squares, right = np.linalg.eigh(update.T @ update)
        residue = inputs.T @ residual
        yield GradientSpikes(
            np.sqrt(squares[:-4:-1]) / setting.step_size[0],
            float(abs(right[:, -1] @ residue) / np.linalg.norm(residue)),
            float(abs(right[-1, -2])),
            noise_edge(setting, inputs, residual),
        )


def predicted_spikes(setting: Setting, strength: float) -> tuple[float, float]:
    """Singular values of the two parts of the gradient, a beta^T and (a * W q) q^T.

        S_1 = s_p |a| c_1 |beta|, |beta|^2 = |E[y x]|^2 + E[r^2] (d + zeta^2)/n
        S_2^2 = s_p^2 |a|^2 ((c_2 E[r] (1 + zeta^2))^2/d + E[r^2] Var(sigma') (1 + zeta^2)/n)

    c_1 = E sigma', c_2 = E sigma'', E[r^2] = E[y^2] + Var f_0; q outside what the label knows, so
    that E[r z^2] = E[r], z the coordinate along it over its deviation; a of mean zero and entries
    +-1; ``strength`` -> zeta^2.  The second term of S_2 is noise of the samples along q.
    """
    moments, series = setting.activation.moments, setting.target.series
    mean = float(series.coefficients[series.degrees == 0].sum())
    linear = float((series.coefficients[series.degrees == 1] ** 2).sum())
    square = series.square + moments.variance * setting.p * setting.scale**2
    d, n, unit = setting.d, setting.n, setting.scale * math.sqrt(setting.p)
    first = moments.slope * math.sqrt(linear + square * (d + strength) / n)
    noise = square * (moments.slope_square - moments.slope**2) * (1.0 + strength) / n
    second = math.sqrt((moments.tilt * mean * (1.0 + strength)) ** 2 / d + noise)
    return unit * first, unit * second


def rank_of_the_gradient(
    setting: Fields, *, beyond: float, untold: Fields, d: Sequence[int], runs: Runs
) -> Findings:
    """One singular value of order one without a growing spike, two with a spike of n^(1/4).

    The spike that is simulated is larger by n^``beyond`` than theory is told, and the simulation
    has the fields ``untold``.
    """
    settings = at_sizes(FIRST_LAYER | dict(setting), d, runs)
    without, spiked = (_at_one_spike(settings, nu, beyond, untold) for nu in (0.0, 0.25))
    ratio, aligned = spiked.predicted[-1], (0.5, math.inf)
    quantities = [
        _exponent(r"$\nu=0$", without, NOT_LEARNED, without.noise_slope),
        _exponent(r"$\nu=1/4$", spiked, LEARNED, growth(spiked.predicted, spiked.n)),
        _over_noise(rf"$\sigma_2$, $\nu=0$, $d={d[-1]}$", 2, without, d[-1]),
        _over_noise(rf"$\sigma_3$, $\nu=1/4$, $d={d[-1]}$", 3, spiked, d[-1]),
        mean_of(
            rf"$\sigma_2/\sigma_1$, $\nu=1/4$, $d={d[-1]}$",
            spiked.ratios(2)[-1],
            (0.0, math.inf),
            ratio,
            # Overlaps of what is random in W, X and r are of relative order d^(-1/2).
            allowance=ratio * d[-1] ** -0.5,
        ),
        # Halfway between no overlap and a full one.
        mean_of(r"cosine of $v_1$ and $X^{\top}r$, $\nu=0$", without.last("residue"), aligned),
        mean_of(r"cosine of $v_1$ and $X^{\top}r$, $\nu=1/4$", spiked.last("residue"), aligned),
        mean_of(r"cosine of $v_2$ and the inputs' spike, $\nu=1/4$", spiked.last("spike"), aligned),
    ]
    curves = [
        scaling_curve(r"$\nu=0$, second", without.n, without.ratios(2)),
        scaling_curve(r"$\nu=1/4$, second", spiked.n, spiked.ratios(2)),
        scaling_curve(r"$\nu=1/4$, third", spiked.n, spiked.ratios(3)),
        Curve(r"$\nu=1/4$, second", list(spiked.n), list(spiked.predicted), theory=True),
    ]
    label = r"singular value over the first, $\sigma_k/\sigma_1$"
    return Findings(quantities, Plot("samples $n$", label, curves, "log", "log"))


@dataclass(frozen=True)
class SpikedSizes:
    """Gradients at growing sizes with a spike of n^nu, and the predicted sigma_2/sigma_1."""

    n: Sequence[int]
    gradients: Sequence[Sequence[GradientSpikes]]
    predicted: Sequence[float]

    def ratios(self, k: int) -> list[Float[np.ndarray, " runs"]]:
        """sigma_k/sigma_1 at each size."""
        return [
            np.array([spikes.values[k - 1] / spikes.values[0] for spikes in runs])
            for runs in self.gradients
        ]

    @property
    def noise_slope(self) -> float:
        """Exponent in n of the predicted edge of noise over the first singular value."""
        medians = [
            float(np.median([spikes.noise / spikes.values[0] for spikes in runs]))
            for runs in self.gradients
        ]
        return growth(medians, self.n)

    def last(self, name: str) -> Float[np.ndarray, " runs"]:
        """A cosine of every run at the largest size."""
        return np.array([getattr(spikes, name) for spikes in self.gradients[-1]])


def _exponent(name: str, sizes: SpikedSizes, region: Region, expected: float) -> Quantity:
    name = rf"exponent of $\sigma_2/\sigma_1$, {name}"
    return exponent_of(name, sizes.n, sizes.ratios(2), region, expected, allowance=drift(sizes.n))


def _over_noise(name: str, k: int, sizes: SpikedSizes, d: int) -> Quantity:
    """Singular value k at the largest size over the predicted edge of noise, run by run."""
    ratios = [spikes.values[k - 1] / spikes.noise for spikes in sizes.gradients[-1]]
    return mean_of(f"{name}, over the edge of noise", ratios, (0.8, 1.25), 1.0, allowance=d**-0.5)


def _at_one_spike(
    settings: Sequence[Setting], nu: float, beyond: float, untold: Fields
) -> SpikedSizes:
    """A spike of n^nu is predicted, one of n^(nu + beyond) simulated with the fields ``untold``."""
    gradients, predicted = [], []
    for setting in settings:
        first, second = predicted_spikes(setting, setting.n ** (2.0 * nu))
        predicted.append(second / first)
        strength = setting.n ** (2.0 * (nu + beyond))
        taken = setting.vary(**untold, inputs=f"spiked({strength:.12g}, 0)")
        gradients.append(list(gradient_spikes(taken)))
    return SpikedSizes([setting.n for setting in settings], gradients, predicted)


CLAIMS = (
    Claim(
        id="gradient-of-spiked-inputs",
        statement=(
            r"Inputs with a spike of standard deviation $n^\nu$ give the gradient of one step "
            "a second singular value, along the spike. Compared with the first, "
            r"along $X^{\top}r$, it is of order $n^{2\nu-1/2}$. So the gradient has rank one "
            r"for $\nu<1/4$ and rank two from $\nu=1/4$ on."
        ),
        source=sources.beyond(
            sources.INPUT_SPIKE.paper,
            sources.INPUT_SPIKE.place,
            "The boundary $1/4$ is that of a figure's caption. "
            r"The exponent $2\nu-1/2$ of the second singular value is ours.",
        ),
        regime=(
            "$n=3d/4$, and $p=5d/4$ neurons start on the sphere. The output scale is "
            r"$1/\sqrt{p}$, labels have mean one, and $\nu=0$ or $1/4$."
        ),
        rule=(
            r"The exponent in $n$ of $\sigma_2/\sigma_1$ is below $-1/4$ at $\nu=0$. At "
            r"$\nu=1/4$ it is above $-1/4$ (0 in the limit). Both are as predicted at these "
            r"$n$. At the largest $n$, $\sigma_2$ at $\nu=0$ and $\sigma_3$ at $\nu=1/4$ are "
            r"at the predicted edge of noise. The ratio $\sigma_2/\sigma_1$ at $\nu=1/4$ is "
            r"as predicted. The cosines of $v_1$ with $X^{\top}r$ and of $v_2$ with the "
            "inputs' spike are above $1/2$."
        ),
        experiment=rank_of_the_gradient,
        setting={
            "target": "1 + x1",
            "activation": "softplus",
            "n": "0.75*d",
            "p": "1.25*d",
            "steps": 1,
            "step_size": "p^0.5",
            "output_scale": "1/sqrt(p)",
            "start": "sphere",
            "readout_start": "alternating",
            "engine": "dense",
            "precision": "float64",
        },
        options={"beyond": 0.0, "untold": {}},
        controls={
            "no spike": Changes(options={"beyond": -math.inf}),
            "a spike larger by $n^{1/4}$ than theory is told": Changes(options={"beyond": 0.25}),
            (
                r"no spike, and an even activation, which has no part along $X^{\top}r$: only "
                "noise is left"
            ): Changes(options={"beyond": -math.inf, "untold": {"activation": "He2/2"}}),
        },
        # p = 5 d/4 is even.
        quick={"d": (32, 112, 384), "runs": (144, 24, 16)},
        full={"d": (248, 496, 1000), "runs": (32, 16, 8)},
    ),
)
