"""Words of giant steps: their size, their batches, and how far neurons point along the target."""

from __future__ import annotations

from giantstep.papers.glossary.term import GIANT, REUSE, TWO_STEPS, Term

TERMS = (
    Term(
        ("giant", "giant step", "step size"),
        (
            "A giant step changes a neuron by about its own length.  The step size `giant` is "
            r"the size at which this happens for this target and start, from $n\sim{d^\ell}$ "
            "samples.  With fewer samples the rows gain more noise than signal.  `3*giant` and "
            "`giant/2` are multiples of it.  Smaller steps learn less.  Steps that grow faster "
            "with $d$ make the rows forget where they started."
        ),
        r"$\eta=\|w\|\,d^{(\ell-1)/2}/(s_p|a|)$, where $\ell$ is the leap index",
        ("leap", "output scale"),
        f"{GIANT}, theorem on one step",
        linked=("giant step",),
    ),
    Term(
        ("step", "after step", "steps"),
        (
            "A step is one update of the first layer on one batch.  Step 0 is the start.  A row "
            "of a table shows the state after its step."
        ),
        see=("giant", "batch"),
    ),
    Term(
        ("fresh", "fresh batches"),
        (
            "Batches are fresh if every step uses new samples.  A step then depends only on the "
            "average gradient, and the staircase of the target decides what is learned."
        ),
        see=("reused", "staircase", "readout_batch"),
        paper=f"{GIANT}, Conjecture 1",
        linked=("fresh batch",),
    ),
    Term(
        ("reused", "reused batches", "repeat", "minibatch"),
        (
            "Batches are reused if steps use the same samples more than once.  The first step "
            "moves a neuron along each sample in proportion to the label of that sample.  The "
            "next step on the same samples therefore depends on transforms of the label, such as "
            "$y^2$, and can learn what fresh batches cannot.  repeat(k): each batch $k$ times in a "
            "row.  minibatch(N): $n$ samples of a fixed set of $N$."
        ),
        see=("fresh", "generative exponent"),
        paper=f"{REUSE}; {TWO_STEPS}",
        linked=("reused batch",),
    ),
    Term(
        ("lookahead", "looking ahead", "extragradient"),
        (
            "A step looks ahead if it takes its gradient after a first step on the same data, "
            r"which is then undone.  `sample(rho)`: the gradient of each sample is taken after a "
            r"step of size $\rho$ on that sample alone.  `batch(rho)`: it is taken after such a "
            "step on the batch.  A negative size climbs, as sharpness-aware steps do.  Each sample "
            "is seen twice, so that transforms of its label count."
        ),
        r"$\tilde{h}=h+\rho|x|^2c(h,y)$, where $c(h,y)\,x$ is the gradient of a sample",
        ("reused", "generative exponent"),
        "arXiv 2405.15459",
    ),
    Term(
        ("exit time", "exit times"),
        (
            "The exit time of a run is the step at which its best cosine first passes a level, or "
            "its error falls below one.  Small steps on a target of information exponent above 1 "
            "stay near a random start for long.  When they leave it differs from run to run."
        ),
        see=("cosine", "runs"),
        paper="arXiv 2305.18502",
    ),
    Term(
        ("emergence", "emergence curve"),
        (
            "Emergence is the rise of the share of a target direction that the rows span, from "
            "near 0 to near 1, as samples grow.  Of many directions with different weights each "
            "emerges at its own number of samples."
        ),
        r"$|Pw^*_k|^2$, where $P$ is the projection on the span of the rows of $W$",
        ("direction", "samples needed"),
        "arXiv 2504.19983",
    ),
    Term(
        ("effective process",),
        (
            "The effective process is the exact limit of steps on reused batches, as $d$ grows at "
            "fixed $n/d$.  It follows what the neurons see of one sample, and its averages give "
            "the overlaps of the neurons."
        ),
        see=("reused", "overlap"),
        linked=("effective process",),
    ),
    Term(
        ("overlap", "M"),
        (
            "The overlap is the inner product of a neuron with a target direction.  It is of "
            "order $d^{-1/2}$ at a random start, and of order one once the direction is learned."
        ),
        r"$\langle{w_i,w_k^*}\rangle$",
        ("cosine", "alignment", "order d^-1/2"),
        linked=("overlap",),
    ),
    Term(
        ("cosine", "median |cosine|", "cosine_1", "cosine_2", "cosine_3"),
        (
            "The cosine is the overlap of a neuron divided by its length.  It says how much of "
            "the neuron points along the direction.  Tables show the median of its absolute "
            "value over neurons.  For a subspace it is the length of the neuron's projection "
            "divided by its length."
        ),
        r"$\|Pw_i\|/\|w_i\|$",
        ("overlap", "principal cosines"),
    ),
    Term(
        (
            *("principal cosines", "principal cosine", "span"),
            *("principal_cosine_1", "principal_cosine_2", "principal_cosine_3"),
        ),
        (
            "Principal cosines say how well the rows of $W$ together span the target directions. "
            " They are the cosines of the angles between the two subspaces, the best direction "
            "first.  1 says that a direction is in the span."
        ),
        see=("cosine", "alignment"),
    ),
    Term(
        ("alignment",),
        (
            "The alignment says how far something points along the target.  In a sweep: the "
            "median over neurons of the projection on all target directions, divided by the "
            "neuron's length.  In a spectrum: the length of the projection of a leading right "
            "singular vector of $W$ on the target directions."
        ),
        r"$\|W^*w_i\|/\|w_i\|$; $\|W^*v_k\|$",
        ("overlap", "outlier"),
        TWO_STEPS,
    ),
    Term(
        ("order d^-1/2", "of order d^-1/2", "~ d^-1/2", "chance"),
        (
            "The order $d^{-1/2}$ is the size of a cosine between a neuron and a direction that "
            "it has not learned.  Theory counts it as 0 to leading order.  One run shows a "
            "cosine of this size by chance, which is no disagreement.  `learn` calls a direction "
            "learned if its cosine is above twice the median of random neurons by two standard "
            "errors.  For inputs that are not $N(0,I)$ the rows must also span it beside the "
            "directions learned before.  Where the analysis rules it out the factor is 4.5, for "
            "the noise of a step is larger along directions of the label.  It is weakly aligned "
            "if it is above random neurons by two standard errors but not by this factor.  The "
            "error of one run is the standard deviation of the cosine of a random direction."
        ),
        r"the median of $|\langle{w,w^*}\rangle|/\|w\|$ is $0.674\,d^{-1/2}$ for random $w$",
        ("cosine", "start"),
    ),
)
