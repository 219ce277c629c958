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
        (
            r"The leap index is the lowest degree of a part of the target, the first $k\geq1$ "
            r"with $T_k\neq0$.  One step needs about $d^\ell$ samples to detect it.  After a step "
            "the target has a new leap, given the directions learned so far.  The line 'leaps "
            "until everything is learned' lists them all."
        ),
        r"$\ell=\min\{k\geq1:T_k\neq0\}$",
        ("T_k", "generative exponent", "staircase"),
        f"{GIANT}, slides: Hermite decomposition and leap index",
        linked=("leap index", "information exponent"),
    ),
    Term(
        ("T_k", "Hermite tensor", "T_1", "T_2", "T_3"),
        (
            "$T_k$ is the part of degree $k$ of the target, as a tensor.  $T_1$ is the vector of "
            r"its linear part, $T_2$ the matrix of its quadratic part.  A step on $n\sim{d^k}$ "
            "samples learns the directions that $T_k$ has, where $k$ is the leap index."
        ),
        (
            r"$T_k=\mathbb{E}[\nabla^kf(z)]=\mathbb{E}[f(z)\mathrm{He}_k(z)]$, "
            r"$z\sim\mathcal{N}(0,I)$"
        ),
        ("leap", "b_k", "He_k"),
        f"{GIANT}, section 2",
        linked=("Hermite tensor",),
    ),
    Term(
        ("He_k", "He2", "He3", "Hermite polynomial", "Hermite polynomials"),
        (
            "Hermite polynomials (the probabilists') are the orthogonal polynomials of a normal "
            "variable.  `He2(x1)` is how they are typed.  'Degree' in this program is degree in "
            "this basis."
        ),
        (
            r"$\mathrm{He}_1=z$, $\mathrm{He}_2=z^2-1$, $\mathrm{He}_3=z^3-3z$; "
            r"$\mathbb{E}[\mathrm{He}_j\mathrm{He}_k]=k!$ if $j=k$, else 0"
        ),
        ("T_k", "b_k"),
        linked=("Hermite polynomial",),
    ),
    Term(
        ("outer product of gradients", "find_directions"),
        (
            "The outer product of gradients is a matrix whose largest eigenvectors are the "
            "directions that a function depends on most.  `find_directions` computes it for a "
            "trained network.  It keeps as many directions as needed, until the others hold at "
            "most a stated share of the variance."
        ),
        r"$\mathbb{E}[\nabla{f(x)}\nabla{f(x)}^\top]$, $x\sim\mathcal{N}(0,I_d)$",
        ("leap", "staircase"),
        "arXiv 1304.2070, section 2",
        linked=("outer product of gradients",),
    ),
    Term(
        ("degree", "expanded", "polynomial", "not a polynomial", "quadrature error"),
        (
            "The degree is that of a target in Hermite polynomials.  A target that is no "
            "polynomial is expanded up to some degree.  A note says which share of the variance "
            "lies beyond it, and how exact the coefficients are."
        ),
        see=("He_k", "T_k", "undecided"),
    ),
    Term(
        ("generative exponent",),
        (
            "The generative exponent is the leap index after the best transform of the label.  "
            "Reused batches and transformed labels can learn at this exponent what plain steps "
            "on fresh batches cannot."
        ),
        r"$\min_g\ell(g(y))$, where $\ell(g(y))$ is the leap index of the transformed label",
        ("leap", "reused"),
        "arXiv 2405.15459",
        linked=("generative exponent",),
    ),
    Term(
        ("generative leap", "generative leaps"),
        (
            "Generative leaps are the leaps in the order in which directions are learned, when "
            "every transform of the label may be used.  The largest of them, $k$, decides how many "
            "samples the best known polynomial-time methods need for all directions."
        ),
        r"$n\sim{d}^{\max(1,k/2)}$",
        ("generative exponent", "leap"),
        "arXiv 2506.05500",
    ),
    Term(
        ("noise sensitivity", "noise-sensitivity exponent"),
        (
            "The noise-sensitivity exponent is the smallest power of the label that has a part of "
            "degree 2.  With strong label noise of variance $V$ the threshold of weak recovery "
            "grows as $V$ to this power."
        ),
        r"$\min\{b\geq1:E[y^b(zz^\top-1)]\neq0\}$",
        ("weak recovery", "noise"),
        "arXiv 2603.17896",
    ),
    Term(
        ("overlap curve",),
        (
            "The overlap curve is the cosine that the best first-order method reaches with the "
            "directions, over $n/d$.  It is zero up to the threshold of weak recovery."
        ),
        r"fixed point of $\hat{Q}=\alpha{E}[gg^\top]$ and $Q=\hat{Q}(1+\hat{Q})^{-1}$",
        ("weak recovery", "overlap"),
        "arXiv 2405.15480",
    ),
    Term(
        ("samples needed", "needed", "from", "to", "n/d"),
        (
            "The samples needed for a level are the $n$ of a step at which the predicted test "
            "error falls to the level, or the cosine rises to it.  With more samples the level is "
            "kept.  The columns from and to are the range that the uncertainty of theory leaves."
        ),
        r"$n(e)=\min\{n:E(m)\leq{e},\,m\geq{n}\}$, where $E(m)$ is the test error with $m$ samples",
        ("floor", "cosine"),
    ),
    Term(
        ("weak recovery", "first-order method", "best first-order method"),
        (
            "Weak recovery is a first overlap with some direction, one that does not vanish as "
            "$d$ grows.  The line names the smallest $n/d$ at which the best first-order method "
            "has it."
        ),
        paper="arXiv 2405.15480",
        see=("leap", "overlap"),
        linked=("weak recovery",),
    ),
    Term(
        ("variance",),
        (
            "The variance is that of the target over normal inputs, without label noise.  It is "
            "the mean squared error of the best constant.  Errors and floors are in the same "
            "unit."
        ),
        r"$\mathrm{Var}(f(z))=\sum_{k\geq1}\|T_k\|^2/k!$",
        ("floor", "T_k"),
    ),
    Term(
        ("noise", "label noise"),
        (
            "The noise is the standard deviation of normal noise added to the labels.  Errors "
            "count it: with noise 0.5 no error is below 0.25."
        ),
        r"$y=f(x)+s\,\xi$, where $s$ is the noise and $\xi\sim\mathcal{N}(0,1)$",
        ("variance", "noise edge"),
    ),
    Term(
        ("dimension", "direction", "directions"),
        (
            "The dimension is the number of independent directions.  A target depends on $r$ of "
            "them, $x_1$ to $x_r$.  The dimension of a step is how many of them have been "
            "learned by then."
        ),
        see=("staircase", "T_k"),
    ),
    Term(
        ("effective dimension", "effective dimension D"),
        (
            "The effective dimension $D$ of the inputs takes the place of $d$ where their "
            r"variances differ: a step needs $D^k$ samples where inputs $\mathcal{N}(0,I)$ need "
            "$d^k$.  It is smaller than $d$ for a random target direction and for one along axes "
            "of large variance, and larger for one along axes of small variance."
        ),
        r"$D=\mathrm{tr}(\Sigma)\,w^{\top}\Sigma{w}/w^{\top}\Sigma^2w$, with the covariance "
        r"$\Sigma$ of the inputs and the target direction $w$",
        ("dimension", "samples needed"),
    ),
    Term(
        ("staircase", "stairs", "steps needed"),
        (
            r"The staircase lists the directions that each step can learn from $n\sim{d}$ "
            "samples.  Every step adds directions that the target couples to those already "
            "learned.  It stops where no further direction is coupled linearly to them."
        ),
        r"$U_{t+1}=U_t+\mathrm{span}\{\mathbb{E}[\nabla_{\perp}f(x_U+x_{\perp})]:x_U\in{U_t}\}$",
        ("leap", "fresh", "reused", "kept and dropped"),
        f"{GIANT}, Conjecture 1",
        linked=("staircase",),
    ),
    Term(
        ("near-tie",),
        (
            "A near-tie is a singular value close to the tolerance below which it counts as zero. "
            " It is then hard to say whether a step learns the direction."
        ),
        see=("kept and dropped", "undecided"),
    ),
    Term(
        ("kept and dropped", "kept / dropped", "kept", "dropped"),
        (
            "Kept and dropped are two singular values that say how clear the rank of a step of "
            "the staircase is.  The first is the smallest that counts as a direction, the second "
            "the largest that does not.  Two numbers of similar size would be a near-tie.  0 "
            "says that the other directions are exactly absent, - that none are left."
        ),
        see=("staircase", "undecided"),
    ),
    Term(
        ("learns", "learned", "adds", "nothing", "not at n ~ d"),
        (
            "A step learns the directions of the target along which neurons get a cosine that "
            "does not vanish as $d$ grows.  A step of the staircase adds those that were not "
            "learned before, or nothing.  `not at n ~ d` marks directions that the staircase "
            "never reaches.  In a sweep, learned and not learned are verdicts on the exponent in "
            "$d$."
        ),
        see=("through", "staircase", "exponent"),
    ),
    Term(
        ("through",),
        (
            "This column names the part of the target that a step learns from.  It is $T_1$ for "
            "the linear part and $T_2$ for the quadratic one.  blocked says that the activation "
            "cannot use it."
        ),
        see=("T_k", "blocked"),
    ),
    Term(
        ("undecided",),
        (
            "Undecided is what is neither found nor proven absent at the accuracy of the "
            "computation.  The line says how large a share of the variance is open.  Of a claim: "
            "its interval is neither inside nor outside the region."
        ),
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
        (
            "The floor is a lower bound of the test error as $d$ grows, given the directions $U$ "
            "that the first layer has learned.  At finite $d$ errors may lie slightly below it, "
            "because neurons also overlap with directions that are not learned as $d$ grows.  As "
            "$d$ grows no readout does better, and it may do worse.  A narrow network can fit "
            "functions of $U$ "
            r"only.  $p\sim{d^{\kappa_1}}$ neurons and $n\sim{d^{\kappa_2}}$ samples can also fit "
            r"every term of degree up to $k=\min(\kappa_1,\kappa_2)$ outside $U$.  That is the "
            "floor of any activation.  The floor of one activation also counts the terms whose "
            "degree its neurons do not have.  For example relu without biases is a linear "
            "function plus an even one, and cannot fit $x_1x_2x_3$.  tanh fits no even degree.  "
            "With biases every activation that is no polynomial fits all degrees.  The floors of "
            "`giantstep learn` subtract the share $p/d$ of the next degree that $p$ neurons can "
            "fit."
        ),
        (
            r"any activation, narrow: $\mathbb{E}[\mathrm{Var}(f\mid{P_Ux})]$, wide: "
            r"$\|P_{U,>k}f\|^2$; one activation: in addition the terms of total degree $D$ with "
            r"$\mathbb{E}[\sigma^{(D)}(sz)]=0$ for all $s$"
        ),
        ("readout", "kappa", "five regimes"),
        f"{GIANT}, Conjecture 3",
        linked=("floor",),
    ),
    Term(
        ("five regimes", "fitted at best", "fitted"),
        (
            r"The five regimes are one step at $n\sim{d}$ or $d^2$ with $p\sim1$, $d$ or $d^2$ "
            "neurons.  The table shows what is learned, and what a readout of this activation "
            "without biases can then fit at best.  The floor is the error that is left, beside "
            "it the floor of any activation.  Both are lower bounds."
        ),
        see=("floor", "deflated"),
        paper=f"{GIANT}, Conjecture 3",
        linked=("five regimes",),
    ),
    Term(
        ("deflated", "deflate", "degrees < k removed", "preprocessed", "labels", "as they are"),
        (
            "Labels are deflated if their low degrees were fitted and subtracted before the "
            r"step.  At $n\sim{d^2}$ the linear part would otherwise hide the quadratic one.  "
            "`--deflate 1` subtracts it.  With the residual `labels` a step fits the labels $y$ "
            "alone, as if the network answered 0."
        ),
        "$y$ minus the fitted Hermite part of $y$ of degree at most $k$",
        ("T_k", "five regimes", "residual"),
        GIANT,
        linked=("deflated",),
    ),
    Term(
        ("method", "status", "arXiv", "is the smallest"),
        (
            "These are columns of the tables of `analyze --all`.  In the table of exponents each "
            "exponent is the smallest number that meets the condition beside it.  The table of "
            "samples has a row for each method that learns a target.  Its status says whether so "
            "many samples are necessary, sufficient, both (exact order) or a conjecture.  The last "
            "column is the arXiv number of the paper that says so."
        ),
        see=("learns", "leap"),
    ),
)
