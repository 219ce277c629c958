"""Words of giant steps: their size, their batches, and how far neurons point along the target."""

from __future__ import annotations

from giantstep.papers.glossary.term import GIANT, REUSE, TWO_STEPS, Term

TERMS = (
    Term(
        ("giant", "giant step", "step size"),
        "A step so large that it changes a neuron by as much as the neuron is long.  The step size "
        '"giant" is the size at which that is so for this target and start, from the n ~ d^l '
        "samples that one step needs (from fewer the rows gain more noise than signal); "
        '"3*giant" and "giant/2" are multiples of it.  Smaller steps learn less; sizes that grow '
        "with d faster than it make the rows forget where they started.",
        "eta = |w| d^((l - 1)/2) / (s_p |a|), l the leap index",
        ("leap", "output scale"),
        f"{GIANT}, theorem on one step",
    ),
    Term(
        ("step", "after step", "steps"),
        "One update of the first layer on one batch; 0 is the start.  Rows of tables below a step "
        "are what is found after it.",
        see=("giant", "batch"),
    ),
    Term(
        ("fresh", "fresh batches"),
        "Every step sees new samples.  Then a step depends on the labels only through the part "
        "that the residual shows on average, and the staircase of the target decides.",
        see=("reused", "staircase"),
        paper=f"{GIANT}, Conjecture 1",
    ),
    Term(
        ("reused", "reused batches", "repeat", "minibatch"),
        "Steps that see samples again.  After one step a neuron has moved along every sample by "
        "its own label, so the next step sees transforms of the label and reaches what fresh "
        "batches cannot.  repeat(k): each batch k times in a row; minibatch(N): n of a fixed N.",
        see=("fresh", "generative exponent"),
        paper=f"{REUSE}; {TWO_STEPS}",
    ),
    Term(
        ("overlap", "M"),
        "The inner product of a neuron with a target direction; at a random start of order "
        "d^(-1/2), and of order one once the direction is learned.",
        "<w_i, w*_k>",
        ("cosine", "alignment", "order d^-1/2"),
    ),
    Term(
        ("cosine", "median |cosine|", "cosine_1", "cosine_2", "cosine_3"),
        "The overlap of a neuron over its length: how much of the neuron points along the "
        "direction.  Tables show the median of its absolute value over neurons; for a subspace, "
        "the length of the neuron's projection.",
        "|P w_i| / |w_i|",
        ("overlap", "principal cosines"),
    ),
    Term(
        (
            *("principal cosines", "principal cosine", "span"),
            *("principal_cosine_1", "principal_cosine_2", "principal_cosine_3"),
        ),
        "How well the rows of W together span the target directions: cosines of the angles between "
        "the two subspaces, the best direction first.  1 says that a direction is in the span.",
        see=("cosine", "alignment"),
    ),
    Term(
        ("alignment",),
        "How far along the target something points.  In a sweep: the median over neurons of the "
        "projection on all target directions over their length.  In a spectrum: the length of a "
        "leading right singular vector of W in the span of the target.",
        "|W* w_i| / |w_i|;  |W* v_k|",
        ("overlap", "outlier"),
        TWO_STEPS,
    ),
    Term(
        ("order d^-1/2", "of order d^-1/2", "~ d^-1/2", "chance"),
        "The size of a cosine between a neuron and a direction it knows nothing of.  Theory at "
        "leading order counts it as 0, and one run shows this much of it by chance: no "
        "disagreement.",
        "E |<w, w*>| / |w| = sqrt(2/(pi d)) for random w",
        ("cosine", "start"),
    ),
)
