"""Words of the comparison of theory and simulation: what is compared, and what chance allows."""

from __future__ import annotations

from giantstep.papers.glossary.term import Term

TERMS = (
    Term(
        ("theory", "agree", "disagree"),
        "What is predicted without simulation, beside what was simulated.  They agree unless "
        "chance alone would be so far off less than once in a thousand times, all comparisons "
        "counted: the p-value is then below 0.001.  Every number of theory in a table is compared.",
        see=("p-value", "comparisons", "would have shown", "width"),
    ),
    Term(
        ("p-value",),
        "The probability that chance alone sets theory and simulation at least so far apart, if "
        "theory is right.  One p-value of all comparisons is made of those of the single numbers "
        "by their weighted harmonic mean, so that many comparisons do not raise a false alarm.",
        "p = 1/sum_j (w_j/p_j), corrected for its own distribution",
        ("theory", "comparisons", "least likely"),
    ),
    Term(
        ("least likely", "sigma", "sigma off"),
        "The comparison with the smallest p-value.  Its sigma is that p-value as the deviation of "
        "a normal variable: 1.96 sigma is a p-value of 0.05.  Of some hundred comparisons the "
        "least likely one is often 3 sigma off by chance.",
        see=("comparisons", "p-value"),
    ),
    Term(
        ("comparisons", "comparison", "compared", "not compared"),
        "Numbers that theory and simulation both have: those of the tables, and beside them the "
        "overlaps and norms of every neuron after every step.  Each is tested by Student's t from "
        "the runs that there are, from two on; half of the weight is on the numbers of the tables. "
        " What chance alone decides is not compared.",
        "t = (mean over runs - theory)/sqrt(s^2/runs + uncertainty^2)",
        ("least likely", "~", "standard error"),
    ),
    Term(
        (
            *("would have shown", "deviations", "deviation", "gross deviations"),
            "gross deviations only",
        ),
        "The deviation of theory from simulation that these runs would have called a disagreement, "
        "as a share of the number itself.  'agree' says no more than that theory is right to "
        "within this share; more runs make it smaller.  'Gross deviations only' says that it is "
        "above 100 % for every number that is named.",
        see=("theory", "runs", "standard error"),
    ),
    Term(
        ("~", "rough", "uncertain", "uncertainty"),
        "Before a number of theory: theory itself is uncertain of it by more than 2.5 %, and it is "
        "compared to within that uncertainty.  Between two sizes, as in n ~ d^2 or p ~ 1: one "
        "grows like the other, times any constant.",
        see=("comparisons", "sizes"),
    ),
    Term(
        ("standard error", "standard errors", "±", "+-"),
        "How far a mean over runs is from its true value, typically: it stands after ±.  Of a "
        "single run only test errors have one, that of their test samples.",
        "(standard deviation over runs)/sqrt(runs)",
        ("runs", "measured"),
    ),
    Term(
        ("gaussian-runs", "gaussian runs"),
        "Where no theory is precise at the sizes of a data set: simulated runs on Gaussian rows of "
        "the same sizes take its place.",
        see=("theory",),
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
        ("runs", "run", "seed", "run by run", "interrupted"),
        "Independent repetitions.  Run k is the same for any number of runs.  A difference run by "
        "run is that of runs of the same number in two settings, whose random numbers are the "
        "same where the settings are.",
        see=("standard error",),
    ),
)
