"""Words of the comparison of theory and simulation: what is compared, and what chance allows."""

from __future__ import annotations

from giantstep.papers.glossary.term import Term

TERMS = (
    Term(
        ("theory", "agree", "disagree"),
        "What is predicted without simulation, shown beside what was simulated.  They agree "
        "unless the p-value of all comparisons together is below 0.001.  Chance alone gives so "
        "small a p-value once in a thousand times.  Every number of theory in a table is "
        "compared.",
        see=("p-value", "comparisons", "would be noticed", "width"),
    ),
    Term(
        ("p-value",),
        "The probability that chance alone sets theory and simulation at least so far apart, if "
        "theory is right.  The p-values of all single numbers are combined by their weighted "
        "harmonic mean.  Many comparisons therefore do not raise a false alarm.",
        "p = 1/sum_j (w_j/p_j), corrected for its own distribution",
        ("theory", "comparisons", "largest deviation"),
    ),
    Term(
        ("largest deviation", "sigma"),
        "The comparison with the smallest p-value.  Its sigma is that p-value written as the "
        "deviation of a normal variable: 1.96 sigma is a p-value of 0.05.  Of some hundred "
        "comparisons the largest deviation is often 3 sigma by chance.",
        see=("comparisons", "p-value"),
    ),
    Term(
        ("comparisons", "comparison", "compared", "not compared"),
        "Numbers that theory and simulation both have.  They are those of the tables, and the "
        "overlaps and norms of every neuron after every step.  Each is tested by Student's t, "
        "from two runs on.  Half of the weight is on the numbers of the tables.  Numbers that "
        "chance alone decides are not compared.",
        "t = (mean over runs - theory)/sqrt(s^2/runs + uncertainty^2)",
        ("largest deviation", "~", "standard error"),
    ),
    Term(
        (
            *("would be noticed", "noticed", "deviation", "deviations"),
            "errors as large as the numbers themselves",
        ),
        "The smallest error of theory that this number of runs would reveal, as a share of the "
        "number itself.  'agree' says that theory is right to within this share, and no more.  "
        "More runs make it smaller.  Where it is above 100 % for every number, only errors as "
        "large as the numbers themselves would be noticed.",
        see=("theory", "runs", "standard error"),
    ),
    Term(
        ("~", "rough", "uncertain", "uncertainty"),
        "Before a number of theory: theory itself is uncertain of it by more than 2.5 %.  The "
        "comparison takes that uncertainty into account.  Between two sizes, as in n ~ d^2 or p "
        "~ 1: one grows like the other, times any constant.",
        see=("comparisons", "sizes"),
    ),
    Term(
        ("standard error", "standard errors", "±", "+-"),
        "How far a mean over runs typically is from its true value.  It stands after ±.  Of a "
        "single run only test errors have one, that of their test samples.",
        "(standard deviation over runs)/sqrt(runs)",
        ("runs", "measured"),
    ),
    Term(
        ("gaussian-runs", "gaussian runs"),
        "Simulated runs on Gaussian rows of the same sizes as a data set.  They take the place "
        "of theory where no theory is precise at these sizes.",
        see=("theory",),
    ),
    Term(
        ("measured", "simulation", "simulated"),
        "What the runs of a simulation show: the mean over runs, with its standard error after "
        "±.  Medians over neurons are taken in each run, before the mean over runs.",
        see=("predicted", "runs"),
    ),
    Term(
        ("predicted", "prediction"),
        "What theory says before anything is simulated.  A - stands where theory gives no number.",
        see=("theory", "measured"),
    ),
    Term(
        ("runs", "run", "seed", "run by run", "interrupted"),
        "Independent repetitions of an experiment.  Run k is the same for any number of runs.  A "
        "difference run by run compares runs of the same number in two settings.  Both use the "
        "same random numbers wherever the settings allow it.",
        see=("standard error",),
    ),
)
