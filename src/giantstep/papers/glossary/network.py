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
        "How the number of neurons grows with d.  Narrow: p is fixed.  Linear width: p and n "
        "grow in proportion to d.  Quadratic width: p or n grows like d^2.  Each has its own "
        "theory, and every row of a table names the theory it is from.",
        see=("theory", "bulk"),
    ),
    Term(
        ("b_k", "b_1", "b_2", "b_3", "c_k", "k", "b_k of the slope", "can learn T_k"),
        "The mean k-th derivative of the activation, k! times its Hermite coefficient c_k.  A "
        "neuron can learn from T_k only if b_k is not zero.  relu has b_3 = 0, tanh has b_2 = 0.",
        "b_k = E[sigma^(k)(z)] = k! c_k, sigma = sum_k c_k He_k",
        ("blocked", "T_k"),
    ),
    Term(
        ("blocked", "with this activation"),
        "The target offers a direction, but this activation cannot learn it.  The coefficient "
        "b_k through which a step would learn it is zero.  Another activation or a bias can help.",
        see=("b_k",),
    ),
    Term(
        ("start", "symmetric", "symmetric start", "sphere", "orthogonal", "given"),
        "The rows of W before the first step.  symmetric: neurons start in pairs that cancel, so "
        "the output starts at 0.  sphere: independent rows of length one, uniform on the "
        "sphere.  gaussian: independent entries N(0, 1/d), so that rows have length one on "
        "average.  orthogonal: orthonormal rows, with given overlaps with the target or none.  "
        "given: rows with the overlaps and the Gram matrix that you give.",
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
        ("activation", "relu", "coefficient", "coefficients", "pass on"),
        "The function sigma of a neuron.  Its Hermite coefficients decide which parts of the "
        "target a step can learn.  On reused batches a neuron passes powers of the label on to "
        "the next step.  giantstep activation lists both.",
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
        "The second layer a.  It is frozen while W takes its steps, unless readout_between says "
        "otherwise.  After every step a new one is fitted by ridge regression on separate "
        "samples.  'readout, test' is its error on further samples.  'network itself' is the "
        "error with the a of the start.",
        "min over a of mean (y - s_p sigma(W x).a)^2 + ridge |a|^2",
        ("ridge", "floor"),
    ),
    Term(
        ("readout_start", "uniform", "signs", "alternating", "ones"),
        "The entries of the readout a before the first step.  signs: +1 or -1 at random.  "
        "alternating: +1, -1, +1, and so on.  ones: 1.  gaussian: N(0, 1/p).  uniform: on [-1, "
        "1].  Or p numbers of your own.  A step of size eta moves neuron i by eta s_p a_i times "
        "its gradient, where s_p is the output scale.  The step size giant takes the size of a "
        "into account.  At leap index 1 and output scale 1/p it is p for signs, 1.732 p for "
        "uniform and p^1.5 for gaussian.",
        "effective step of neuron i: eta s_p a_i;  giant: eta = d^((l - 1)/2) / (s_p rms(a))",
        ("giant", "output scale", "readout"),
    ),
    Term(
        ("network itself", "network error"),
        "Test error of the network with the readout it had during its steps, before a new one is "
        "fitted.",
        see=("readout",),
    ),
    Term(
        ("ridge", "penalty", "cv"),
        "The penalty of the readout.  cv takes the penalty of a grid with the least "
        "leave-one-out error.  Tables show the one that was taken.",
        see=("readout",),
    ),
    Term(
        ("kappa",),
        "Two uses in the papers.  An exponent: n = d^kappa samples, p = d^kappa neurons.  A "
        "vector: the coordinates of a sample along the learned directions.  Given these "
        "coordinates the features are Gaussian again.",
        "n = d^kappa;  kappa = V x, rows of V the learned directions",
        ("conditional equivalence", "floor"),
        GIANT,
    ),
    Term(
        ("conditional equivalence", "gaussian equivalence"),
        "Before a step, features behave in regressions like Gaussian ones of the same mean and "
        "covariance.  After a giant step they do so only for given coordinates kappa along the "
        "learned directions.",
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
        "How runs are simulated.  deferred: for Gaussian inputs.  It draws only the coordinates "
        "that matter, and has the same statistics as a full d-dimensional simulation, without "
        "its cost.  dense: draws whole vectors, for any inputs, on CPU or GPU.",
        see=("runs",),
        paper="arXiv 2101.07464",
    ),
)
