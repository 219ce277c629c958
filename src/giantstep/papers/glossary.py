"""The words of tables and messages, each in a few lines: what it is, its formula, its paper."""

from __future__ import annotations

import re
from dataclasses import dataclass

from giantstep.errors import unknown_name
from giantstep.problem.fields import in_words
from giantstep.problem.setting import DEFAULTS, Setting

GIANT = "arXiv 2305.18270"
SPIKES = "arXiv 2310.07891"
TWO_STEPS = "arXiv 2605.17767"
REUSE = "arXiv 2402.03220"


@dataclass(frozen=True)
class Term:
    """A word and its other names, what it means, and where to read on."""

    names: tuple[str, ...]
    text: str
    formula: str = ""
    see: tuple[str, ...] = ()
    paper: str = ""

    @property
    def name(self) -> str:
        return self.names[0]


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
        f"{GIANT}, Theorems 4-5",
    ),
    Term(
        (
            "leap",
            "leap index",
            "information exponent",
            "leaps",
            "leaps until everything is learned",
        ),
        "The smallest degree at which the target can be seen at all: the first k >= 1 with T_k not "
        "zero.  One giant step needs n ~ d^l samples.  After a step the target is looked at given "
        "what was learned, and has a new leap; the line 'leaps until everything is learned' has "
        "them all.",
        "l = min { k >= 1 : T_k != 0 }",
        ("T_k", "generative exponent", "staircase"),
        f"{GIANT}, Definition 3",
    ),
    Term(
        ("T_k", "Hermite tensor", "T_1", "T_2", "T_3"),
        "The part of degree k of the target, as a tensor: T_1 is the vector of its linear part, "
        "T_2 the matrix of its quadratic part.  A step on n ~ d^k samples learns the directions "
        "that T_k has, where k is the leap index.",
        "T_k = E[grad^k f(z)] = E[f(z) He_k(z)], z ~ N(0, I)",
        ("leap", "b_k", "He_k"),
        f"{GIANT}, section 2",
    ),
    Term(
        ("b_k", "b_1", "b_2", "b_3", "c_k", "k", "b_k of the slope", "picks up T_k"),
        "The mean k-th derivative of the activation, k! times its Hermite coefficient c_k.  A "
        "neuron can pick up T_k only if b_k is not zero: relu has b_3 = 0, tanh has b_2 = 0.",
        "b_k = E[sigma^(k)(z)] = k! c_k, sigma = sum_k c_k He_k",
        ("blocked", "T_k"),
    ),
    Term(
        ("He_k", "He2", "He3", "Hermite polynomial"),
        "Probabilists' Hermite polynomials, the orthogonal polynomials of a normal variable; "
        'He2(x1) is how they are typed.  "Degree" in this program is degree in this basis.',
        "He1 = z, He2 = z^2 - 1, He3 = z^3 - 3z; E[He_j He_k] = k! if j = k, else 0",
        ("T_k", "b_k"),
    ),
    Term(
        ("generative exponent",),
        "The leap index after the best transform of the label.  Reused batches and transformed "
        "labels can learn at this exponent what plain steps on fresh batches cannot.",
        "min over g of the leap index of g(y)",
        ("leap", "reused"),
        "arXiv 2405.15459",
    ),
    Term(
        ("staircase", "stairs"),
        "The subspaces that step after step can reach at n ~ d: every step adds directions that "
        "the target couples to those already learned.  It stops where the next direction is not "
        "coupled linearly to them.",
        "U_{t+1} = U_t + span { E grad_perp f(x_U + x_perp) : x_U in U_t }",
        ("leap", "fresh", "reused", "kept and dropped"),
        f"{GIANT}, Theorem 7",
    ),
    Term(
        ("kept and dropped", "kept / dropped", "kept", "dropped"),
        "How clear the rank of a step of the staircase is: the smallest singular value that counts "
        "as a direction, and the largest that does not.  Numbers of the same size would be a near "
        "tie; 0 says that the rest is exactly absent, - that nothing is left.",
        see=("staircase", "undecided"),
    ),
    Term(
        ("blocked", "with this activation"),
        "The target offers a direction but the activation cannot take it: the coefficient b_k that "
        "it comes through is zero.  Another activation, or a bias, can.",
        see=("b_k",),
    ),
    Term(
        ("floor", "floors", "k = 0", "k = 1", "k = 2", "k = 3", "narrow p ~ 1"),
        "A lower bound of the test error, given what the first layer has learned (U): no readout "
        "can do better, and that of a given activation may do worse.  Few neurons see the target "
        "through U alone; p ~ d^k1 neurons and n ~ d^k2 samples can at best also fit every term "
        "of degree up to k = min(k1, k2) outside U.  relu without biases is a linear function "
        "plus an even one: whatever the floor, it fits no x1*x2*x3.  At finite d the floors of "
        "learn count what few neurons can fit of the next degree, the share p/d: 5.992 at p/d = "
        "0.004 where the limit is 6.",
        "narrow: E Var(f | P_U x);  wide: |P_{U, >k} f|^2",
        ("readout", "kappa", "five regimes"),
        f"{GIANT}, section 2.3",
    ),
    Term(
        ("five regimes", "fitted at best", "fitted"),
        "One step at n ~ d or d^2 with p ~ 1, d or d^2 neurons: what is learned, what a readout "
        "can then fit at best, and the floor that is left.  The readout of a given activation may "
        "fit less.",
        see=("floor", "deflated"),
        paper=f"{GIANT}, section 2.3",
    ),
    Term(
        ("deflated", "deflate", "degrees < k removed", "preprocessed", "labels", "as they are"),
        "Labels from which the low degrees were fitted and subtracted before the step: at n ~ d^2 "
        "the linear part would drown the quadratic one.  --deflate 1 does it.",
        "y - (fitted Hermite part of y of degree <= k)",
        ("T_k", "five regimes"),
        f"{GIANT}, Theorem 5",
    ),
    Term(
        ("fresh", "fresh batches"),
        "Every step sees new samples.  Then a step depends on the labels only through the part "
        "that the residual shows on average, and the staircase of the target decides.",
        see=("reused", "staircase"),
        paper=f"{GIANT}, Theorem 7",
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
        ("order d^-1/2", "of order d^-1/2", "~ d^-1/2"),
        "The size of a cosine between a neuron and a direction it knows nothing of.  Theory at "
        "leading order counts it as 0, and one run shows this much of it by chance: no "
        "disagreement.",
        "E |<w, w*>| / |w| = sqrt(2/(pi d)) for random w",
        ("cosine", "start"),
    ),
    Term(
        ("start", "symmetric", "symmetric start"),
        "The rows of W before the first step.  symmetric: neurons in pairs with the same row and "
        "opposite readout, so that the network begins at exactly 0; sphere and gaussian: "
        "independent rows of length one, on average; orthogonal and given: as told.",
        see=("readout", "order d^-1/2"),
        paper=GIANT,
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
        ("output scale", "s_p"),
        "What the sum over neurons is multiplied by: 1/p (a mean), 1/sqrt(p), or 1.",
        "f(x) = s_p sum_i a_i sigma(<w_i, x>)",
        ("giant",),
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
        ("bulk", "edge", "bulk edge"),
        "The singular values that noise of the same sizes would have too: a continuous law between "
        "two edges.  What lies beyond the edge by more than chance is an outlier.",
        see=("outlier", "spike"),
        paper=SPIKES,
    ),
    Term(
        ("outlier", "outliers", "threshold", "count", "not counted"),
        "A singular value outside the bulk.  It counts above a threshold, the singular value that "
        "noise exceeds in one run of a hundred: at the start a Tracy-Widom quantile of the edge; "
        "after a step, if that is larger, the place of the noisiest direction of the step, which "
        "the largest residual of a batch makes.  Where theory predicts a place between edge and "
        "threshold, tables have it in brackets and pictures draw it hollow: it does not count as "
        "an outlier, for noise may be found there too.  An outlier is a direction that was "
        "learned, but for one: an activation of mean other than 0 gives the features a constant "
        "outlier, before any step, of about sqrt(p) times that mean.",
        see=("bulk", "spike", "alignment"),
        paper=f"{SPIKES}; {TWO_STEPS}",
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
        ("width", "narrow", "linear width", "quadratic width", "wide"),
        "How the number of neurons grows: narrow, p fixed as d grows; linear width, p and n in "
        "proportion to d; quadratic width, p or n of the order of d^2.  Each has its theory, which "
        "every row of a table names.",
        see=("theory", "bulk"),
    ),
    Term(
        ("theory", "agree", "p-value", "sigma"),
        "What is predicted without simulation, beside what was simulated.  They agree unless "
        "chance alone would be so far off less than once in a thousand times (p-value below "
        "0.001), all comparisons counted; sigma is the deviation of the least likely one in "
        "standard errors.  'would have shown' is the deviation that so many runs can tell.  Every "
        "number of theory in a table is compared; ~ marks one that theory itself knows roughly.",
        see=("width", "runs"),
    ),
    Term(
        ("gaussian-runs", "gaussian runs"),
        "Where no theory is precise at the sizes of a data set: simulated runs on Gaussian rows of "
        "the same sizes take its place.",
        see=("theory",),
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
        ("weak recovery",),
        "A first grip on a direction: an overlap that does not vanish as d grows.  The line names "
        "the n/d from which on the best first-order method has it.",
        paper="arXiv 2405.15480",
        see=("leap", "overlap"),
    ),
    Term(
        ("undecided",),
        "Neither found nor proven absent at the accuracy of the computation; the line says how "
        "much of the variance is open.  Of a claim: its interval is neither inside nor outside the "
        "region.",
        see=("kept and dropped",),
    ),
    Term(
        ("step", "after step", "steps"),
        "One update of the first layer on one batch; 0 is the start.  Rows of tables below a step "
        "are what is found after it.",
        see=("giant", "batch"),
    ),
    Term(
        ("sizes", "d", "n", "p", "batch", "batch size"),
        "d is the number of inputs, n the number of samples of one step (the batch), p the number "
        "of neurons.  n ~ d^k says that the batch grows like d^k, times any number.",
        see=("giant", "width"),
    ),
    Term(
        ("|w|", "norm", "norms", "length"),
        "The length of a neuron's row of W.  Tables show the mean over neurons.  It is 1 at the "
        "start, and a giant step adds a length of order one.",
        "|w_i| = sqrt(sum_j W_ij^2)",
        ("giant", "cosine"),
    ),
    Term(
        ("learns", "learned", "adds"),
        "Directions of the target along which rows of W get a cosine that does not vanish as d "
        "grows.  A step of the staircase adds those that were not learned before.  In a sweep, "
        "learned and not learned are verdicts on the exponent in d.",
        see=("through", "staircase", "exponent"),
    ),
    Term(
        ("through",),
        "The part of the target that a step learns from: through T_1 from the linear part, through "
        "T_2 from the quadratic one.  blocked says that the activation cannot use it.",
        see=("T_k", "blocked"),
    ),
    Term(
        ("dimension", "direction", "directions"),
        "The number of independent directions.  A target depends on r of them, x1 to xr; what "
        "steps have learned is a subspace of so many dimensions.",
        see=("staircase", "T_k"),
    ),
    Term(
        ("variance",),
        "The variance of the target over normal inputs, label noise not counted: the mean squared "
        "error of the best constant.  Errors and floors are in the same unit.",
        "Var f(z) = sum over k >= 1 of |T_k|^2/k!",
        ("floor", "T_k"),
    ),
    Term(
        ("noise", "label noise"),
        "The standard deviation of normal noise added to the labels.  Errors count it: with noise "
        "0.5 no error is below 0.25.",
        "y = f(x) + noise * N(0, 1)",
        ("variance", "noise edge"),
    ),
    Term(
        ("noise edge", "beyond noise", "within noise", "value", "cosine of two halves"),
        "Tests of a data set: the value of a step on its labels, and the edge that labels without "
        "any signal exceed with the stated probability.  The cosine of two halves is that between "
        "the directions that two halves of the rows find; 1 says that both find the same.",
        see=("noise", "outlier"),
    ),
    Term(
        ("without noise", "cosine of its direction", "neurons", "inputs"),
        "Outliers of a given matrix: the singular value that the signal alone would have, the "
        "cosine between the measured direction and that of the signal, and how many neurons and "
        "inputs share the direction.  inputs is also the law of x, gaussian unless told otherwise.",
        see=("outlier", "bulk"),
    ),
    Term(
        ("measured", "simulation", "simulated"),
        "What the runs of a simulation show: the mean over runs, with its standard error after ±.  "
        "Where a median over neurons is meant, it is taken in each run before the mean.",
        see=("predicted", "runs"),
    ),
    Term(
        ("predicted", "prediction"),
        "What theory says before anything is simulated; - where it says nothing.",
        see=("theory", "measured"),
    ),
    Term(
        ("exponent", "of the median", "predicted, of the mean", "interval", "not learned"),
        "The power of d that an observable follows over the sizes of a sweep: about 0 for a "
        "direction that is learned, -1/2 for one that is not.  Measured is that of the median "
        "over runs with a bootstrap interval of level 0.99, predicted that of the mean.",
        "|cosine| ~ d^exponent",
        ("learns", "order d^-1/2"),
    ),
    Term(
        ("verdict",),
        "What follows from the numbers.  Of theory and simulation: agree or disagree.  Of a "
        "claim: holds, fails or undecided.  Of an exponent: learned, not learned or undecided.  "
        "Of a step on data: beyond or within noise.",
        see=("theory", "claim", "exponent"),
    ),
    Term(
        ("matrix", "weights_singular_value", "features_singular_value", "singular value"),
        "The matrix whose singular values are shown: the weights W, or the features of the "
        "readout's samples.  In a sweep, the largest singular value of it.",
        see=("outlier", "bulk"),
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
    Term(
        ("runs", "run", "seed", "±"),
        "Independent repetitions.  Run k is the same for any number of runs; ± is the standard "
        "error of the mean over runs.",
    ),
    Term(
        ("claim", "control", "holds", "fails", "says", "quantity", "rule", "tuned", "seen"),
        "A sentence of a paper, an experiment that could contradict it, and the region where its "
        "numbers must lie.  A control violates an assumption and must fail; a claim without such a "
        "test would say nothing.",
        see=("undecided",),
    ),
)

BY_NAME = {name: term for term in TERMS for name in term.names}


def _folded(name: str) -> str:
    """A name as it is compared: T_2, t2 and T 2 are the same."""
    return "".join(letter for letter in name.lower() if letter not in " _-/|")


def look_up(name: str) -> Term:
    """The term of that name, however it is written; InputError with the nearest ones.

    What follows in brackets is left out where the whole is no term: theory (narrow).  The fields of
    a setting are terms too.
    """
    folded = {_folded(known): term for known, term in BY_NAME.items()}
    for asked in (name, re.sub(r"\s*\([^()]*\)$", "", name)):
        if _folded(asked) in folded:
            return folded[_folded(asked)]
    fields = {_folded(field): field for field in DEFAULTS}
    if (field := fields.get(_folded(name))) is not None:
        text = in_words(field, Setting.model_fields[field].description, DEFAULTS[field])
        return Term((field,), f"A field of a setting: {text}.", see=("setting",))
    raise unknown_name("term", name, [*BY_NAME, *DEFAULTS], "giantstep explain")
