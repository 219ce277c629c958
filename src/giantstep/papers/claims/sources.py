"""The statements of the papers that the claims judge, each with its place and its assumptions."""

from giantstep.papers.claims.source import Source

FEW_STEPS = "arXiv 2305.18270"
ONE_STEP = "arXiv 2310.07891"
TWO_STEPS = "arXiv 2605.17767"

NARROW = (
    "Inputs are Gaussian, the loss is squared, and batches are fresh. The width $p$ is fixed as "
    "$d$ grows. Rows start on the sphere, with readout weights $+1$ and $-1$ in pairs that cancel."
)

ONE_STEP_SMALL_BATCH = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="theorem on one step, first case (slides, Results: one gradient step)",
    assumptions=rf"{NARROW} $n=\mathcal{{O}}(d^{{\ell-\varepsilon}})$. The step size is arbitrary.",
)
ONE_STEP_LINE = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="theorem on one step, case of leap 1 (slides, Results: one gradient step)",
    assumptions=(
        rf"{NARROW} The leap is 1, $n=\Omega(d)$, and the step size is $p$. The activation has "
        r"$c_1\neq0$."
    ),
)
ONE_STEP_LEAP = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place=r"theorem on one step, case of leap $\ell>1$ (slides, Results: one gradient step)",
    assumptions=(
        rf"{NARROW} $n=\Omega(d^\ell)$, and the step size is $pd^{{(\ell-1)/2}}$. The activation "
        r"has $c_\ell\neq0$."
    ),
)
ONE_STEP_FORMULAS = Source(
    kind="slide",
    paper=FEW_STEPS,
    place="slide Behind the scenes: overlap and length of a row after one step",
    assumptions=f"{NARROW} The formulas are of leading order in $d$.",
)
DEFLATED_LABELS = Source(
    kind="notebook",
    paper=FEW_STEPS,
    place="authors' notebook `single_step.ipynb`, labels without their linear part",
    assumptions=f"{NARROW} $n$ is of order $d^2$.",
)
SMALL_BATCHES = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="conjecture on small batches (in the slides only: Results: several gradient steps)",
    assumptions=(
        rf"{NARROW} $n=\mathcal{{O}}(d^{{\ell-\varepsilon}})$. The number of steps is fixed, and "
        "their sizes are arbitrary."
    ),
)
STAIRCASE = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="Conjecture 1, proved in expectation for two steps",
    assumptions=(
        "Inputs are Gaussian, the loss is squared, and batches are fresh. The width $p$ is fixed "
        "as $d$ grows. The leap is 1, $n$ is of order $d$, and all giant steps have one size. The "
        "slides have readout weights $+1$ and $-1$ in pairs; the tests have Gaussian ones."
    ),
)


def staircase_example(number: int) -> Source:
    """An example of Conjecture 1 that the slides work out."""
    return Source(
        kind="slide",
        paper=FEW_STEPS,
        place=f"Example ({number}) of Conjecture 1 in the slides",
        assumptions=STAIRCASE.assumptions,
    )


PAIR_NOTEBOOK = Source(
    kind="notebook",
    paper=FEW_STEPS,
    place="authors' notebook `multiple_steps.ipynb`, Example 1",
    assumptions="The activation is relu, $n=d=4096$ and $p=1024$. Six steps of size $2p$ are taken "
    "on fresh batches. Labels are half of the sum of the links, which are not centred. Rows are "
    "Gaussian, without pairs. The notebook draws gradients.",
)
NARROW_FLOOR = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place=r"theorem on the second layer, $p=\mathcal{O}(1)$, and the conjecture of its converse "
    "(slides, Finite $p$ regime)",
    assumptions="$W$ has learned a subspace $U$ and no more. The readout is bounded.",
)
RANDOM_FEATURES = Source(
    kind="slide",
    paper=FEW_STEPS,
    place="slide on random feature regression, which quotes the theorem of Mei, Misiakiewicz and "
    "Montanari (arXiv 2101.10588) informally",
    assumptions=r"$n\sim{d^{\kappa_1}}$ and $p\sim{d^{\kappa_2}}$, and no step is taken. The "
    r"activation has coefficients of all degrees up to $\kappa=\min(\kappa_1,\kappa_2)$. The "
    "theorem itself, unlike the slide, asks that $n$ and $p$ are of different orders, and away "
    "from integer powers of $d$.",
)
FEATURE_FLOOR = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="Conjecture 3",
    assumptions="$W$ has learned a subspace $U$ and no more. The readout is fitted by ridge "
    "regression with any penalty.",
)
GAUSSIAN_EQUIVALENCE = Source(
    kind="slide",
    paper=FEW_STEPS,
    place="slide The linear regime and Gaussian equivalence, random features",
    assumptions="Inputs are Gaussian, $n$, $d$ and $p$ are in proportion, and no step is taken.",
)
EQUIVALENCE = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="conditional Gaussian equivalence (slides, The linear regime and Gaussian equivalence)",
    assumptions="Inputs are Gaussian, and $n$, $d$ and $p$ are in proportion. One step is taken, "
    "whose update has rank one.",
)

PROPORTIONAL = (
    "Inputs are Gaussian, and $n$, $d$ and $p$ are in proportion. Rows start on the sphere, and "
    r"readout weights are $\mathcal{N}(0,1/p)$. The activation has mean zero and $c_1\neq0$, and "
    "is smooth enough. The target has one direction and a linear part."
)

SPIKES = Source(
    kind="theorem",
    paper=ONE_STEP,
    place="Theorem 3.3",
    assumptions=(
        rf"{PROPORTIONAL} The step size is $n^\alpha$ with "
        r"$\frac{\ell-1}{2\ell}<\alpha<\frac{\ell}{2\ell+2}$."
    ),
)
SPIKE_ERRORS = Source(
    kind="theorem",
    paper=ONE_STEP,
    place="Theorems 3.3, 4.1 and 4.2",
    assumptions=SPIKES.assumptions,
)
LIMITING_LOSSES = Source(
    kind="theorem",
    paper=ONE_STEP,
    place="Theorems 4.4 and 4.5",
    assumptions=f"{SPIKES.assumptions} Gaussian equivalence holds for the untrained features.",
)
NONLINEAR_PART = Source(
    # "we expect the ridge regression estimator to -- partially -- capture the non-linear part"
    kind="conjecture",
    paper=ONE_STEP,
    place="section 4.2",
    assumptions=LIMITING_LOSSES.assumptions,
)
BETA = Source(
    kind="theorem",
    paper=ONE_STEP,
    place=r"section 3, alignment of $\beta$ with the target",
    assumptions=PROPORTIONAL,
)

TWO_STEP_ABSTRACT = Source(
    kind="abstract",
    paper=TWO_STEPS,
    place="abstract",
    assumptions=r"$n$, $d$ and $p$ are in proportion. Step sizes are $p^{\alpha_1}$ and "
    r"$p^{\alpha_2}$ with exponents in $[0,1/2)$. No output scale is named.",
)

LEARNING_RATE = Source(
    kind="abstract",
    paper="arXiv 2510.21020",
    place="abstract: the learning rate decides between information and generative exponent",
    assumptions="Inputs are Gaussian, the target has one direction, and batches are seen twice.",
)
INPUT_SPIKE = Source(
    kind="abstract",
    paper="arXiv 2510.01303",
    place="abstract: residue and spike of the data in the gradient",
    assumptions="$n$, $d$ and $p$ are in proportion, and the inputs' covariance has a spike.",
)
DATA_SEEN_TWICE = Source(
    kind="abstract",
    paper="arXiv 2405.15459",
    place=r"abstract: with data seen twice, almost all directions are learned in "
    r"$\mathcal{O}(d\log{d})$ steps, beyond the information exponent",
    assumptions="A shallow network is trained by gradient steps, and $d$ grows. A set of hard "
    "functions is excepted, among them sparse parities.",
)
ONE_PASS = Source(
    kind="theorem",
    paper="arXiv 2003.10409",
    place="number of one-pass steps to weak recovery, by information exponent",
    assumptions="Inputs are Gaussian. One neuron moves on the sphere, with one sample per step and "
    "small step sizes. Its start has overlap $d^{-1/2}$.",
)


def beyond(paper: str, place: str, leaves: str = "") -> Source:
    """A finding of this project about what a paper leaves open; which assumption it leaves."""
    return Source(kind="ours", paper=paper, place=place, assumptions=leaves)


def question(paper: str, place: str, leaves: str = "") -> Source:
    """A finding that answers what a reader asks about a paper."""
    return Source(kind="reader's question", paper=paper, place=place, assumptions=leaves)
