"""The figures of the papers, simulated and predicted anew; ``REPRODUCTIONS`` has them by name."""

from giantstep.papers.figures import (
    alignment,
    counts,
    equivalence,
    gradients,
    higher_leaps,
    learning,
    limits,
    losses,
    neurons,
    phase,
    plateaus,
    regimes,
    spectra,
)
from giantstep.papers.figures.record import Reproduction

REPRODUCTIONS: dict[str, Reproduction] = {
    figure.name: figure
    for family in (
        neurons,
        gradients,
        phase,
        higher_leaps,
        learning,
        plateaus,
        regimes,
        spectra,
        losses,
        equivalence,
        counts,
        limits,
        alignment,
    )
    for figure in family.FIGURES
}
