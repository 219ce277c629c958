"""The setting in words, for the head of a table and the title of a figure."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from giantstep.language.expression import format_expression
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import Setting
from giantstep.problem.step_size import size_list
from giantstep.problem.target import Target

LONG = 90
"""Characters of a formula that are shown."""


def formula(target: Target) -> str | None:
    """What a name of the catalog stands for, cut where it is long; None for an expression."""
    if target.name not in CATALOG or target.expression is None:
        return None
    text = format_expression(target.expression)
    return text if len(text) <= LONG else text[: LONG - 4] + " ..."


def target_lines(target: Target) -> Text:
    """The target, and below a name its formula."""
    head = Text(f"{target.name}\n", style="bold")
    meant = formula(target)
    return head if meant is None else head.append(f"= {meant}\n", style="not bold")


def setting_lines(setting: Setting) -> Text:
    """Target, sizes, steps and data."""
    return target_lines(setting.target).append(
        f"{setting.activation.name}, d = {setting.d:,}, n = {setting.n:,}, p = {setting.p:,}, "
        f"{steps_text(setting)}\n"
        f"{data_text(setting)}\n",
        style="not bold",
    )


def steps_text(setting: Setting) -> str:
    """How many steps of which size, and how large that is against a giant one."""
    sizes, shares = setting.step_size, setting.giant_shares
    if not sizes:
        return "no step"
    one = len(set(sizes)) == 1
    # The giant size itself, up to the rounding of a size that was typed.
    if np.allclose(shares, 1.0, rtol=0.01):
        giant = "giant"
    else:
        giant = f"{size_list(shares[:1] if one else shares, digits=2)} * giant"
    size = size_list(sizes[:1] if one else sizes, digits=4)
    many = "1 step" if len(sizes) == 1 else f"{len(sizes):,} steps"
    return f"{many} of size {size} ({giant})"


def data_text(setting: Setting) -> str:
    """Inputs, noise, start and seed."""
    noise = f"noise {setting.noise:g}"
    if setting.corruption:
        noise = f"{setting.corruption:.3g} of the labels with the other sign"
    return (
        f"{setting.inputs.text} inputs, {noise}, {setting.start} start, {setting.batches} batches, "
        f"seed {setting.seed}"
    )
