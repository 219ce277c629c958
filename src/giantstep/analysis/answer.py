"""An analysis in a few plain sentences: what is learned, and what it takes to learn the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from jaxtyping import Float

from giantstep.analysis.analyze import Analysis
from giantstep.analysis.notes import lacks, obstacle
from giantstep.analysis.staircase import Stage, added
from giantstep.analysis.subspace import name_list, name_space, span

Basis = Float[np.ndarray, "_ r"]

ORDINALS = ("first", "second", "third", "fourth")
"""Steps that a sentence names."""

SMALL_PART = 0.02
"""Share of the target's standard deviation below which a part is called small.

The cosine of one step is the share times sqrt(n/d), up to a factor of order one: below a fiftieth
it takes 2,500 samples for each input.
"""


def answer(analysis: Analysis) -> list[str]:
    """What the record says, in sentences: fresh batches, the activation, more samples, reuse.

    Samples are counted in the effective dimension D where it is not d.
    """
    sentences = [*_sentences(analysis), *_gradient(analysis)]
    if analysis.inputs.letter == "d":
        return sentences
    size = f"{analysis.inputs.dimension:,.0f}"
    return [
        *(in_samples(sentence, analysis) for sentence in sentences),
        f"D = {size} is the effective dimension of the inputs.",
    ]


def in_samples(text: str, analysis: Analysis) -> str:
    """A text about samples n ~ d^k with the letter in which the analysis counts them."""
    return re.sub(r"\bd\b", analysis.inputs.letter, text)


def _sentences(analysis: Analysis) -> list[str]:
    learned = analysis.fresh.reached[-1]
    if len(learned) == len(directions(analysis)):
        several = "These are all directions" if len(learned) > 1 else "It is the only direction"
        return [_fresh(analysis), f"{several} of the target.", *_small_parts(analysis)]
    reused = added(learned, analysis.reused.reached[-1])
    samples, covered = _more_samples(analysis, learned, reused)
    return [
        _fresh(analysis),
        *_small_parts(analysis),
        *_blocked(analysis, learned),
        *samples,
        *_missing(analysis, learned),
        *([] if covered else _reused(analysis, learned, reused)),
        *_out_of_reach(analysis, learned),
        *["Some of this could not be decided: see below."] * bool(analysis.undecided),
    ]


def directions(analysis: Analysis) -> Basis:
    """What the target depends on: all that was found, and where some is undecided its coordinates.

    x1*x3 + x2*x3 has three coordinates and the two directions x1 + x2 and x3.
    """
    if analysis.undecided:
        return analysis.active
    stairs = (analysis.fresh.bases[-1], analysis.reused.bases[-1])
    return span(*stairs, *(stage.basis for stage in analysis.stages))


def named(basis: Basis, most: int = 4, longest: int = 40) -> str:
    """Up to ``most`` directions by their names, more of them or longer ones by their number."""
    names, text = name_space(basis), name_list(basis)
    if len(names) > most or len(text) > longest:
        return "one direction" if len(names) == 1 else f"{len(names)} directions"
    return text


def steps_needed(analysis: Analysis) -> int | None:
    """Steps on fresh batches of n ~ d after which this activation has learned every direction."""
    reached = analysis.fresh.reached_dimensions
    complete = [step for step, k in enumerate(reached, 1) if k == len(directions(analysis))]
    return min(complete, default=None)


def _needs(basis: Basis) -> str:
    return f"{named(basis)} need{'s' if len(basis) == 1 else ''}"


def _steps(bases: Sequence[Basis]) -> list[tuple[int, Basis]]:
    """The steps that add directions, with those they add."""
    nothing = bases[0][:0]
    pairs = zip([nothing, *bases], bases, strict=False)
    gains = [(step, added(before, now)) for step, (before, now) in enumerate(pairs, 1)]
    return [(step, basis) for step, basis in gains if len(basis)]


def _fresh(analysis: Analysis) -> str:
    """What each step learns from fresh batches of n ~ d with this activation."""
    gains = _steps(analysis.fresh.reached)
    if not gains:
        return _nothing(analysis)
    if len(gains) > len(ORDINALS):
        learned = analysis.fresh.reached[-1]
        return f"From n ~ d samples each, {len(gains)} steps learn {named(learned)}."
    (_, basis), *later = gains
    text = f"From n ~ d samples the first step learns {named(basis)}"
    for step, more in later:
        text += f", the {ORDINALS[step - 1]} {named(more)}"
    return f"{text}."


def _gradient(analysis: Analysis) -> list[str]:
    """Where the first step moves neurons, if that is no direction of the staircase."""
    learned = analysis.fresh.reached[0] if analysis.fresh.reached else np.zeros((0, 0))
    if len(learned) != 1:
        return []
    gradient = analysis.inputs.mean_gradient(analysis.series)
    direction = gradient[None] / np.linalg.norm(gradient)
    if not len(added(learned, direction)):
        return []
    return [
        "These directions refer to inputs scaled to unit normals. In the inputs themselves, "
        f"the first step moves neurons along {named(direction)}."
    ]


def _small_parts(analysis: Analysis) -> list[str]:
    """The first step that uses a small part of the target: it takes far more samples than d."""
    # An activation may take more steps than the staircase has: it then climbs what was decided.
    decisions = analysis.fresh.decisions
    for step, _ in _steps(analysis.fresh.reached[: len(decisions)]):
        share = decisions[step - 1].smallest_kept
        if share is not None and share < SMALL_PART:
            return [
                f"But step {step} uses a small part of the target, {100.0 * share:.2g} % of its "
                "standard deviation, so n must be many times d."
            ]
    return []


def _nothing(analysis: Analysis) -> str:
    text = "From n ~ d fresh samples no step learns anything"
    if len(analysis.fresh.bases[-1]):
        return f"{text} with {analysis.activation.name}."
    if analysis.leap_index is None or not analysis.fresh.converged:
        return f"{text}, as far as could be decided."
    return f"{text}: the lowest degree of the target is {analysis.leap_index}."


def _blocked(analysis: Analysis, learned: Basis) -> list[str]:
    """What other activations learn from fresh batches of n ~ d, and why this one does not."""
    others = added(learned, analysis.fresh.bases[-1])
    causes = [entry for entry in analysis.fresh.blocked if len(added(learned, entry.basis))]
    if not len(others) or not causes:
        return []
    also = "also " * bool(len(learned))
    why = obstacle(analysis.activation, causes[0])
    return [f"Other activations can {also}learn {named(others)}, but {why}."]


def _stages(analysis: Analysis) -> tuple[Stage, ...]:
    """The stages, none where not even the leap index could be decided."""
    return analysis.stages if analysis.leap_index is not None else ()


def _more_samples(analysis: Analysis, learned: Basis, reused: Basis) -> tuple[list[str], bool]:
    """Directions that need larger batches than n ~ d, and whether reused batches were told too."""
    possible = [stage for stage in _stages(analysis) if stage.missing is None]
    # What follows a leap needs at least the samples of that leap.
    needed = list(accumulate((stage.leap for stage in possible), max))
    groups = {
        leap: added(
            learned, span(*(s.basis for s, k in zip(possible, needed, strict=True) if k == leap))
        )
        for leap in sorted(set(needed) - {1})
    }
    if not groups:
        return [], False
    with_it = f"With {analysis.activation.name}, " * bool(analysis.fresh.blocked)
    (leap, first), *larger = groups.items()
    sentence = f"{with_it}{_needs(first)} about d^{leap} samples a step"
    sentence += "".join(f", {named(space)} d^{k}" for k, space in larger[:3])
    covered = not larger and len(first) == len(reused) and not len(added(first, reused))
    return [sentence + ", or reused batches of n ~ d samples" * covered + "."], covered


def _missing(analysis: Analysis, learned: Basis) -> list[str]:
    """Directions that more samples do not teach, because the activation lacks a degree."""
    missing = [stage for stage in _stages(analysis) if stage.missing is not None]
    if not missing:
        return []
    name = analysis.activation.name
    # Of the others n ~ d samples are enough for another activation: it was said already.
    missing = [stage for stage in missing if len(added(analysis.fresh.bases[-1], stage.basis))]
    if not missing:
        return [f"More samples do not help {name}."]
    blocked = added(analysis.fresh.bases[-1], span(*(stage.basis for stage in missing)))
    degrees = sorted({stage.missing for stage in missing if stage.missing is not None})
    why = lacks(analysis.activation, degrees[0]) + "".join(f" or {k}" for k in degrees[1:3])
    leaps = {leap for leap in analysis.leaps if leap > 1}
    if len(leaps) == 1:
        return [f"{_needs(blocked)} about d^{leaps.pop()} samples and another activation: {why}."]
    return [f"With {name}, more samples do not teach {named(blocked)}: {why}."]


def _reused(analysis: Analysis, learned: Basis, gains: Basis) -> list[str]:
    """What reused batches of n ~ d learn beyond fresh ones."""
    if len(gains):
        last, _ = _steps(analysis.reused.reached)[-1]
        also = "also " * bool(len(learned))
        return [f"Reused batches of n ~ d samples {also}learn {named(gains)}, by step {last}."]
    others = added(learned, analysis.reused.bases[-1])
    beyond = added(analysis.fresh.bases[-1], others) if len(others) else others
    if len(beyond):
        return [f"With reused batches of n ~ d samples other activations learn {named(beyond)}."]
    tried = analysis.label_degree > 1 or analysis.weak_recovery is not None
    return ["Reused batches of n ~ d samples do not help."] * (tried and analysis.reused.converged)


def _out_of_reach(analysis: Analysis, learned: Basis) -> list[str]:
    """Directions that nothing of the above learns."""
    spaces: list[Basis] = [learned, analysis.reused.bases[-1], analysis.fresh.bases[-1]]
    spaces += [stage.basis for stage in _stages(analysis)]
    left = directions(analysis)
    for space in spaces:
        left = added(space, left) if len(left) else left
    if not len(left):
        return []
    return [f"No way to learn {named(left)} was found up to degree {analysis.series.degree}."]
