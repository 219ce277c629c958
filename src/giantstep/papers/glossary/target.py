"""Words of the target: what can be seen of it, learned from it and fitted."""

from __future__ import annotations

from giantstep.papers.glossary.term import GIANT, Term

TERMS = (
    Term(
        (
            "leap",
            "leap index",
            "information exponent",
            "leaps",
            "leaps until everything is learned",
        ),
        "Lowest-degree part of the target: the first k >= 1 with T_k not zero.  One step needs "
        "about d^l samples to detect it.  After a step the target has a new leap, given the "
        "directions learned so far.  The line 'leaps until everything is learned' lists them all.",
        "l = min { k >= 1 : T_k != 0 }",
        ("T_k", "generative exponent", "staircase"),
        f"{GIANT}, slides: Hermite decomposition and leap index",
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
        ("He_k", "He2", "He3", "Hermite polynomial"),
        "Probabilists' Hermite polynomials, the orthogonal polynomials of a normal variable; "
        'He2(x1) is how they are typed.  "Degree" in this program is degree in this basis.',
        "He1 = z, He2 = z^2 - 1, He3 = z^3 - 3z; E[He_j He_k] = k! if j = k, else 0",
        ("T_k", "b_k"),
    ),
    Term(
        ("degree", "expanded", "polynomial", "not a polynomial", "quadrature error"),
        "The degree of a target in Hermite polynomials.  A target that is no polynomial is "
        "expanded up to some degree.  A note says which share of the variance lies beyond it, "
        "and how exact the coefficients are.",
        see=("He_k", "T_k", "undecided"),
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
        ("weak recovery", "first-order method", "best first-order method"),
        "A first overlap with some direction, one that does not vanish as d grows.  The line "
        "names the smallest n/d at which the best first-order method has it.",
        paper="arXiv 2405.15480",
        see=("leap", "overlap"),
    ),
    Term(
        ("variance",),
        "The variance of the target over normal inputs, without label noise.  It is the mean "
        "squared error of the best constant.  Errors and floors are in the same unit.",
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
        ("dimension", "direction", "directions"),
        "The number of independent directions.  A target depends on r of them, x1 to xr.  The "
        "dimension of a step is how many of them have been learned by then.",
        see=("staircase", "T_k"),
    ),
    Term(
        ("staircase", "stairs", "steps needed"),
        "The directions that each step can learn from n ~ d samples.  Every step adds directions "
        "that the target couples to those already learned.  It stops where no further direction "
        "is coupled linearly to them.",
        "U_{t+1} = U_t + span { E grad_perp f(x_U + x_perp) : x_U in U_t }",
        ("leap", "fresh", "reused", "kept and dropped"),
        f"{GIANT}, Conjecture 1",
    ),
    Term(
        ("kept and dropped", "kept / dropped", "kept", "dropped", "near-tie"),
        "How clear the rank of a step of the staircase is.  It shows the smallest singular value "
        "that counts as a direction, and the largest that does not.  Two numbers of similar size "
        "would be a near-tie.  0 says that the other directions are exactly absent, - that none "
        "are left.",
        see=("staircase", "undecided"),
    ),
    Term(
        ("learns", "learned", "adds", "nothing", "not at n ~ d"),
        "Directions of the target along which neurons get a cosine that does not vanish as d "
        "grows.  A step of the staircase adds those that were not learned before, or nothing.  "
        "'not at n ~ d' marks directions that the staircase never reaches.  In a sweep, learned "
        "and not learned are verdicts on the exponent in d.",
        see=("through", "staircase", "exponent"),
    ),
    Term(
        ("through",),
        "The part of the target that a step learns from: through T_1 from the linear part, through "
        "T_2 from the quadratic one.  blocked says that the activation cannot use it.",
        see=("T_k", "blocked"),
    ),
    Term(
        ("undecided",),
        "Neither found nor proven absent at the accuracy of the computation.  The line says how "
        "large a share of the variance is open.  Of a claim: its interval is neither inside nor "
        "outside the region.",
        see=("kept and dropped",),
    ),
    Term(
        (
            "floor",
            "floors",
            "floor of any",
            "readout of",
            "k = 0",
            "k = 1",
            "k = 2",
            "k = 3",
            "narrow p ~ 1",
        ),
        "A lower bound of the test error as d grows, given the directions U that the first layer "
        "has learned.  No readout does better, and it may do worse.  At small d neurons also "
        "overlap with directions that are not learned as d grows, and errors may lie below the "
        "floor.  A narrow network can fit functions of U only.  p ~ d^k1 neurons and n ~ d^k2 "
        "samples can also fit every term of degree up to k = min(k1, k2) outside U.  That is the "
        "floor of any activation.  The floor of one activation also counts the terms whose "
        "degree its neurons do not have.  For example relu without biases is a linear function "
        "plus an even one, and cannot fit x1*x2*x3.  tanh fits no even degree.  With biases "
        "every activation that is no polynomial fits all degrees.  The floors of learn subtract "
        "the share p/d of the next degree that p neurons can fit.",
        "any activation, narrow: E Var(f | P_U x), wide: |P_{U, >k} f|^2;  one activation: beside "
        "that the terms of total degree D with E[sigma^(D)(s z)] = 0 for all s",
        ("readout", "kappa", "five regimes"),
        f"{GIANT}, Conjecture 3",
    ),
    Term(
        ("five regimes", "fitted at best", "fitted"),
        "One step at n ~ d or d^2 with p ~ 1, d or d^2 neurons.  The table shows what is "
        "learned, and what a readout of this activation without biases can then fit at best.  "
        "The floor is the error that is left, beside it the floor of any activation.  Both are "
        "lower bounds.",
        see=("floor", "deflated"),
        paper=f"{GIANT}, Conjecture 3",
    ),
    Term(
        ("deflated", "deflate", "degrees < k removed", "preprocessed", "labels", "as they are"),
        "Labels from which the low degrees were fitted and subtracted before the step.  At n ~ "
        "d^2 the linear part would otherwise hide the quadratic one.  --deflate 1 subtracts it.",
        "y - (fitted Hermite part of y of degree <= k)",
        ("T_k", "five regimes"),
        GIANT,
    ),
)
