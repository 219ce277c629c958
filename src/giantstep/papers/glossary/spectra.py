"""Words of singular values: bulk, outliers, tests against noise."""

from __future__ import annotations

from giantstep.papers.glossary.term import SPIKES, TWO_STEPS, Term

TERMS = (
    Term(
        ("bulk", "edge", "bulk edge"),
        "The singular values that noise of the same sizes would have too: a continuous law between "
        "two edges.  What lies beyond the edge by more than chance is an outlier.",
        see=("outlier", "spike"),
        paper=SPIKES,
    ),
    Term(
        (
            *("outlier", "outliers", "outlying singular values", "threshold", "count"),
            *("not counted", "largest"),
        ),
        "A singular value outside the bulk.  It counts above a threshold, the singular value that "
        "noise exceeds in one run of a hundred: at the start a Tracy-Widom quantile of the edge; "
        "after a step, if that is larger, the place of the noisiest direction of the step, which "
        "the largest residual of a batch makes.  Where theory predicts a place between edge and "
        "threshold, tables have it in brackets and pictures draw it hollow: it does not count as "
        "an outlier, for noise may be found there too.  An outlier is a direction that was "
        "learned, but for the constant one of the features.  Where outliers cannot be counted the "
        "largest singular values are shown.",
        see=("bulk", "spike", "alignment", "constant"),
        paper=f"{SPIKES}; {TWO_STEPS}",
    ),
    Term(
        ("constant", "constant outlier"),
        "The outlier of the features that an activation of mean other than 0 makes: all samples "
        "share it, it is there before any step, and nothing is learned by it.",
        "about sqrt(p) |E sigma(z)|",
        ("outlier", "activation"),
    ),
    Term(
        ("spike", "spikes"),
        "What a step adds to a matrix beside its bulk.  One step of size n^alpha adds l of them to "
        "the features for (l - 1)/(2l) < alpha < l/(2l + 2), the k-th along polynomials of degree "
        "k; those that leave the bulk are outliers.",
        "sigma(X W1^T) = sigma(X W0^T) + sum_k spike_k",
        ("outlier", "bulk"),
        SPIKES,
    ),
    Term(
        ("matrix", "weights_singular_value", "features_singular_value", "singular value"),
        "The matrix whose singular values are shown: the weights W, or the features of the "
        "readout's samples.  In a sweep, the largest singular value of it.",
        see=("outlier", "bulk"),
    ),
    Term(
        ("without noise", "cosine of its direction", "neurons", "inputs"),
        "Outliers of a given matrix: the singular value that the signal alone would have, the "
        "cosine between the measured direction and that of the signal, and how many neurons and "
        "inputs share the direction.  inputs is also the law of x, gaussian unless told otherwise.",
        see=("outlier", "bulk"),
    ),
    Term(
        ("noise edge", "beyond noise", "within noise", "value", "cosine of two halves"),
        "Tests of a data set: the value of a step on its labels, and the edge that labels without "
        "any signal exceed with the stated probability.  The cosine of two halves is that between "
        "the directions that two halves of the rows find; 1 says that both find the same.",
        see=("noise", "outlier"),
    ),
)
