"""What is found in labels whose function is not known: directions, a function, tests of noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.problem.setting import Setting
from giantstep.problem.target import Target
from giantstep.records.plain import fields_of, plain


@dataclass(frozen=True)
class StepTest:
    """One kind of step on all rows against noise, and its directions on two halves of them.

    statistic -> its largest singular value, edge -> what noise exceeds with probability level,
    count -> directions beyond that edge, one at least; cosine -> between as many leading ones of
    the halves: for one direction |cos|, for several the root mean square of the principal cosines
    of their spans, since directions of nearly the same strength are only known together; expected
    -> what the fitted function gives for it, None where that is not known.
    """

    kind: str
    statistic: float
    edge: float
    level: float
    cosine: float
    expected: float | None = None
    count: int = 1

    @property
    def beyond_noise(self) -> bool:
        """Whether the statistic exceeds the edge."""
        return self.statistic > self.edge

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return fields_of(self) | {"beyond_noise": self.beyond_noise}


@dataclass(frozen=True)
class FittedLabels:
    """The labels of a data set as a function of few directions, where there is one.

    function -> a Hermite polynomial of the projections on ``directions`` (orthonormal rows), None
    where no direction was found; explained -> its variance, that of the labels being one,
    stability -> mean squared principal cosine between the spans of different folds, needed -> rows
    after which its directions are half found, names -> those of the columns.
    """

    function: Target | None
    directions: Float[np.ndarray, "k d"]
    explained: float
    stability: float
    needed: float
    tests: tuple[StepTest, ...]
    names: tuple[str, ...] = ()

    @property
    def written_directions(self) -> list[str]:
        """Every direction as a sum of its four leading columns: x1 = 0.72 s0 + 0.61 s1 + ..."""
        most, lines = 4, []
        for k, direction in enumerate(self.directions, start=1):
            leading = np.argsort(-np.abs(direction), kind="stable")[:most]
            terms = [f"{direction[i]:+.2f} {self.names[i]}" for i in leading]
            text = " ".join(terms).removeprefix("+").replace(" +", " + ").replace(" -", " - ")
            lines.append(f"x{k} = {text}{' + ...' if len(direction) > most else ''}")
        return lines

    def model(self, setting: Setting) -> Setting | None:
        """The setting with Gaussian inputs and this function, the rest of the labels as noise."""
        if self.function is None:
            return None
        noise = math.sqrt(max(1.0 - self.function.series.variance, 0.0))
        rows = setting.start_rows
        return setting.vary(
            target=self.function,
            inputs="gaussian",
            start_rows=None if rows is None else rows.values @ self._basis.T,
            frame="random",
            noise=noise,
            d=setting.d,
            n=setting.n,
            test_n=setting.test_n,
            step_size=setting.step_size or 1.0,
        )

    @property
    def _basis(self) -> Float[np.ndarray, "d d"]:
        """An orthonormal basis whose first vectors are the directions."""
        k = len(self.directions)
        others = np.linalg.qr(self.directions.T, mode="complete")[0][:, k:]
        return np.concatenate([self.directions, others.T])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, None for what is not finite."""
        return fields_of(self, "function", "names", "needed") | {
            "function": None if self.function is None else self.function.name,
            "columns": list(self.names),
            "needed_samples": plain(self.needed),
        }
