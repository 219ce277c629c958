# %% [markdown]
# # Where does a scaling law come from?
#
# A target of many directions with power-law weights, `sum_k k^-b He2(x_k)`, is learned direction by
# direction. Each one emerges at its own number of samples.
#
# **Do the steps add up to a power law, and to the predicted one?**

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

from giantstep import Setting, emergence, emergence_law, simulate

small = "GIANTSTEP_SMALL" in os.environ  # how the tests run this page
r, d, p, runs, most = (10, 200, 20, 2, 5) if small else (60, 1500, 150, 4, 5)
base = Setting(
    f"separable(He2, {r}, 1)",
    activation="He2",
    d=d,
    p=p,
    steps=1,
    step_size=1e4,
    start="sphere",
    residual="labels",
    readout_n=0,
    test_n=0,
    runs=runs,
)
ratios = [10 * 2**k for k in range(most)]
sizes = [ratio * d for ratio in ratios]
measured = emergence([simulate(base.vary(n=n)) for n in sizes])
laws = [emergence_law(base.vary(n=n)) for n in sizes]

# %% [markdown]
# ## One curve a direction, and their sum

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for k in (1, 2, 4, 8):
    [line] = left.plot(ratios, [law.share[k - 1] for law in laws])
    left.errorbar(
        ratios,
        measured.share[:, k - 1],
        2 * measured.error[:, k - 1],
        fmt="o",
        color=line.get_color(),
    )
    end = (ratios[-1], laws[-1].share[k - 1])
    left.annotate(f"direction {k}", end, (8, 0), textcoords="offset points", va="center")
left.set(xscale="log", xlabel="samples over d", ylim=(0, 1.05))
left.set(ylabel="share of the direction in the rows' span", title="Each direction emerges")
left.spines[["right", "top"]].set_visible(False)
right.plot(ratios, [law.remaining for law in laws], color="black", label="theory")
right.errorbar(
    ratios,
    measured.remaining,
    2 * measured.remaining_error,
    fmt="o",
    color="black",
    label="runs, two s.e.",
)
right.set(xscale="log", yscale="log", xlabel="samples over d", ylabel="variance not learned")
right.set(title="Their sum falls as a power")
right.set_yticks([0.2, 0.3, 0.4, 0.6], ["0.2", "0.3", "0.4", "0.6"])
right.legend()
for axes in (left, right):
    axes.set_xticks(ratios, [str(ratio) for ratio in ratios])
    axes.minorticks_off()
figure.suptitle(f"One giant step, {r} directions, d = {d}, p = {p}", fontsize="medium")
if not small and os.path.isdir("docs"):  # from the root of the repository
    figure.savefig("docs/emergence.png", dpi=110)
plt.show()

# %% [markdown]
# ## How sure is it?
#
# Each run has an exponent, and their mean a standard error. The formula leaves out terms of order
# r/p and p/d; a tenth of the exponent is allowed for them.

# %%
tail = slice(-3, None)
slope, error = measured.exponent((sizes[-3], sizes[-1]))
expected = np.polyfit(np.log(sizes[tail]), np.log([law.remaining for law in laws[tail]]), 1)[0]
print(
    f"exponent of the sum: measured {slope:.3f} +- {error:.3f}, theory {expected:.3f}, limit -0.5"
)
assert abs(slope - expected) < 4 * error + 0.1 * abs(expected)
# Every direction is learned later than the one before it.
assert np.all(np.diff(laws[-1].needed) > 0)
assert measured.share[-1, 0] > 0.8 > measured.share[-1, -1]

# %% [markdown]
# **Conclusion.** Each curve is a step in the logarithm of the samples, and direction k needs k^2
# times the samples of the first. The sum of the steps falls as a power law, with the exponent that
# the formula has at these sizes. It tends to -1/2 only where many directions are learned and many
# are left.
