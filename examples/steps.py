# %% [markdown]
# # Five kinds of step on one target
#
# `x1 + He3(x2)/sqrt(6)` has an easy part and a hard one. A batch of order d shows x1 to any
# gradient. Of x2 it shows nothing: `He3` is orthogonal to every linear function, so its information
# exponent is 3.
#
# **Does another kind of step see x2 in fresh batches of order d?**

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

from giantstep import Setting, compare, predict, simulate

small = "GIANTSTEP_SMALL" in os.environ  # how the tests run this page
ratios, runs = ((1, 4), 6) if small else ((0.5, 1, 2, 4, 8), 12)

# %% [markdown]
# Two steps of twice the giant size, each on a new batch, four neurons. The last kind looks ahead:
# each sample's gradient is taken after a small step on that sample alone, as in extragradient
# methods (arXiv 2405.15459).

# %%
base = Setting(
    "x1 + He3(x2)/sqrt(6)", activation="tanh", d=2000, p=4, steps=2, step_size="2*giant",
    start="sphere", readout_start="alternating", residual="labels", readout_n=0, test_n=0,
    runs=runs,
)  # fmt: skip
kinds = {
    "gradient": base,
    "momentum 0.9": base.vary(momentum=0.9),
    "sign": base.vary(update="sign"),
    "orthogonal": base.vary(update="orthogonal"),
    "looking ahead": base.vary(lookahead="sample(p/d)"),
}


def learned(trajectory):
    """Mean over neurons of a_i cos(w_i, x1) and of -a_i cos(w_i, x2) after the steps, by runs.

    Looking ahead turns neurons towards a_i x1 and -a_i x2; what is noise has mean 0.
    """
    signed = trajectory.readout[..., None] * trajectory.cosine[:, -1]
    return signed.mean(axis=1) * (1, -1)


measured, expected = {}, {}
for name, setting in kinds.items():
    varied = [setting.vary(n=f"{ratio}d") for ratio in ratios]
    records = [(simulate(each), predict(each, deviations=False)) for each in varied]
    measured[name] = np.stack([learned(simulated) for simulated, _ in records])
    expected[name] = np.stack([learned(predicted).mean(axis=0) for _, predicted in records])
    verdict = compare(predict(varied[-1]), records[-1][0])
    print(f"{name:13s}: theory and runs agree: {verdict.agrees}, p-value {verdict.p_value:.2g}")
    assert verdict.agrees

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for direction, axis in enumerate(axes):
    for number, name in enumerate(kinds):
        values = measured[name][..., direction]
        bars = 2 * values.std(axis=1, ddof=1) / runs**0.5
        places = np.array(ratios) * 1.04 ** (number - 2)  # side by side
        style = {"color": f"C{number}", "label": name}
        axis.errorbar(places, values.mean(axis=1), bars, fmt="o", ms=4, capsize=2, **style)
        axis.plot(ratios, expected[name][:, direction], color=f"C{number}", lw=1.2)
    axis.set(
        xscale="log", xlabel="samples of a step over d", ylim=((0, 0.95), (-0.03, 0.2))[direction]
    )
    axis.set_xticks(ratios, [f"{ratio:g}" for ratio in ratios])
    axis.minorticks_off()
axes[0].set(
    ylabel="mean cosine of the neurons, signed by a", title="x1, linear: all kinds learn it"
)
axes[1].set(title="He3(x2): only looking ahead learns it")
axes[1].legend(
    loc="center right",
    bbox_to_anchor=(1, 0.42),
    fontsize=8,
    title="lines: theory\ndots: runs, two s.e.",
    title_fontsize=8,
)
if not small and os.path.isdir("docs"):  # from the root of the repository
    figure.savefig("docs/steps.png", dpi=90)
plt.show()

# %% [markdown]
# ## How sure is it?
#
# Noise alone has a standard deviation of 1/(p d)^(1/2) in a run. What is learned must be far above
# it, and the mean over runs of what is not learned below.

# %%
noise = 1 / (base.p * base.d) ** 0.5
for name in kinds:
    values = measured[name][-1, :, 1]
    print(f"{name:13s}: x2 {values.mean():.3f} +- {values.std(ddof=1) / runs**0.5:.3f}")
    if name == "looking ahead":
        assert values.mean() > 8 * noise
    else:
        assert abs(values.mean()) < 4 * noise / runs**0.5
    assert measured[name][-1, :, 0].mean() > 0.3

# %% [markdown]
# **Conclusion.** Momentum, signs and orthogonalisation change how long and how noisy a step is, and
# not what it sees: none of them learns x2. A step that looks at each sample twice does. Its second
# gradient holds powers of the label, and some power of `He3` has a linear part. What momentum 0.9
# gains is small after two steps. Signs and polar factors cost a part of x1 at every batch size.
