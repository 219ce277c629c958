"""What the law of the inputs makes of a target: another function of normals, and of d.

Inputs x = mu + Sigma^(1/2) z have along the target directions the means m_k and the variances S_k.
The analysis is that of g(u) = f(m + S^(1/2) u), u ~ N(0, I), and a step needs n ~ D^k samples
where it needs n ~ d^k of inputs N(0, I).  See docs/derivations/structured_inputs.md, eqs. (3) to
(6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.gaussian.series import HermiteSeries
from giantstep.problem.frames import FORMS, block_profiles, frame_shares, read_frame
from giantstep.problem.inputs import LAWS, InputLaw, make_inputs
from giantstep.problem.target import Target


@dataclass(frozen=True)
class SeenInputs:
    """The inputs along the target directions.

    ``means`` -> m_k and ``variances`` -> S_k = w*_k^T Sigma w*_k of <w*_k, x>; ``dimensions`` ->
    D_k = tr(Sigma) S_k/(w*_k^T Sigma^2 w*_k), in place of d; ``growth`` is the power of d with
    which the smallest D_k grows about this d.

    docs/derivations/structured_inputs.md, eqs. (3), (4) and (6).
    """

    law: str
    d: int
    means: tuple[float, ...]
    variances: tuple[float, ...]
    dimensions: tuple[float, ...]
    growth: float

    @property
    def is_gaussian(self) -> bool:
        """Whether x ~ N(0, I)."""
        return make_inputs(self.law).is_gaussian

    @property
    def dimension(self) -> float:
        """The smallest effective dimension: that of the direction a step learns first."""
        return min(self.dimensions)

    @property
    def letter(self) -> str:
        """What the samples of a step are counted in: d, or D where the dimension is another."""
        return "d" if round(self.dimension) == self.d else "D"

    def standard(self, target: Target) -> Target:
        """The target as a function g(u) = f(m + S^(1/2) u) of unit normals."""
        means, deviations = np.array(self.means), np.sqrt(self.variances)
        if target.column or (not np.any(means) and np.all(deviations == 1.0)):
            return target
        return replace(
            target.compose(np.diag(deviations), means),
            notes=(*target.notes, *self._notes(deviations.tolist())),
        )

    def mean_gradient(self, series: HermiteSeries) -> Float[np.ndarray, " r"]:
        """E[y <w*_k, x>] = S_k^(1/2) T_1 + m_k T_0 for each k: the direction of the first step.

        ``series`` -> of g(u), whose coefficients T_0 and T_1 are.
        """
        slope = np.sqrt(self.variances[: series.r]) * series.tensor(1)
        return np.asarray(slope + np.array(self.means[: series.r]) * float(series.tensor(0)))

    def _notes(self, deviations: list[float]) -> list[str]:
        """Which function is analysed, and what unequal variances change."""
        forms = [
            f"x{k} for {'' if scale == 1.0 else f'{scale:.4g}*'}x{k}{f' {mean:+.4g}' * (mean != 0)}"
            for k, (mean, scale) in enumerate(zip(self.means, deviations, strict=True), start=1)
            if mean != 0.0 or scale != 1.0
        ]
        sentences = [
            f"Inputs {self.law} are written by unit normals: {forms[0]}"
            + (f", and so on for {len(forms)} directions." if len(forms) > 1 else ".")
        ]
        if max(self.variances) > min(self.variances):
            sentences.append(
                "The variances along the target directions differ, and a step leans to the larger "
                "ones. The staircase is that of steps on whitened inputs."
            )
        return sentences


def seen_inputs(inputs: InputLaw, frame: str, d: int, r: int) -> SeenInputs:
    """The inputs of a law along r target directions of a frame, at d inputs.

    docs/derivations/structured_inputs.md, eqs. (3), (4) and (6).
    """
    if not inputs.normal_about_mean:
        known = ", ".join(name for name in LAWS if InputLaw(name, (0.0, 0.0)).normal_about_mean)
        raise InputError(
            "inputs must be normal about one mean, of a covariance that the law knows, to be "
            f"analyzed ({known}), got {inputs.text!r}"
        )
    if read_frame(frame) is None:
        raise InputError(f"frame must be {FORMS}, got {frame!r}")
    inputs.check(d, r)
    frame_shares(frame, inputs, d, r)
    variances, dimensions = _along_target(inputs, frame, d, r)
    _, larger = _along_target(inputs, frame, 2 * d, r)
    return SeenInputs(
        law=inputs.text,
        d=d,
        means=(inputs.mean_along_target, *[0.0] * (r - 1)),
        variances=variances,
        dimensions=dimensions,
        growth=math.log2(min(larger) / min(dimensions)),
    )


@lru_cache(maxsize=64)
def _along_target(
    inputs: InputLaw, frame: str, d: int, r: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """S_k and D_k for each target direction."""
    axes, variances = np.array([float(d)]), np.ones(1)
    profiles = np.ones((r, 1))
    if inputs.in_blocks:
        blocks = inputs.blocks(d)
        axes, variances = blocks.sizes.astype(float), blocks.variances
        profiles = block_profiles(frame, inputs, d, r)
    elif inputs.spike is not None:
        square = inputs.spike[1] ** 2
        axes, variances = np.array([d - 1.0, 1.0]), np.array([1.0, inputs.spike[0]])
        profiles = np.array([[1.0 - square, square], *[[1.0, 0.0]] * (r - 1)])
    along, squares = profiles @ variances, profiles @ variances**2
    dimensions = float(axes @ variances) * along / squares
    return tuple(along.tolist()), tuple(dimensions.tolist())
