"""Words that are typed as values of the fields of a setting, where no other term explains them."""

from __future__ import annotations

from giantstep.papers.glossary.term import Term

UPDATE_WORDS = (
    Term(
        ("update",),
        (
            "The update is what the step size multiplies, made of the gradient of a batch.  It is "
            "the `gradient` itself by default, or normalised, orthogonal, sign, adam, clipped or "
            "clippedwhole."
        ),
        see=("gradient", "giant", "momentum"),
    ),
    Term(
        ("gradient",),
        (
            "The gradient is the derivative of the loss of a batch in the rows of $W$.  As the "
            "update `gradient` the step size multiplies it as it is.  The field `gradient` says "
            "which part of it a step uses, full or tangent.  As `readout_between`, "
            "`gradient(size)` moves the readout with $W$, by a gradient step of that size on the "
            "same batch."
        ),
        see=("update", "full", "tangent", "readout_between"),
    ),
    Term(
        ("normalised", "normalised update"),
        (
            "With the update `normalised` the step size multiplies the gradient of every neuron "
            "divided by its length, so that all neurons move equally far.  With the rows "
            "`normalised` every row of $W$ is divided by its length after each step, as descent on "
            "the sphere does."
        ),
        see=("update", "rows"),
    ),
    Term(
        ("orthogonal", "orthogonal update"),
        (
            "With the update `orthogonal` the step size multiplies the polar factor of the "
            "gradient: its singular vectors stay, and all its singular values become one.  This is "
            "what the iteration of Muon tends to.  As a start, `orthogonal` has orthonormal rows, "
            "with given overlaps with the target or none."
        ),
        r"$UV^{\top}$ where the gradient is $USV^{\top}$",
        ("update", "start"),
    ),
    Term(
        ("sign", "sign update"),
        (
            "With the update `sign` the step size multiplies the sign of every entry of the "
            "gradient, so that all weights move equally far.  With the label kind `sign` a label "
            "is $+1$ or $-1$ at random, with the target as its mean."
        ),
        see=("update", "adam", "label_kind"),
    ),
    Term(
        ("adam",),
        (
            "The update `adam(b1, b2)` divides a running mean of the gradients, entry by entry, by "
            "the root of a running mean of their squares.  `b1` and `b2` are the shares that the "
            "two means keep at each step.  The first step has the sign of the gradient."
        ),
        see=("update", "sign"),
        paper="arXiv 1412.6980",
    ),
    Term(
        ("clipped",),
        (
            "The update `clipped(c)` shortens the gradient of every neuron that is longer than $c$ "
            "to the length $c$, and leaves shorter ones as they are."
        ),
        see=("update", "clippedwhole"),
    ),
    Term(
        ("clippedwhole",),
        (
            "The update `clippedwhole(c)` shortens the gradient of all neurons together to the "
            "length $c$ where it is longer.  The length is the root of the sum of the squares of "
            "all its entries."
        ),
        see=("update", "clipped"),
    ),
)

STEP_WORDS = (
    Term(
        ("full",),
        (
            "With the gradient `full` a step uses the whole gradient.  With the residual `full` a "
            "step fits what the network misses, $y-f(x)$."
        ),
        see=("gradient", "residual", "tangent"),
    ),
    Term(
        ("tangent",),
        (
            "With the gradient `tangent` a step uses only the part of a neuron's gradient that is "
            "at right angles to its row of $W$.  A small step then turns the row and keeps its "
            "length."
        ),
        see=("gradient", "full"),
    ),
    Term(
        ("residual",),
        (
            "The residual is what a step fits.  full: the label minus the answer of the network, "
            "$y-f(x)$, or what takes its place for another loss.  labels: the label $y$ alone."
        ),
        see=("full", "labels", "loss"),
    ),
    Term(
        ("rows", "free"),
        (
            "The rows are those of $W$, one for each neuron.  As the field `rows`, free leaves "
            "them as a step leaves them, of any length, and normalised divides each by its length "
            "after every step."
        ),
        see=("normalised", "|w|"),
    ),
    Term(
        ("none", "sample"),
        (
            "With the lookahead `none` a step takes its gradient at the rows as they are.  With "
            "`sample(rho)` it takes the gradient of each sample after a step of size $\\rho$ on "
            "that sample alone, which is then undone."
        ),
        see=("lookahead", "batch"),
    ),
    Term(
        ("momentum", "heavy ball", "nesterov"),
        (
            "With momentum a step also goes along the steps before it: velocities keep the share "
            "$m$ of what they were and add the gradient.  A plain number $m$ is Polyak's heavy "
            "ball, which steps along the new velocity.  `nesterov(m)` steps along the gradient "
            "plus $m$ times the new velocity."
        ),
        "heavy ball: $V'=mV+G$; nesterov: $G+mV'$",
        ("step", "update"),
    ),
    Term(
        ("loss", "square", "huber", "absolute", "logistic"),
        (
            "The loss is what the steps decrease, as a function of the label $y$ and the answer "
            "$f$ of the network.  square: half the squared difference.  huber(c): the same up to "
            "a difference of $c$, linear beyond.  absolute: the absolute difference.  logistic: "
            "for labels $+1$ and $-1$, small where $f$ has the sign of the label.  The readout is "
            "fitted by ridge regression with any of them."
        ),
        (
            "square $(y-f)^2/2$; absolute $|y-f|$; logistic $\\log(1+e^{-yf})$; huber "
            "$c|y-f|-c^2/2$ where $|y-f|>c$"
        ),
        ("residual", "readout"),
    ),
    Term(
        ("readout_between", "frozen"),
        (
            "The field `readout_between` says what becomes of the readout $a$ between steps.  "
            "frozen: it stays as it was at the start.  ridge: the ridge fit after each step is "
            "used in the next.  gradient(size): it moves with $W$, by a gradient step of that "
            "size on the same batch."
        ),
        see=("readout", "ridge", "gradient"),
    ),
    Term(
        ("record", "all", "log", "every"),
        (
            "The field `record` says after which steps a run is recorded; the last one always is.  "
            "all: after every step.  log: after ten steps a decade, evenly on a log axis.  "
            "every(k): after every $k$-th step."
        ),
        see=("step",),
    ),
)

INPUT_WORDS = (
    Term(
        ("inputs",),
        (
            "As a field of a setting, inputs is the distribution of $x$, gaussian by default.  The "
            "others are rademacher, uniform, student, correlated, mixture, spiked, shifted, "
            "clusters, blocks, power, data and whitened, each a word of its own.  In the table of "
            "the outliers of a given matrix 'inputs' counts how many inputs share the direction."
        ),
        see=("gaussian", "frame", "effective dimension", "outlier"),
    ),
    Term(
        ("rademacher",),
        "Inputs are `rademacher` if all entries of $x$ are independent, $+1$ or $-1$ at random.",
        see=("inputs",),
    ),
    Term(
        ("uniform",),
        (
            "Inputs are `uniform` if all entries of $x$ are independent and uniform on "
            r"$[-\sqrt{3},\sqrt{3}]$, so that they have variance one.  With the readout start "
            "`uniform` the entries of the readout are uniform on $[-1,1]$."
        ),
        see=("inputs", "readout_start"),
    ),
    Term(
        ("student",),
        (
            "Inputs are `student(df)` if all entries of $x$ are independent and have Student's "
            "t-distribution with df degrees of freedom, divided by its standard deviation.  Their "
            "tails are heavier than normal ones."
        ),
        see=("inputs",),
    ),
    Term(
        ("correlated",),
        (
            "Inputs are `correlated(exponent)` if they are normal with the variance of entry $i$ "
            r"in proportion to $i^{-\mathrm{exponent}}$, of mean one.  Along target directions "
            "that are not axes the entries are then correlated."
        ),
        see=("inputs", "power", "effective dimension"),
    ),
    Term(
        ("mixture",),
        (
            "Inputs are a `mixture(separation)` if they come from two Gaussians at equal odds, "
            "apart along one random direction.  The covariance of all inputs is the identity."
        ),
        see=("inputs", "clusters"),
    ),
    Term(
        ("spiked",),
        (
            "Inputs are `spiked(strength, overlap)` if they are normal with the variance 1 + "
            "strength along one direction and 1 along all others.  The overlap is that of this "
            "direction with the first target direction."
        ),
        see=("inputs", "effective dimension"),
    ),
    Term(
        ("shifted",),
        (
            "Inputs are `shifted(length, overlap)` if they are normal with a mean of that length.  "
            "The overlap is that of the mean's direction with the first target direction."
        ),
        see=("inputs",),
    ),
    Term(
        ("clusters",),
        (
            "Inputs are in `clusters(distance, overlap)` if they are in two normal clusters whose "
            "centres are that distance apart.  The overlap is that of the line between the centres "
            "with the first target direction."
        ),
        see=("inputs", "mixture"),
    ),
    Term(
        ("blocks", "block"),
        (
            "Inputs are in `blocks(share, variance, ..)` if they are normal and the axes are "
            "dealt to blocks, each a share of all axes with one variance.  The frame `block(k)` "
            "puts the target directions into block $k$, at random inside it."
        ),
        see=("inputs", "frame", "effective dimension"),
    ),
    Term(
        ("power",),
        (
            "Inputs have a `power(exponent)` law if they are normal with variances that fall as "
            r"$k^{-\mathrm{exponent}}$ along the axes, of mean one.  Neighbouring axes of nearly "
            "the same variance are put into one block."
        ),
        see=("inputs", "blocks", "correlated", "effective dimension"),
    ),
    Term(
        ("data",),
        (
            "Inputs are `data(FILE)` if they are the rows of a table, every column made of mean 0 "
            "and variance one."
        ),
        see=("inputs", "whitened"),
    ),
    Term(
        ("whitened",),
        (
            "Inputs are `whitened(FILE)` if they are the rows of a table, changed as little as "
            "possible so that their covariance is the identity."
        ),
        see=("inputs", "data"),
    ),
)

OTHER_WORDS = (
    Term(
        ("frame", "random", "shares", "columns"),
        (
            "The frame says where the target directions lie among the axes of the inputs.  random: "
            "anywhere.  axes: along the first axes.  block(k): in block $k$ of inputs in blocks.  "
            "shares(s1, s2, ..): each has these shares of its square in the blocks.  "
            "columns(NAME, ..): along the named columns of a data set."
        ),
        see=("inputs", "blocks"),
    ),
    Term(
        ("bias_at", "bias"),
        (
            "The bias of a neuron is a number added before its activation, normal with the "
            "standard deviation of the field `bias`, and frozen.  With `bias_at` start the biases "
            "are there in the steps and in the readout, with `bias_at` readout only in the readout."
        ),
        see=("start", "readout", "activation"),
    ),
    Term(
        ("label_kind", "number"),
        (
            "The field `label_kind` says what a label is.  number: the value of the target, with "
            "its noise.  sign: $+1$ or $-1$ at random, with the target as its mean."
        ),
        see=("noise", "sign"),
    ),
    Term(
        ("readout_batch", "last"),
        (
            "The field `readout_batch` says which samples the readout is fitted on.  fresh: new "
            "ones.  last: the batch of the last step."
        ),
        see=("readout", "fresh"),
    ),
    Term(
        ("device", "auto", "cpu", "gpu"),
        (
            "The device is where samples are drawn and used: the processor (cpu) or a graphics "
            "card (gpu).  With auto it is a graphics card if there is one and it is faster.  The "
            "engine auto is deferred where this is possible and needs fewer coordinates than there "
            "are inputs, else dense."
        ),
        see=("engine",),
    ),
    Term(
        ("precision", "float32", "float64", "tf32", "bf16", "bf16x3"),
        (
            "The precision is the number format of a simulation.  float32 has about 7 decimal "
            "digits and float64 about 16.  tf32 and bf16 round the factors of products on a "
            "graphics card to about 3 digits, which is faster.  bf16x3 adds up three such products "
            "and has about 5."
        ),
        see=("device", "engine"),
    ),
)

TERMS = (*UPDATE_WORDS, *STEP_WORDS, *INPUT_WORDS, *OTHER_WORDS)
