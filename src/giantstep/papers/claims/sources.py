"""The statements of the papers that the claims judge, each with its place and its assumptions."""

from giantstep.papers.claims.source import Source

FEW_STEPS = "arXiv 2305.18270"
ONE_STEP = "arXiv 2310.07891"
TWO_STEPS = "arXiv 2605.17767"

NARROW = (
    "Gaussian inputs, squared loss, p fixed as d grows, fresh batches, rows on the sphere and "
    "readout weights +1 and -1 in pairs that cancel"
)

ONE_STEP_SMALL_BATCH = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="theorem on one step, first case (slides, Results: one gradient step)",
    assumptions=f"{NARROW}; n = O(d^(l - eps)), any step size",
)
ONE_STEP_LINE = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="theorem on one step, case of leap 1 (slides, Results: one gradient step)",
    assumptions=f"{NARROW}; leap 1, n = Omega(d), step size p, an activation with c_1 != 0",
)
ONE_STEP_LEAP = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="theorem on one step, case of leap l > 1 (slides, Results: one gradient step)",
    assumptions=(
        f"{NARROW}; n = Omega(d^l), step size p d^((l - 1)/2), an activation with c_l != 0"
    ),
)
ONE_STEP_FORMULAS = Source(
    kind="slide",
    paper=FEW_STEPS,
    place="slide Behind the scenes: overlap and length of a row after one step",
    assumptions=f"{NARROW}; leading order in d",
)
DEFLATED_LABELS = Source(
    kind="notebook",
    paper=FEW_STEPS,
    place="authors' notebook single_step.ipynb, labels less their linear part",
    assumptions=f"{NARROW}; n of order d^2",
)
SMALL_BATCHES = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="conjecture on small batches (in the slides only: Results: several gradient steps)",
    assumptions=f"{NARROW}; n = O(d^(l - eps)), any fixed number of steps of any size",
)
STAIRCASE = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="Conjecture 1, proved in expectation for two steps",
    assumptions=(
        "Gaussian inputs, squared loss, p fixed as d grows, fresh batches, leap 1, n of order d, "
        "giant steps of one size; the slides have readout weights +1 and -1 in pairs, the tests "
        "Gaussian ones"
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
    place="authors' notebook multiple_steps.ipynb, Example 1",
    assumptions="relu, n = d = 4096, p = 1024, six steps of size 2 p on fresh batches; labels half "
    "of the sum of the links, which are not centred, Gaussian rows without pairs; the notebook "
    "draws gradients",
)
NARROW_FLOOR = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="theorem on the second layer, p = O(1), and the conjecture of its converse (slides, "
    "Finite p regime)",
    assumptions="W has learned a subspace U and no more, a bounded readout",
)
RANDOM_FEATURES = Source(
    kind="slide",
    paper=FEW_STEPS,
    place="slide on random feature regression, which quotes the theorem of Mei, Misiakiewicz and "
    "Montanari (arXiv 2101.10588) informally",
    assumptions="n ~ d^kappa1, p ~ d^kappa2, no step, an activation with coefficients of all "
    "degrees up to kappa; the theorem itself asks that n and p are of different orders and away "
    "from integer powers of d, the slide does not",
)
FEATURE_FLOOR = Source(
    kind="conjecture",
    paper=FEW_STEPS,
    place="Conjecture 3",
    assumptions="W has learned a subspace U and no more, ridge readout of any penalty",
)
GAUSSIAN_EQUIVALENCE = Source(
    kind="slide",
    paper=FEW_STEPS,
    place="slide The linear regime and Gaussian equivalence, random features",
    assumptions="Gaussian inputs, n, d, p in proportion, no step",
)
EQUIVALENCE = Source(
    kind="theorem",
    paper=FEW_STEPS,
    place="conditional Gaussian equivalence (slides, The linear regime and Gaussian equivalence)",
    assumptions="Gaussian inputs, n, d, p in proportion, one step that is a rank one update",
)

PROPORTIONAL = (
    "Gaussian inputs, n, d, p in proportion, rows on the sphere, readout weights N(0, 1/p), an "
    "activation of mean zero with c_1 != 0 and conditions on its smoothness, a target of one "
    "direction with a linear part"
)

SPIKES = Source(
    kind="theorem",
    paper=ONE_STEP,
    place="Theorem 3.3",
    assumptions=f"{PROPORTIONAL}; (l-1)/(2l) < alpha < l/(2l+2)",
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
    assumptions=f"{SPIKES.assumptions}; Gaussian equivalence of the untrained features",
)
NONLINEAR_PART = Source(
    kind="theorem",
    paper=ONE_STEP,
    place="section 4.2",
    assumptions=LIMITING_LOSSES.assumptions,
)
BETA = Source(
    kind="theorem",
    paper=ONE_STEP,
    place="section 3, alignment of beta with the target",
    assumptions=PROPORTIONAL,
)

TWO_STEP_ABSTRACT = Source(
    kind="abstract",
    paper=TWO_STEPS,
    place="abstract",
    assumptions="n, d, p in proportion, step sizes p^alpha1 and p^alpha2 with exponents in "
    "[0, 1/2); no output scale is named",
)

LEARNING_RATE = Source(
    kind="abstract",
    paper="arXiv 2510.21020",
    place="abstract: the learning rate decides between information and generative exponent",
    assumptions="Gaussian inputs, a target of one direction, batches seen twice",
)
INPUT_SPIKE = Source(
    kind="abstract",
    paper="arXiv 2510.01303",
    place="abstract: residue and spike of the data in the gradient",
    assumptions="n, d, p in proportion, inputs with a spike in their covariance",
)
ONE_PASS = Source(
    kind="theorem",
    paper="arXiv 2003.10409",
    place="number of one-pass steps to weak recovery, by information exponent",
    assumptions="Gaussian inputs, one neuron on the sphere, one sample a step, small step sizes, a "
    "start of overlap d^(-1/2)",
)


def beyond(paper: str, place: str, leaves: str = "") -> Source:
    """A finding of this project about what a paper leaves open; which assumption it leaves."""
    return Source(kind="ours", paper=paper, place=place, assumptions=leaves)


def question(paper: str, place: str, leaves: str = "") -> Source:
    """A finding that answers what a reader asks about a paper."""
    return Source(kind="reader's question", paper=paper, place=place, assumptions=leaves)
