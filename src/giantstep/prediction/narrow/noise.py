"""What n samples add to the mean of a step: random numbers of a drawn run.

A drawn run is the deferred engine (docs/derivations/deferred.md) with its n samples replaced by
quadrature points of random weights.  ``Fluctuations`` are normal and come in opposite pairs, which
second derivatives are taken from; ``Samples`` are those of a run by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.gaussian import coordinates
from giantstep.prediction.narrow.points import Points
from giantstep.problem.setting import Setting
from giantstep.problem.starts import Space, typical_span


class Fluctuations:
    """Normal variables of a run, or with ``sign`` = -1 those of its opposite.

    ``opposite``: there may be such a run, so that everything is made odd in the variables.
    """

    opposite = True

    def __init__(self, seed: int, sign: float = 1.0) -> None:
        self.key, self.sign = np.random.default_rng(seed), sign

    def normals(self, *shape: int) -> Float[np.ndarray, "..."]:
        return self.sign * self.key.standard_normal(shape)

    def vectors(self, k: int, m: int) -> Float[np.ndarray, "k j"]:
        """k independent N(0, I_m) vectors: by Bartlett's coordinates, or of many all m of them."""
        return self.bartlett(k, m) if 2 * k <= m else self.normals(k, m)

    def bartlett(self, k: int, m: int) -> Float[np.ndarray, "k k"]:
        """Bartlett's matrix with chi replaced by sqrt(m - 1/2) + N(0, 1/2): of equal square."""
        normals = self.normals(k, k)
        lengths = np.sqrt(m - 0.5 - np.arange(k)) + math.sqrt(0.5) * np.diagonal(normals)
        return np.tril(normals, -1) + np.diag(lengths)

    def span(self, setting: Setting) -> Space:
        """Coordinates in the span of the known directions and of what is drawn."""
        r, d, directions = setting.target.r, setting.d, setting.known
        typical = typical_span(r, d, directions - r)

        def gaussian(count: int) -> Float[np.ndarray, "k q"]:
            along = self.normals(count, directions)
            return np.concatenate([along, self.vectors(count, d - directions)], axis=1)

        def frame(count: int) -> Float[np.ndarray, "m q"]:
            if directions == r:
                return typical.frame(count)
            others = np.concatenate(
                [self.normals(count, directions - r), self.bartlett(count, d - directions)], axis=1
            )
            # The symmetric root, which is odd in small fluctuations as QR is not.
            turned = np.linalg.eigh(others @ others.T)
            inverse = (turned.eigenvectors / np.sqrt(turned.eigenvalues)) @ turned.eigenvectors.T
            vectors = typical.frame(count)
            vectors[r:, r:] = inverse @ others
            return vectors

        return Space(d, gaussian, frame, typical.hold)

    def batch(self, points: Points, samples: int) -> Points:
        """The points with weights under which they average as so many samples do.

        w + sqrt(w/n) xi, xi normal and orthogonal to sqrt(w): averages have the means and
        covariances of averages over n samples (docs/derivations/readout.md).

        docs/derivations/readout.md, eq. (4).
        """
        root = np.sqrt(points.weights)
        xi = self.normals(len(root))
        noise = root * (xi - root * float(root @ xi)) / math.sqrt(samples)
        return replace(points, weights=points.weights + noise)


class Samples(Fluctuations):
    """Random variables of a run by itself, with at most so many samples of its own.

    ``single``: coordinates of samples are in single precision, as in a simulation.
    ``coordinates`` makes these of normals.
    """

    opposite = False

    def __init__(
        self, seed: int, setting: Setting, most_samples: int, *, single: bool = False
    ) -> None:
        super().__init__(seed)
        self.setting, self.most_samples = setting, most_samples
        self.coordinates: Callable[[Any], Any]
        self.dtype = np.float32 if single else np.float64
        self.coordinates = lambda normals: setting.inputs.stretched(normals, setting.target.r)

    def bartlett(self, k: int, m: int) -> Float[np.ndarray, "k j"]:
        """Bartlett's matrix as it is: of k vectors in R^m, at most m coordinates."""
        return coordinates.bartlett(self.key, k, m)

    def batch(self, points: Points, samples: int) -> Points:
        """So many new samples, or if they are too many, how often each point is among them.

        Not some of the points: these are spread more evenly than samples are.
        """
        if samples > self.most_samples:
            shares = points.weights / np.sum(points.weights)
            return replace(points, weights=self.key.multinomial(samples, shares) / samples)
        return self.samples(samples, points.x.shape[1])

    def samples(self, count: int, q: int) -> Points:
        """So many samples by their first q coordinates and the noise of their labels."""
        x = self.key.standard_normal((count, q), dtype=self.dtype)
        x = self.coordinates(x)
        noise = self.normals(count) if self.setting.noisy else np.zeros(count)
        spare, unknown = np.zeros(count), self.setting.d - q
        if self.setting.lookahead.kind.on_sample and unknown:
            spare = (self.key.chisquare(unknown, count) - unknown) / math.sqrt(2.0 * unknown)
        return Points(x, noise, spare, np.full(count, 1.0 / count))
