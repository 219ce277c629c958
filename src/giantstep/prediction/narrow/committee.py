"""Targets and networks that are sums of units with closed moments: the drift without points.

With u = (inner h, V z) the units of the network and of the target, b their shares in the residual
and D U = E[phi' R x] (gaussian/units.py), C = Cov(u):

    G = s_p a outer inner D U,    G G^T = s_p^2 a a^T (outer inner)^2 D C D^T
    B + (d - q) A = d A + 2 dA/dt  at C -> t C,  t = 1

since E[F |x|^2] = q E F + 2 d/dt E F for x -> sqrt(t) x, whatever F.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from giantstep.gaussian.kinks import KINKS, affine
from giantstep.gaussian.units import UNITS, Units
from giantstep.language.algebra import multiplied_out
from giantstep.language.expression import Call, Expression
from giantstep.prediction.narrow.fresh import Drift
from giantstep.problem.setting import Setting


@dataclass(frozen=True)
class Committee:
    """sigma(h) = outer phi(inner h), and f(z) = sum_m shares_m phi(V_m z), linear units as such."""

    units: Units
    inner: float
    outer: float
    rows: Float[np.ndarray, "m r"]
    shares: Float[np.ndarray, " m"]
    linear: Bool[np.ndarray, " m"]

    def complete(self, p: int, *, most_products: int = 2**19) -> bool:
        """Whether the averages of p neurons all have closed forms that are not too many.

        Products of two units under the slopes of two neurons: 2^19, p = 24 or so, take some
        hundredths of a second an evaluation, beyond which points are faster.
        """
        products = p**2 * (p + len(self.shares)) ** 2
        return self.units.squares is not None and products <= most_products

    def drift(
        self,
        setting: Setting,
        overlap: Float[np.ndarray, "k p r"],
        gram: Float[np.ndarray, "k p p"],
        readout: Float[np.ndarray, "k p"],
    ) -> Drift:
        """One step's means from the overlaps and Gram matrices of several networks.

        H is NaN where A has no closed form.
        """
        p = readout.shape[1]
        covariance, shares, linear = self._residual(setting, overlap, gram, readout)
        if setting.labels_only:
            shares[:, :p] = 0.0
        sizes = setting.scale * self.outer * self.inner * readout
        pulls = sizes[:, :, None] * self.units.pull(covariance, shares, linear, p)
        by_rows, by_target = self.inner * pulls[:, :, :p], pulls[:, :, p:] @ self.rows
        product = pulls @ covariance @ pulls.mT
        return Drift(
            pull=by_rows @ overlap + by_target,
            cross=by_rows @ gram + by_target @ overlap.mT,
            gradient=self._gradient(setting, covariance, shares, linear, sizes, product),
        )

    def errors(
        self,
        setting: Setting,
        overlap: Float[np.ndarray, "k p r"],
        gram: Float[np.ndarray, "k p p"],
        readout: Float[np.ndarray, " p"],
        *,
        together: int = 2**12,
    ) -> Float[np.ndarray, " k"]:
        """E (y - output)^2 of networks with one readout, so many together: some megabytes."""
        errors = np.empty(len(gram))
        for begin in range(0, len(gram), together):
            part = slice(begin, begin + together)
            readouts = np.broadcast_to(readout, gram[part].shape[:2])
            covariance, shares, linear = self._residual(
                setting, overlap[part], gram[part], readouts
            )
            products = self.units.products(covariance, linear)
            weights = shares[:, :, None] * shares[:, None, :]
            errors[part] = np.sum(products * weights, axis=(1, 2)) + setting.noise**2
        return errors

    def _residual(
        self,
        setting: Setting,
        overlap: Float[np.ndarray, "k p r"],
        gram: Float[np.ndarray, "k p p"],
        readout: Float[np.ndarray, "k p"],
    ) -> tuple[Float[np.ndarray, "k u u"], Float[np.ndarray, "k u"], Bool[np.ndarray, " u"]]:
        """y - output as a sum of units: their covariance, their shares, and which are linear."""
        networks, p = readout.shape
        across = self.inner * overlap @ self.rows.T
        teacher = np.broadcast_to(self.rows @ self.rows.T, (networks, *2 * (len(self.rows),)))
        covariance = np.block([[self.inner**2 * gram, across], [across.mT, teacher]])
        target = np.broadcast_to(self.shares, (networks, len(self.shares)))
        shares = np.concatenate([-setting.scale * self.outer * readout, target], axis=1)
        return covariance, shares, np.concatenate([np.zeros(p, dtype=bool), self.linear])

    def _gradient(
        self,
        setting: Setting,
        covariance: Float[np.ndarray, "k u u"],
        shares: Float[np.ndarray, "k u"],
        linear: Bool[np.ndarray, " u"],
        sizes: Float[np.ndarray, "k p"],
        product: Float[np.ndarray, "k p p"],
        *,
        stretch: float = 1e-4,
    ) -> Float[np.ndarray, "k p p"]:
        """H = (1 - 1/n) G G^T + (B + (d - q) A)/n.

        It is NaN where A has no closed form.
        ``stretch`` of t on either side of 1 in dA/dt: its square is left out, of a term that is q/d
        of A.

        docs/derivations/long_runs.md, eq. (3).
        """
        units, p = self.units, sizes.shape[1]
        if units.squares is None or not self.complete(p):
            return np.full_like(product, np.nan)
        above, below = (
            units.squares(t * covariance, shares, linear, p)
            + setting.noise**2 * units.slopes(t * covariance, p)
            for t in (1.0 + stretch, 1.0 - stretch)
        )
        squares = 0.5 * setting.d * (above + below) + (above - below) / stretch
        squares *= sizes[:, :, None] * sizes[:, None, :]
        return (1.0 - 1.0 / setting.n) * product + squares / setting.n


def committee_of(setting: Setting) -> Committee | None:
    """The units of a setting's network and target, None where they are not all of one family.

    Labels as they are or with noise, the squared loss, no biases.
    """
    plain = setting.loss.kind.plain and setting.label_transform.is_plain and setting.bias == 0
    if not plain or setting.label_noise.jumps or setting.deflate >= 0:
        return None
    if setting.activation.expression is None or setting.target.expression is None:
        return None
    neuron = _parts(setting.activation.expression, 1)
    if neuron is None or len(neuron) != 1 or neuron[0].family not in UNITS:
        return None
    family = neuron[0].family
    target = _parts(setting.target.expression, setting.target.r)
    if target is None or any(part.family not in (family, "linear") for part in target):
        return None
    return Committee(
        units=UNITS[family],
        inner=float(neuron[0].row[0]),
        outer=neuron[0].share,
        rows=np.array([part.row for part in target]),
        shares=np.array([part.share for part in target]),
        linear=np.array([part.family == "linear" for part in target]),
    )


@dataclass(frozen=True)
class Part:
    """``share`` phi(``row`` . z), phi that of the ``family``: erf(u/sqrt 2), relu, or linear."""

    family: str
    share: float
    row: Float[np.ndarray, " r"]


def _parts(expression: Expression, r: int) -> list[Part] | None:
    """An expression as a sum of units, None where it is not one."""
    parts = []
    for (powers, functions), value in multiplied_out(expression, r).items():
        share = float(value)
        if not functions and sum(powers) == 1:
            parts.append(Part("linear", share, np.array(powers, dtype=float)))
            continue
        if sum(powers) > 0 or len(functions) != 1:
            return None
        [(node, power)] = functions
        form = affine(node.argument, r) if isinstance(node, Call) and power == 1 else None
        if form is None or form[1] != 0.0:
            return None
        assert isinstance(node, Call)
        row, kink = form[0], KINKS.get(node.function)
        if node.function == "erf":
            parts.append(Part("erf", share, math.sqrt(2.0) * row))
        elif kink is not None and kink.step == kink.one == 0.0:
            parts.append(Part("relu", share * kink.ramp, row))
            if kink.line:
                parts.append(Part("linear", share * kink.line, row))
        else:
            return None
    return parts
