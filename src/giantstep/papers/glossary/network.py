"""Words of the network: its neurons, its readout, and how runs are simulated."""

from __future__ import annotations

from giantstep.papers.glossary.term import GIANT, Term

TERMS = (
    Term(
        ("sizes", "d", "n", "p", "batch", "batch size"),
        (
            "$d$ is the number of inputs, $n$ the number of samples of one step (the batch), and "
            r"$p$ the number of neurons.  $n\sim{d^k}$ says that the batch grows like $d^k$, "
            "times any number.  `batch(rho)` as a lookahead takes the gradient of a batch after a "
            "step of size $\\rho$ on that batch.  The letter $D$ is the effective dimension "
            "of inputs whose variances differ.  It takes the place of $d$ in powers such as $d^k$."
        ),
        r"$D=\mathrm{tr}(\Sigma)\,w^{\top}\Sigma{w}/w^{\top}\Sigma^2w$, with the covariance "
        r"$\Sigma$ of the inputs and the target direction $w$",
        ("effective dimension", "giant", "width", "lookahead"),
    ),
    Term(
        ("width", "quadratic width", "wide"),
        (
            "The width says how the number of neurons $p$ grows with $d$.  It is fixed for narrow "
            "networks.  At linear width $p$ and $n$ grow in proportion to $d$, at quadratic width "
            "$p$ or $n$ grows like $d^2$.  Each has its own theory, and every row of a table "
            "names the theory it is from."
        ),
        see=("narrow", "linear width", "theory"),
        linked=("quadratic width",),
    ),
    Term(
        ("narrow",),
        (
            "A network is narrow if the number of neurons $p$ stays fixed while $d$ grows.  The "
            "page calls this few neurons."
        ),
        see=("width", "linear width"),
    ),
    Term(
        ("linear width",),
        (
            "At linear width the number of neurons $p$ and the number of samples $n$ grow in "
            "proportion to $d$.  Theory then predicts the singular values of the weights."
        ),
        see=("width", "bulk"),
        linked=("linear width",),
    ),
    Term(
        ("b_k", "b_1", "b_2", "b_3", "c_k", "k", "b_k of the slope", "can learn T_k"),
        (
            "$b_k$ is the mean $k$-th derivative of the activation, which is $k!$ times its "
            "Hermite coefficient $c_k$.  A neuron can learn from $T_k$ only if $b_k$ is not "
            "zero.  relu has $b_3=0$, tanh has $b_2=0$."
        ),
        r"$b_k=\mathbb{E}[\sigma^{(k)}(z)]=k!\,c_k$, where $\sigma=\sum_kc_k\mathrm{He}_k$",
        ("blocked", "T_k"),
        linked=("Hermite coefficient",),
    ),
    Term(
        ("blocked", "with this activation"),
        (
            "A direction is blocked if the target offers it but this activation cannot learn it. "
            " The coefficient $b_k$ through which a step would learn it is zero.  Another "
            "activation or a bias can help."
        ),
        see=("b_k",),
    ),
    Term(
        ("start", "symmetric", "symmetric start", "sphere", "given"),
        (
            "The start is the first layer $W$ before the first step.  symmetric: neurons start "
            "in pairs that cancel, so the output starts at 0.  sphere: independent rows of "
            "length one, uniform on the sphere.  gaussian: independent entries "
            r"$\mathcal{N}(0,1/d)$, so that rows have length one on average.  orthogonal: "
            "orthonormal rows, with given overlaps with the target or none.  given: rows with "
            "the overlaps and the Gram matrix that you give."
        ),
        see=("readout", "order d^-1/2", "orthogonal", "bias_at"),
        paper=GIANT,
        linked=("symmetric start",),
    ),
    Term(
        ("gaussian",),
        (
            "The value gaussian has three uses, of inputs, of a start and of a readout.  Of "
            r"inputs: $x\sim\mathcal{N}(0,I)$, what theory assumes.  Of a start: entries of $W$ "
            r"are $\mathcal{N}(0,1/d)$.  Of `readout_start`: entries of $a$ are "
            r"$\mathcal{N}(0,1/p)$."
        ),
        see=("start", "readout_start", "inputs"),
    ),
    Term(
        ("activation", "relu", "coefficient", "coefficients", "pass on"),
        (
            r"The activation is the function $\sigma$ of a neuron.  Its Hermite coefficients "
            "decide which parts of the target a step can learn.  On reused batches a neuron "
            "passes powers of the label on to the next step.  `giantstep activation` lists both."
        ),
        see=("b_k", "reused", "blocked"),
    ),
    Term(
        ("|w|", "norm", "norms", "length"),
        (
            "The norm is the length of a neuron's row of $W$.  Tables show the mean over "
            "neurons.  It is 1 at the start, and a giant step adds a length of order one."
        ),
        r"$\|w_i\|=\sqrt{\sum_jW_{ij}^2}$",
        ("giant", "cosine"),
    ),
    Term(
        ("conditional mean", "what the network computes", "explained"),
        "The conditional mean is the average output where one or two coordinates of the input are "
        "held and all others are random.  The explorer draws it for the target and for the "
        "network with its fitted readout.  The share of the variance that is explained is 1 minus "
        "test error over variance.  It is 100% where both surfaces are the same and the network "
        "ignores all other inputs, and 0% for the best constant.",
        (
            r"$\mathbb{E}[f(x)\mid{u}]=s_p\sum_ia_i\mathbb{E}_t[\sigma(\langle{m_i,u}\rangle+b_i"
            r"+\|v_i\|t)]$, $t\sim\mathcal{N}(0,1)$"
        ),
        ("readout", "output scale", "cosine"),
    ),
    Term(
        ("output scale", "s_p"),
        (
            "The output scale is the factor of the sum over neurons: $1/p$ (a mean), "
            r"$1/\sqrt{p}$, or 1."
        ),
        r"$f(x)=s_p\sum_ia_i\sigma(\langle{w_i,x}\rangle)$",
        ("giant",),
        linked=("output scale",),
    ),
    Term(
        (
            *("readout", "second layer", "readout, train", "readout, test"),
            *("train", "test", "train error", "test error", "mean squared error"),
        ),
        (
            "The readout is the second layer $a$.  It is frozen while $W$ takes its steps, "
            "unless `readout_between` says otherwise.  After every step a new one is fitted by "
            "ridge regression on separate samples.  'readout, test' is its error on further "
            "samples.  'network itself' is the error with the $a$ of the start."
        ),
        (
            r"$\min_a\frac{1}{n}\sum_\mu(y_\mu-s_pa^{\top}\sigma(Wx_\mu))^2+\lambda\|a\|^2$, "
            r"where $\lambda$ is the ridge penalty"
        ),
        ("ridge", "floor", "readout_between", "bias_at"),
        linked=("readout",),
    ),
    Term(
        ("readout_start", "signs", "alternating", "ones"),
        (
            "The readout start holds the entries of the readout $a$ before the first step.  "
            "signs: $+1$ or $-1$ at random.  alternating: $+1$, $-1$, $+1$, and so on.  ones: 1. "
            r" gaussian: $\mathcal{N}(0,1/p)$.  uniform: on $[-1,1]$.  Or $p$ numbers of your "
            r"own.  A step of size $\eta$ moves neuron $i$ by $\eta\,s_pa_i$ times its gradient, "
            "where $s_p$ is the output scale.  The step size giant takes the size of $a$ into "
            "account.  At leap index 1 and output scale $1/p$ it is $p$ for signs, $1.732p$ for "
            "uniform and $p^{1.5}$ for gaussian."
        ),
        (
            r"the step of neuron $i$ is $\eta\,s_pa_i$; giant: "
            r"$\eta=d^{(\ell-1)/2}/(s_p\,\mathrm{rms}(a))$"
        ),
        ("giant", "output scale", "readout"),
    ),
    Term(
        ("network itself", "network error"),
        (
            "The network error is the test error of the network with the readout it had during "
            "its steps, before a new one is fitted."
        ),
        see=("readout",),
    ),
    Term(
        ("ridge", "penalty", "cv"),
        (
            "The ridge is the penalty of the readout.  With cv several penalties are tried, and "
            "the one with the least leave-one-out error is used.  Tables show it."
        ),
        see=("readout", "readout_between"),
        linked=("ridge",),
    ),
    Term(
        ("kappa",),
        (
            r"The letter $\kappa$ is the exponent in $n=d^\kappa$ samples or $p=d^\kappa$ "
            "neurons.  In the papers it is also a vector, the coordinates of a sample along the "
            "learned directions.  Given these coordinates the features are Gaussian again."
        ),
        r"$n=d^\kappa$; $\kappa=Vx$, where the rows of $V$ are the learned directions",
        ("conditional equivalence", "floor"),
        GIANT,
    ),
    Term(
        ("conditional equivalence", "gaussian equivalence"),
        (
            "Gaussian equivalence says that before a step, features behave in regressions like "
            "Gaussian ones of the same mean and covariance.  After a giant step they do so only "
            r"for given coordinates $\kappa$ along the learned directions.  This is the "
            "conditional equivalence."
        ),
        see=("kappa", "readout"),
        paper=GIANT,
        linked=("conditional equivalence", "Gaussian equivalence"),
    ),
    Term(
        ("setting",),
        (
            "A setting is everything that defines an experiment: target, activation, sizes, "
            "steps, data.  In `giantstep compare` it is the name of one of several settings; the "
            "title names the fields in which they differ."
        ),
        see=("sizes", "runs"),
    ),
    Term(
        ("engine", "deferred", "dense", "operations", "memory", "time"),
        (
            "The engine is the way in which runs are simulated.  deferred: for Gaussian inputs.  "
            "It draws only the coordinates that matter, and has the same statistics as a full "
            "$d$-dimensional simulation, without its cost.  dense: draws whole vectors, for any "
            "inputs, on CPU or GPU."
        ),
        see=("runs",),
        paper="arXiv 2101.07464",
    ),
)
