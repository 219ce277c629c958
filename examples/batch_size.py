# %% [markdown]
# # How large a batch do I need?
#
# The leap index l of a target says it in one letter: one giant step learns from `n ~ d^l` samples.
# But a planner at d = 100 wants a number, not a power.
#
# **From which n on does one step find `He2(x1)`, and is it really d^2?**

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

from giantstep import Setting, analyze, simulate
from giantstep.prediction.narrow.one_step import cosine_quantiles

small = "GIANTSTEP_SMALL" in os.environ  # how the tests run this page
sizes, runs = ((30, 60), 40) if small else ((50, 100, 200), 200)

print("leap index:", analyze("He2(x1)/sqrt(2)").leap_index)

# %% [markdown]
# ## Cosines over batch sizes
#
# At leap 2 the signal of a step is `<w, w*>`: of order `d^(-1/2)` at the start, and a different
# number in every run. There is no typical run to predict, but there is a law: `cosine_quantiles`
# draws starts, moves each by the mean update, which has a closed form, and adds the noise of the
# batch.

# %%
shares = np.geomspace(1 / 16, 16, 4 if small else 9)  # n/d^2


def one_step(d, share):
    """One giant step from n = share d^2 samples."""
    return Setting(
        "He2(x1)/sqrt(2)", activation="tanh(z + 0.5)", d=d, n=round(share * d**2), p=2, steps=1,
        step_size="20*d^0.5", residual="labels", readout_n=0, test_n=0, runs=runs,
    )  # fmt: skip


def first_cosine(trajectory):
    """|cosine| of the first neuron with x1 after the step, run by run."""
    return np.abs(trajectory.cosine[:, 1, 0, 0])


levels = np.array([0.25, 0.5, 0.75])
measured = {d: [first_cosine(simulate(one_step(d, c))) for c in shares] for d in sizes}
predicted = {
    d: np.array([cosine_quantiles(one_step(d, c), levels)[:, 0] for c in shares]) for d in sizes
}

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for d, colour in zip(sizes, ("C0", "C1", "C2", "C3"), strict=False):
    medians = [np.median(values) for values in measured[d]]
    for axis, scale in ((left, d**2), (right, 1.0)):
        axis.plot(shares * scale, medians, "o", color=colour)
        axis.plot(shares * scale, predicted[d][:, 1], color=colour, label=f"d = {d}")
        axis.fill_between(shares * scale, *predicted[d][:, ::2].T, color=colour, alpha=0.12)
left.set(xscale="log", xlabel="n", ylabel="|cosine| after one step", ylim=(0, 1))
right.set(xscale="log", xlabel="n/d^2")
left.legend(title="lines: median of theory\nbands: its quartiles\ndots: median of runs")
plt.show()

# %% [markdown]
# On the left one curve for each dimension; on the right they are one, as `n ~ d^2` says.
#
# ## Does the law hold?
#
# Half of the runs must lie below the predicted median. With R runs a share scatters by
# `0.5/sqrt(R)`; we ask for four of these at every point. And so that the question means something,
# all larger batches together must tell themselves from a sixteenth.

# %%
scatter = 0.5 / runs**0.5
below = [
    np.mean(values < median) - 0.5
    for d in sizes
    for values, median in zip(measured[d], predicted[d][:, 1], strict=True)
]
print(f"farthest of {len(below)} shares: {np.abs(below).max() / scatter:.1f} standard errors")
assert np.abs(below).max() < 4 * scatter
wrong = [
    np.mean(values < cosine_quantiles(one_step(d, share / 16), levels)[1, 0]) - 0.5
    for d in sizes
    for share, values in zip(shares, measured[d], strict=True)
    if share > 1
]
print(
    f"a sixteenth of the batch: {np.mean(wrong) / scatter * len(wrong) ** 0.5:.1f} standard errors"
)
assert abs(np.mean(wrong)) > 4 * scatter / len(wrong) ** 0.5

# %% [markdown]
# ## The number for the planner

# %%
needed = [d**2 * np.exp(np.interp(0.5, predicted[d][:, 1], np.log(shares))) for d in sizes]
exponent = np.polyfit(np.log(sizes), np.log(needed), 1)[0]
for d, n in zip(sizes, needed, strict=True):
    print(
        f"d = {d:3d}: half of the runs reach a cosine of 1/2 from n = {n:,.0f} = {n / d**2:.1f} d^2"
    )
print(f"n grows as d^{exponent:.2f}")
assert 1.75 < exponent < 2.25  # nearer to 2 than to any other multiple of one half

# %% [markdown]
# **Conclusion.** The power is 2 (at small d a little more: a random direction has a cosine, too),
# and the number in front of it, the part that theory in O-notation leaves to the reader, is about
# what the last cell prints: several d^2. It depends on activation and step size (try
# `activation="relu"`), and it is for *one* step. Several smaller batches may do better: `giantstep
# claims leap-2-over-steps cleared-steps`.
