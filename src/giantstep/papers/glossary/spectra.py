"""Words of singular values: bulk, outliers, tests against noise."""

from __future__ import annotations

from giantstep.papers.glossary.term import SPIKES, TWO_STEPS, Term

TERMS = (
    Term(
        ("bulk", "edge", "bulk edge"),
        "The singular values that noise of the same sizes would have too.  They fill the "
        "interval between two edges.  A singular value beyond the edge by more than chance is an "
        "outlier.",
        see=("outlier", "spike"),
        paper=SPIKES,
    ),
    Term(
        (
            *("outlier", "outliers", "outlying singular values", "threshold", "count"),
            *("not counted", "largest"),
        ),
        "A singular value outside the bulk.  It counts above a threshold, the singular value "
        "that noise exceeds in one run of a hundred.  At the start this is a Tracy-Widom "
        "quantile of the edge.  After a step the largest residual of a batch can move noise "
        "further out, and the threshold with it.  A place predicted between edge and threshold "
        "does not count, because noise may lie there too.  Tables show it in brackets, pictures "
        "as a hollow mark.  An outlier is a learned direction, except for the constant one of "
        "the features.  Where outliers cannot be counted, the largest singular values are shown.",
        see=("bulk", "spike", "alignment", "constant"),
        paper=f"{SPIKES}; {TWO_STEPS}",
    ),
    Term(
        ("constant", "constant outlier"),
        "The outlier of the features that an activation makes whose mean is not 0.  It is common "
        "to all samples and there before any step.  It says nothing about learning.",
        "about sqrt(p) |E sigma(z)|",
        ("outlier", "activation"),
    ),
    Term(
        ("spike", "spikes"),
        "What a step adds to a matrix beside its bulk.  One step of size n^alpha adds l spikes "
        "to the features for (l - 1)/(2l) < alpha < l/(2l + 2).  The k-th lies along polynomials "
        "of degree k.  Spikes that leave the bulk are outliers.",
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
        "Columns for the outliers of a given matrix.  'without noise' is the singular value of "
        "the signal alone.  'cosine of its direction' compares the measured direction with that "
        "of the signal.  'neurons' and 'inputs' count how many share the direction.  As a field "
        "of a setting, inputs is the distribution of x, gaussian by default.",
        see=("outlier", "bulk"),
    ),
    Term(
        ("noise edge", "beyond noise", "within noise", "value", "cosine of two halves"),
        "Tests of a data set.  'value' is the size of a step on its labels.  'noise edge' is the "
        "size that labels without any signal exceed with the stated probability.  'cosine of two "
        "halves' compares the directions found in two halves of the rows.  1 says that both "
        "halves find the same direction.",
        see=("noise", "outlier"),
    ),
)
