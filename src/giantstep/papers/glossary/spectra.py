"""Words of singular values: bulk, outliers, tests against noise."""

from __future__ import annotations

from giantstep.papers.glossary.term import SPIKES, TWO_STEPS, Term

TERMS = (
    Term(
        ("bulk", "edge", "bulk edge"),
        (
            "The bulk is the part of the singular values that noise of the same sizes would have "
            "too.  It fills the interval between two edges.  A singular value beyond the edge by "
            "more than chance is an outlier."
        ),
        see=("outlier", "spike"),
        paper=SPIKES,
        linked=("bulk",),
    ),
    Term(
        (
            *("outlier", "outliers", "outlying singular values", "threshold", "count"),
            *("not counted", "largest"),
        ),
        (
            "An outlier is a singular value outside the bulk.  It counts above a threshold, the "
            "singular value that noise exceeds in at most about one run of a hundred.  At the "
            "start this is a Tracy-Widom quantile of the edge.  After a step the largest "
            "residual of a batch can move noise further out, and the threshold with it.  A place "
            "predicted between edge and threshold does not count, because noise may lie there "
            "too.  Tables show it in brackets, pictures as a hollow mark.  An outlier is a "
            "learned direction, except for the constant one of the features.  Where outliers "
            "cannot be counted, the largest singular values are shown."
        ),
        see=("bulk", "spike", "alignment", "constant"),
        paper=f"{SPIKES}; {TWO_STEPS}",
        linked=("outlier",),
    ),
    Term(
        ("constant", "constant outlier"),
        (
            "The constant outlier is the outlier of the features that an activation makes whose "
            "mean is not 0.  It is common to all samples and there before any step.  It says "
            "nothing about learning."
        ),
        r"about $\sqrt{p}\,|\mathbb{E}[\sigma(z)]|$",
        ("outlier", "activation"),
    ),
    Term(
        ("spike", "spikes"),
        (
            "A spike is a matrix of rank one that a step adds to the bulk of a matrix.  One step "
            r"of size $n^\alpha$ adds $\ell$ spikes to the features for "
            r"$\frac{\ell-1}{2\ell}<\alpha<\frac{\ell}{2\ell+2}$.  The $k$-th lies along "
            "polynomials of degree $k$.  Spikes that leave the bulk are outliers."
        ),
        r"$\sigma(XW_1^{\top})=\sigma(XW_0^{\top})+\sum_kS_k$, where $S_k$ is spike $k$",
        ("outlier", "bulk"),
        SPIKES,
        linked=("spike",),
    ),
    Term(
        ("closed system",),
        (
            "The closed system is a set of equations for the outliers and the errors of a wide "
            "network after a giant step.  Samples, inputs and neurons are large and in proportion, "
            "and the step has its actual size.  No matrix $W$ is needed."
        ),
        see=("outlier", "width", "readout"),
        linked=("closed system",),
    ),
    Term(
        ("singular value",),
        (
            "The singular values of a matrix are the factors by which it stretches orthogonal "
            "directions.  Those of a random matrix fill an interval, the bulk, and a direction "
            "that is learned can stand out of it."
        ),
        see=("bulk", "outlier"),
    ),
    Term(
        ("matrix", "weights_singular_value", "features_singular_value"),
        (
            "The matrix is the one whose singular values are shown: the weights $W$, or the "
            "features of the readout's samples.  In a sweep, the largest singular value of it is "
            "shown."
        ),
        see=("outlier", "bulk"),
    ),
    Term(
        ("without noise", "cosine of its direction", "neurons"),
        (
            "The column 'without noise' has the singular value that an outlier of a given matrix "
            "would have if there were no noise.  'cosine of its direction' compares the "
            "measured direction with that of the signal.  'neurons' and 'inputs' count how many "
            "share the direction."
        ),
        see=("outlier", "bulk", "inputs"),
    ),
    Term(
        ("noise edge", "beyond noise", "within noise", "value", "cosine of two halves"),
        (
            "The noise edge is the size of a step that labels without any signal exceed with the "
            "stated probability.  'value' is the size of a step on the labels of the data set.  It "
            "is beyond noise if it is above the edge, and within noise otherwise.  'cosine of two "
            "halves' compares the directions found in two halves of the rows.  1 says that both "
            "halves find the same direction."
        ),
        see=("noise", "outlier"),
    ),
)
