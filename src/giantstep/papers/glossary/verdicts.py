"""Words of sweeps, claims and lists."""

from __future__ import annotations

from giantstep.papers.glossary.term import Term

TERMS = (
    Term(
        (
            *("exponent", "of the median", "predicted, of the mean", "interval", "not learned"),
            *("bootstrap", "level"),
        ),
        (
            "The exponent is the power of $d$ that an observable follows over the sizes of a "
            "sweep.  It is about 0 for a direction that is learned, and $-1/2$ for one that is "
            "not.  The measured exponent is that of the median over runs.  Its interval has "
            "level 0.99, from a bootstrap over runs.  The predicted exponent is that of the "
            "mean.  A direction is learned where the whole interval is above $-1/4$, not learned "
            "where it is below, else undecided."
        ),
        r"$|\cos|\sim{d^{\gamma}}$, where $\gamma$ is the exponent",
        ("learns", "order d^-1/2"),
        linked=("bootstrap",),
    ),
    Term(
        ("verdict",),
        (
            "The verdict is what follows from the numbers.  Of theory and simulation: agree or "
            "disagree.  Of a claim: holds, fails or undecided; of a finding: seen, not seen or "
            "undecided.  Of an exponent: learned, not learned or undecided.  Of a step on data: "
            "beyond or within noise."
        ),
        see=("theory", "claim", "exponent"),
    ),
    Term(
        ("cell", "cells", "grid", "axis", "axes"),
        (
            "A cell is one setting of a sweep.  The axes of a sweep are the fields that vary, "
            "and its grid has a cell for each combination of their values.  With the frame axes "
            "the target directions are the first axes of the inputs."
        ),
        see=("setting", "finished", "frame"),
    ),
    Term(
        ("finished", "failed", "worker", "workers", "arrays"),
        (
            "A cell of a sweep is finished if all its runs are there, and failed if it ended in "
            "an error, which is printed.  Workers are the processes that share the runs; arrays "
            "are the memory that each of them takes at most."
        ),
        see=("cell", "engine"),
    ),
    Term(
        ("boundary", "map"),
        (
            "The boundary is the value of the observable at which map.png draws its lines, white "
            "for the simulation and dashed for theory.  It is 0.5 for cosines unless "
            "`--boundary` says otherwise.  For other observables it is the middle of the range."
        ),
        see=("cell", "cosine"),
    ),
    Term(
        ("differing in", "difference"),
        (
            "The title of `giantstep compare` names the fields in which the settings differ, "
            "with the value of each in turn.  The difference is what a setting has after its "
            "last step beyond the first one."
        ),
        see=("setting", "runs"),
    ),
    Term(
        ("name", "formula", "remark", "source", "figure", "shows", "paper"),
        (
            "These are columns of the lists of targets and figures: the name that a command "
            "takes, what it stands for, and where it is from."
        ),
        see=("claim",),
    ),
    Term(
        (
            *("claim", "control", "holds", "fails", "says", "quantity", "rule", "tuned", "seen"),
            *("holds instead", "statement", "finding", "not seen", "assumptions", "tested at"),
        ),
        (
            "A claim is a sentence of a paper, with an experiment that could contradict it.  The "
            "rule describes the region where its numbers must lie.  A control violates an "
            "assumption and must fail.  A claim without such a test would say nothing.  A "
            "statement of a paper holds, fails or is undecided.  A finding, which no paper "
            "states, is seen, not seen or undecided.  Assumptions are those of the source; "
            "'tested at' has the sizes of the experiment."
        ),
        see=("undecided", "verdict"),
    ),
)
