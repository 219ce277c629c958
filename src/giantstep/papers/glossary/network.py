"""Words of the network: its neurons, its readout, and how runs are simulated."""

from __future__ import annotations

from giantstep.papers.glossary.term import GIANT, Term

TERMS = (
    Term(
        ("sizes", "d", "n", "p", "batch", "batch size"),
        "d is the number of inputs, n the number of samples of one step (the batch), p the number "
        "of neurons.  n ~ d^k says that the batch grows like d^k, times any number.",
        see=("giant", "width"),
    ),
    Term(
        ("width", "narrow", "linear width", "quadratic width", "wide"),
        "How the number of neurons grows: narrow, p fixed as d grows; linear width, p and n in "
        "proportion to d; quadratic width, p or n of the order of d^2.  Each has its theory, which "
        "every row of a table names.",
        see=("theory", "bulk"),
    ),
    Term(
        ("b_k", "b_1", "b_2", "b_3", "c_k", "k", "b_k of the slope", "picks up T_k"),
        "The mean k-th derivative of the activation, k! times its Hermite coefficient c_k.  A "
        "neuron can pick up T_k only if b_k is not zero: relu has b_3 = 0, tanh has b_2 = 0.",
        "b_k = E[sigma^(k)(z)] = k! c_k, sigma = sum_k c_k He_k",
        ("blocked", "T_k"),
    ),
    Term(
        ("blocked", "with this activation"),
        "The target offers a direction but the activation cannot take it: the coefficient b_k that "
        "it comes through is zero.  Another activation, or a bias, can.",
        see=("b_k",),
    ),
    Term(
        ("start", "symmetric", "symmetric start", "sphere", "orthogonal", "given"),
        "The rows of W before the first step.  symmetric: neurons in pairs with the same row and "
        "opposite readout, so that the network begins at exactly 0.  sphere: independent rows of "
        "length exactly one, uniform on the sphere.  gaussian: independent entries N(0, 1/d), "
        "rows of length one on average.  orthogonal: orthonormal rows, with given overlaps with "
        "the target or none.  given: rows of the overlaps and the Gram matrix that are given.",
        see=("readout", "order d^-1/2"),
        paper=GIANT,
    ),
    Term(
        ("gaussian",),
        "Three uses.  Of inputs: x ~ N(0, I), what theory assumes.  Of a start: entries of W are "
        "N(0, 1/d).  Of readout_start: entries of a are N(0, 1/p).",
        see=("start", "readout_start", "inputs"),
    ),
    Term(
        ("activation", "relu", "coefficient", "coefficients", "hand on"),
        "The function sigma of a neuron.  Its Hermite coefficients decide which parts of the "
        "target it can pick up.  On reused batches a neuron hands on powers of the label; "
        "giantstep activation lists them.",
        see=("b_k", "reused", "blocked"),
    ),
    Term(
        ("|w|", "norm", "norms", "length"),
        "The length of a neuron's row of W.  Tables show the mean over neurons.  It is 1 at the "
        "start, and a giant step adds a length of order one.",
        "|w_i| = sqrt(sum_j W_ij^2)",
        ("giant", "cosine"),
    ),
    Term(
        ("output scale", "s_p"),
        "What the sum over neurons is multiplied by: 1/p (a mean), 1/sqrt(p), or 1.",
        "f(x) = s_p sum_i a_i sigma(<w_i, x>)",
        ("giant",),
    ),
    Term(
        (
            *("readout", "second layer", "readout, train", "readout, test"),
            *("train", "test", "train error", "test error", "mean squared error"),
        ),
        "The second layer a.  It is frozen while W takes its steps (unless readout_between says "
        "otherwise), and after every step a new one is fitted by ridge regression on samples of "
        "its own: 'readout, test' is its error on others.  The error of 'network itself' is that "
        "of the network with the a it started with.",
        "min over a of mean (y - s_p sigma(W x).a)^2 + ridge |a|^2",
        ("ridge", "floor"),
    ),
    Term(
        ("readout_start", "uniform", "signs", "alternating", "ones"),
        "The entries of the readout a before the first step.  signs: +1 or -1 at random; "
        "alternating: +1, -1, +1, ...; ones: 1; gaussian: N(0, 1/p); uniform: on [-1, 1]; or p "
        "numbers.  A step of size eta moves neuron i by eta s_p a_i times its gradient, s_p the "
        "output scale.  Root mean squares of a are 1, 1, 1, 1/sqrt(p) and 1/sqrt(3), so that a "
        "step of the same size is smaller by sqrt(p) with gaussian and by sqrt(3) with uniform "
        "entries than with signs.  The size giant makes up for it: with the output scales 1/p, "
        "1/sqrt(p) and 1 it is p, p^0.5, 1 for signs, p^1.5, p, p^0.5 for gaussian, and 1.732 "
        "times those of signs for uniform, at leap index 1.",
        "effective step of neuron i: eta s_p a_i;  giant: eta = d^((l - 1)/2) / (s_p rms(a))",
        ("giant", "output scale", "readout"),
    ),
    Term(
        ("network itself", "network error"),
        "Test error of the network with the readout of its steps, before any is fitted.",
        see=("readout",),
    ),
    Term(
        ("ridge", "penalty", "cv"),
        "The penalty of the readout.  cv takes the one of a grid with the least leave-one-out "
        "error; tables show the one that was taken.",
        see=("readout",),
    ),
    Term(
        ("kappa",),
        "Two uses in the papers.  An exponent: n = d^kappa samples, p = d^kappa neurons.  And the "
        "vector of a sample's coordinates along what was learned, given which features are "
        "Gaussian again.",
        "n = d^kappa;  kappa = V x, rows of V the learned directions",
        ("conditional equivalence", "floor"),
        GIANT,
    ),
    Term(
        ("conditional equivalence", "gaussian equivalence"),
        "Before a step, features behave in regressions like Gaussian ones of the same mean and "
        "covariance; after a giant one they do so only given the coordinates kappa along what was "
        "learned.",
        see=("kappa", "readout"),
        paper=GIANT,
    ),
    Term(
        ("setting",),
        "Everything that defines an experiment: target, activation, sizes, steps, data.  In "
        "giantstep compare, the name of one of several settings; the title names the fields in "
        "which they differ.",
        see=("sizes", "runs"),
    ),
    Term(
        ("engine", "deferred", "dense", "operations", "memory", "time"),
        "How runs are simulated.  deferred: Gaussian inputs, only the coordinates that matter are "
        "drawn, in law exactly a run in R^d at a cost that does not depend on d.  dense: the whole "
        "vectors, for any inputs, on CPU or GPU.",
        see=("runs",),
        paper="arXiv 2101.07464",
    ),
)
