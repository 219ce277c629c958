# %% [markdown]
# # Breaking the curse with reused batches
#
# `He3(x1) = x1^3 - 3 x1` is orthogonal to every linear function, and so the gradient of a first
# step on a batch of order d points nowhere in particular. Theory says it for *any* number of steps,
# as long as each batch is new: an information exponent of 3 wants far more than d samples.
#
# **What if a step sees the same batch twice?**

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

from giantstep import Setting, analyze, compare, predict, scaling_exponent, simulate

small = "GIANTSTEP_SMALL" in os.environ  # how the tests run this page
d, runs = (500, 24) if small else (2_000, 40)

# %% [markdown]
# The second look changes the rules. The first step has written every label into the weights, so
# the second gradient holds *products* of labels with themselves: a function of y rather than y. And
# some function of y is correlated with x1; that is what a generative exponent of 1 says.

# %%
found = analyze("He3(x1)/sqrt(6)")
print("information exponent", found.information_exponent)
print("generative exponent ", found.generative_exponent)
print("directions learned at n ~ d, fresh: ", found.fresh.dimensions)
print("directions learned at n ~ d, reused:", found.reused.dimensions)

# %% [markdown]
# ## Six steps, fresh and reused
#
# Theory for fresh batches is a recursion of a few overlaps. For reused ones it is an effective
# process: a typical sample with the memory of what it has been told before.

# %%
base = Setting(
    "He3(x1)/sqrt(6)", activation="tanh(z + 0.5)", d=d, n="4d", p=4, steps=6, step_size="2p",
    residual="labels", readout_n=0, test_n=0, runs=runs,
)  # fmt: skip
simulated = {kind: simulate(base.vary(batches=kind)) for kind in ("fresh", "reused")}
predicted = {kind: predict(base.vary(batches=kind)) for kind in ("fresh", "reused")}


def cosine(trajectory):
    """Mean |cosine| of the neurons with x1, run by run and step by step."""
    return np.abs(trajectory.cosine[..., 0]).mean(axis=2)


figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for kind, colour in (("fresh", "C0"), ("reused", "C1")):
    measured = cosine(simulated[kind])
    bars = 2 * measured.std(axis=0, ddof=1) / runs**0.5
    axis.errorbar(range(7), measured.mean(0), bars, fmt="o", color=colour, capsize=3)
    axis.plot(range(7), cosine(predicted[kind].drawn()).mean(0), color=colour, label=kind)
axis.set(xlabel="step", ylabel="mean |cosine| of the neurons with x1", ylim=0)
axis.legend(title="lines: theory\ndots: runs, two standard errors")
plt.show()

# %%
for kind in simulated:
    verdict = compare(predicted[kind], simulated[kind])
    print(f"{kind:6s}: theory and runs agree: {verdict.agrees}, p-value {verdict.p_value:.2g}")
    assert verdict.agrees

# %% [markdown]
# ## Is it really learned?
#
# What counts is what survives as d grows at n = 4d. A random direction falls as `d^(-1/2)`.

# %%
sizes = [d, 4 * d, 16 * d]
for kind, many in (("fresh", 100), ("reused", runs)):  # what is not learned scatters more
    varied = base.vary(batches=kind, runs=many)
    cosines = [cosine(simulate(varied.vary(d=size)))[:, -1] for size in sizes]
    scaling = scaling_exponent(sizes, cosines)
    shown = ", ".join(f"{c.mean():.3f}" for c in cosines)
    print(f"{kind:6s}: {shown}; exponent {scaling.exponent:+.2f}, {scaling.verdict}")
    assert scaling.verdict == {"fresh": "not learned", "reused": "learned"}[kind]

# %% [markdown]
# **Conclusion.** Six batches of 4d fresh samples teach nothing that a random direction does not
# know; *one* batch of 4d samples, looked at six times, teaches a good part of x1. The curse of the
# information exponent is a curse on looking once. It takes large steps, though (with small ones
# nothing is written into the weights for the second look to read:
# `giantstep claims learning-rate-decides`), and a target that some function of the label betrays:
# `He2(x1)` is even, and neither way of looking helps it at n of order d.
