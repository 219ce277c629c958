"""How far a single run strays, from exact runs at fewer samples.

For samples that are seen again, and for labels whose fit strays with the batch: deviations from the
mean are of order n^(-1/2) at fixed n/d (docs/derivations/fluctuations.md).
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.prediction.narrow.fluctuations import Deviations
from giantstep.prediction.narrow.reused import share
from giantstep.prediction.narrow.start import Start
from giantstep.problem.setting import Setting
from giantstep.simulation.engines import deferred
from giantstep.simulation.meter import Meter
from giantstep.simulation.simulate import MEMORY

FEWEST_SAMPLES = 2**11
"""Samples of the runs that tell standard deviations: they scale as n^-1/2 from here on."""

SEED = 2**62
"""Seed of these runs, apart from those that a simulation is given."""

ROOM = 4
"""Dimensions of these runs over those that their basis may come to span."""


def samples(setting: Setting) -> int:
    """Samples of a run at the same n/d: those of the setting at most."""
    enough = math.ceil(ROOM * deferred.dimensions_needed(setting) * setting.n / setting.d)
    return min(setting.n, max(FEWEST_SAMPLES, enough))


def deviations(
    setting: Setting,
    start: Start,
    *,
    given: bool,
    runs: int,
    seed: int,
) -> Deviations:
    """Standard deviations over runs at fewer samples and the same n/d, times sqrt(fewer/n).

    The runs are exact ones, from rows and biases that are ``given``, or from starts of their own:
    what start and batch add to (M, Q) is of order d^-1/2 and n^-1/2.
    """
    n = samples(setting)
    d, batches = round(setting.d * n / setting.n), str(setting.batches)
    if setting.batches.name == "minibatch":
        batches = f"minibatch({round(n / share(setting))})"
    sizes = {"n": n, "d": d, "p": setting.p, "step_size": setting.step_size}
    small = setting.vary(
        **sizes, batches=batches, readout_n=0, test_n=0, spectra=0, seed=SEED + seed
    )
    engine = deferred.DeferredEngine(small, MEMORY, Meter(0, None))
    overlaps, grams = [], []
    for run in range(runs):
        engine.begin(run)
        engine.readout = start.readout
        if given:
            engine.rows, engine.biases = start.rows, start.biases
        states = [(engine.overlap, engine.gram)]
        for step in range(setting.steps):
            engine.step(step)
            states.append((engine.overlap, engine.gram))
        overlaps.append(np.stack([overlap for overlap, _ in states]))
        grams.append(np.stack([gram for _, gram in states]))
    norms = np.sqrt(np.diagonal(grams, axis1=2, axis2=3))
    scale = math.sqrt(n / setting.n)
    return Deviations(
        *(scale * np.std(values, axis=0, ddof=1) for values in (overlaps, norms, grams))
    )
