"""Words of the comparison of theory and simulation: what is compared, and what chance allows."""

from __future__ import annotations

from giantstep.papers.glossary.term import Term

TERMS = (
    Term(
        ("theory", "agree", "disagree"),
        (
            "Theory is what is predicted without simulation, and tables show it beside what was "
            "simulated.  They agree unless the p-value of all comparisons together is below "
            "0.001.  Chance alone gives so small a p-value once in a thousand times.  Every "
            "number of theory in a table is compared."
        ),
        see=("p-value", "comparisons", "would be noticed", "width"),
    ),
    Term(
        ("p-value",),
        (
            "The p-value is the probability that chance alone sets theory and simulation at "
            "least so far apart, if theory is right.  The p-values of all single numbers are "
            "combined by their weighted harmonic mean.  Many comparisons therefore do not raise "
            "a false alarm."
        ),
        r"$p=1/\sum_j(w_j/p_j)$, corrected for its own distribution",
        ("theory", "comparisons", "largest deviation"),
        linked=("p-value",),
    ),
    Term(
        ("largest deviation", "sigma"),
        (
            "The largest deviation is the comparison with the smallest p-value.  It is shown in "
            r"units of $\sigma$, as the deviation of a normal variable with that p-value: "
            r"$1.96\sigma$ is a p-value of 0.05.  Of some hundred comparisons the largest "
            r"deviation is often $3\sigma$ by chance."
        ),
        see=("comparisons", "p-value"),
    ),
    Term(
        ("comparisons", "comparison", "compared", "not compared"),
        (
            "A comparison is made for every number that theory and simulation both have.  They "
            "are those of the tables, and the overlaps and norms of every neuron after every "
            "step.  Each is tested by Student's t, from two runs on.  In the p-value the "
            "numbers of the tables count as much as all others together.  A number that theory "
            "leaves open, shown as a dash, is not compared."
        ),
        (
            r"$t=(\bar{m}-m)/\sqrt{s^2/R+u^2}$, where $\bar{m}$ is the mean over $R$ runs, $s$ "
            "their standard deviation, $m$ theory and $u$ its uncertainty"
        ),
        ("largest deviation", "~", "standard error"),
    ),
    Term(
        (
            *("would be noticed", "noticed", "deviation", "deviations"),
            "errors as large as the numbers themselves",
        ),
        (
            "What would be noticed is the smallest error of theory that this number of runs "
            "would reveal, as a share of the number itself.  'agree' says that theory is right "
            "to within this share, and no more.  More runs make it smaller.  Where it is above "
            "100 % for every number, only errors as large as the numbers themselves would be "
            "noticed."
        ),
        see=("theory", "runs", "standard error"),
    ),
    Term(
        ("~", "rough", "uncertain", "uncertainty"),
        (
            "The sign ~ before a number of theory says that theory itself is uncertain of it by "
            "more than 2.5 %.  The comparison takes that uncertainty into account.  Between two "
            r"sizes, as in $n\sim{d^2}$ or $p\sim1$, it says that one grows like the other, times "
            "any constant."
        ),
        see=("comparisons", "sizes"),
    ),
    Term(
        ("standard error", "standard errors", "±", "+-"),
        (
            "The standard error says how far a mean over runs typically is from its true value.  "
            "It stands after ±.  Of a single run only test errors have one, that of their test "
            "samples."
        ),
        r"$s/\sqrt{R}$, where $s$ is the standard deviation over $R$ runs",
        ("runs", "measured"),
    ),
    Term(
        ("gaussian-runs", "gaussian runs"),
        (
            "These are simulated runs on Gaussian rows of the same sizes as a data set.  They "
            "take the place of theory where no theory is precise at these sizes."
        ),
        see=("theory",),
    ),
    Term(
        ("measured", "simulation", "simulated"),
        (
            "Measured is the mean over the runs of a simulation, with its standard error after "
            "±.  Medians over neurons are taken in each run, before the mean over runs."
        ),
        see=("predicted", "runs"),
    ),
    Term(
        ("predicted", "prediction"),
        (
            "Predicted is what theory says before anything is simulated.  A - stands where "
            "theory gives no number."
        ),
        see=("theory", "measured"),
    ),
    Term(
        ("runs", "run", "seed", "run by run", "interrupted"),
        (
            "Runs are independent repetitions of an experiment.  Run $k$ is the same for any "
            "number of runs.  A difference run by run compares runs of the same number in two "
            "settings.  Both use the same random numbers wherever the settings allow it."
        ),
        see=("standard error",),
    ),
)
