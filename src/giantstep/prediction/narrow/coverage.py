"""What the theory of narrow networks covers."""

from __future__ import annotations

import math

from giantstep.prediction.narrow import drawn_runs, reused
from giantstep.prediction.narrow.long_runs import is_long
from giantstep.prediction.narrow.state import LARGEST_SHARE, too_wide
from giantstep.problem.plain import beyond_plain
from giantstep.problem.setting import Setting
from giantstep.problem.starts import readout_rms

LARGEST_SHARE_OF_ONE_PASS = 0.5
"""Of d, for p with batches of at most LARGEST_SHARE d samples: the inner products of the start are
given, run by run, and a batch adds little to them."""

SAMPLES_OF_A_LENGTH = 100
"""Of fewer samples the length of a gradient, or of the row it moves, is not its root mean square:
its deviation, a tenth at 100, shifts the mean of what is divided by it by its square."""

SAMPLES_TO_DEFLATE = 300
"""Times (1 + strength)^2, for spiked inputs: the noise of the fitted linear part along the spike
adds E[y^2 x^2] E[x^2]/n to the labels' square, for labels of degree 2 15 (1 + strength)^2/n of it,
5 % at so many.  At an eighth of them Gram matrices were off by 6 standard errors of 160 runs."""

LARGEST_LENGTHENING = 0.02
"""What a step may add to the squared length of a normalised row, times 1/n, for fewer samples: the
length strays by its share kappa mu/n, kappa the variance of g^2 over its squared mean, 2 to 5, and
the drift is off by 3/4 of that (docs/derivations/long_runs.md)."""

MOST_SINGLE_STEPS = 1000
"""Steps of a recursion that cannot be taken in groups: some seconds."""

WORDS: dict[str, tuple[str, ...] | None] = {
    "batches": None,
    "bias": None,
    "decay": None,
    "inputs": None,
    "label_transform": None,
    "loss": None,
    "readout_between": None,
    "rows": None,
    "update": ("gradient", "normalised", "orthogonal"),
}
"""Fields in which steps on fresh batches may go beyond the plain one: values, None for any."""


def objection(setting: Setting) -> str | None:
    """Why the theory does not cover a setting, None if it does."""
    if setting.p > LARGEST_SHARE * setting.d:
        one_pass = not setting.seen_again and setting.n <= LARGEST_SHARE * setting.d
        if one_pass and setting.p > LARGEST_SHARE_OF_ONE_PASS * setting.d:
            return too_wide(setting.p, setting.d, LARGEST_SHARE_OF_ONE_PASS)
        if not one_pass and is_long(setting):
            return too_wide(setting.p, setting.d)
        if not one_pass and (complaint := drawn_runs.objection(setting)) is not None:
            return complaint
    if setting.readout_batch == "last":
        return "readout_batch must be fresh, got 'last'"
    for name in ("rows", "update"):
        if getattr(setting, name) == "normalised" and setting.n < SAMPLES_OF_A_LENGTH:
            if name == "rows" and lengthening(setting) <= LARGEST_LENGTHENING * setting.n:
                continue
            least = f"n must be at least {SAMPLES_OF_A_LENGTH}"
            steps = " by steps that are not small" if name == "rows" else ""
            return f"{least} for {name} = normalised{steps}, got {setting.n}"
    if setting.update == "orthogonal" and setting.rows == "normalised":
        # The product of paired rows has no noise before they are divided by lengths that have, and
        # its shift by 1/d was 7 standard errors of 80 runs.
        return "rows must be free for update = orthogonal, got 'normalised'"
    if setting.deflate == 1 and setting.inputs.known_directions:
        enough = math.ceil(SAMPLES_TO_DEFLATE * max(1.0 + setting.inputs.numbers[0], 1.0) ** 2)
        if setting.n < enough:
            return f"n must be at least {enough} to deflate {setting.inputs.text}, got {setting.n}"
    if setting.steps > MOST_SINGLE_STEPS and not is_long(setting):
        what = "spiked inputs" if setting.inputs.known_directions else "a readout that moves"
        what = f"{setting.batches} batches" if setting.seen_again else what
        return f"steps must be at most {MOST_SINGLE_STEPS} for {what}, got {setting.steps}"
    if setting.seen_again:
        return beyond_plain(setting, f"{setting.batches} batches", reused.WORDS)
    return None


def lengthening(setting: Setting) -> float:
    """mu = eta^2 d A/n, what the longest step adds to the squared length of a row, from the start.

    A = s_p^2 a^2 E sigma'^2 E y^2; infinite for losses and labels whose residual is another.
    """
    if setting.loss != "square" or not setting.label_transform.is_plain:
        return math.inf
    size = max(setting.step_size, default=0.0) * setting.scale
    size *= readout_rms(setting.readout_start, setting.p)
    labels = setting.target.series.square + setting.noise**2
    slopes = setting.activation.moments.slope_square
    return size**2 * setting.d / setting.n * slopes * labels
