"""The figures of the papers, simulated and predicted anew; ``REPRODUCTIONS`` has them by name."""

from giantstep.papers.figures import (
    alignment,
    gradients,
    learning,
    neurons,
    phase,
    readout,
    spectra,
)
from giantstep.papers.figures.record import Reproduction

REPRODUCTIONS: dict[str, Reproduction] = {
    figure.name: figure
    for family in (neurons, gradients, phase, learning, readout, spectra, alignment)
    for figure in family.FIGURES
}
