"""The setting in words, for the head of a table and the title of a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.text import Text

from giantstep.language.expression import format_expression
from giantstep.problem.catalog import CATALOG
from giantstep.problem.setting import GROUPS, Setting
from giantstep.problem.step_size import size_list
from giantstep.problem.target import Target
from giantstep.show.mathtext import formula as set_formula
from giantstep.show.mathtext import sizes
from giantstep.show.tables.parts import counted, shortened

SAID = (
    *("activation", "d", "n", "p", "steps", "step_size", "batches", "noise", "corruption"),
    *("inputs", "label_kind", "start", "runs", "seed", "engine", "device", "spectra"),
)
"""Fields that a heading says in words of its own, or that change no result."""


def formula(target: Target) -> str | None:
    """What a name of the catalog stands for, cut where it is long; None for an expression."""
    if target.name not in CATALOG or target.expression is None:
        return None
    return shortened(format_expression(target.expression), 90)


def target_lines(target: Target) -> Text:
    """The target, and below a name its formula."""
    head = Text(f"{target.name}\n", style="bold")
    meant = formula(target)
    return head if meant is None else head.append(f"= {meant}\n", style="not bold")


def setting_lines(setting: Setting) -> Text:
    """Target, sizes, steps and data."""
    others = ", ".join(other_fields(setting))
    return target_lines(setting.target).append(
        f"{setting.activation.name}, d = {setting.d:,}, n = {setting.n:,}, p = {setting.p:,}, "
        f"{steps_text(setting)}\n{data_text(setting)}\n" + (f"{others}\n" if others else ""),
        style="not bold",
    )


def setting_title(*settings: Setting, width: int = 100) -> str:
    """Above a picture: everything that the settings share, in lines of ``width`` characters."""
    first, *others = [_parts(setting) for setting in settings]
    shared = [part for part in first if all(part in parts for parts in others)]
    if steps_text(settings[0]) not in shared:
        shared += _shared_steps(settings)
    # A step of so many times the giant one stays on its line.
    text = ", ".join(shared).replace(" * ", "\u00a0*\u00a0")
    return sizes("\n".join(textwrap.wrap(text, width)))


def _shared_steps(settings: Sequence[Setting]) -> list[str]:
    """What settings with steps of different sizes share: their number, and a giant size."""
    counts = {len(setting.step_size) for setting in settings}
    if len(counts) > 1 or counts == {0}:
        return []
    giant = all(_is_giant(setting) for setting in settings)
    return [counted(counts.pop(), "step") + " of giant size" * giant]


def _is_giant(setting: Setting) -> bool:
    """Whether every step has the giant size, up to the rounding of a size that was typed."""
    return np.allclose(setting.giant_shares, 1.0, rtol=0.01)


def _parts(setting: Setting) -> list[str]:
    """What a title says of a setting, each thing by itself."""
    lengths = [f"{name} = {getattr(setting, name):,}" for name in ("d", "n", "p")]
    inputs = [f"{setting.inputs.text} inputs"] * (not setting.inputs.is_gaussian)
    noise = [noise_text(setting)] * setting.noisy
    start = f"{setting.start} start"
    # A picture without a readout shows none of its sizes.
    absent = () if setting.readout_n else ("readout_n 0", "test_n 0")
    fields = [field for field in other_fields(setting) if field not in absent]
    return [
        *(
            set_formula(setting.target.name),
            setting.activation.name,
            *lengths,
            steps_text(setting),
            *inputs,
        ),
        *(*noise, start, f"{setting.batches} batches", *fields),
    ]


def other_fields(setting: Setting) -> list[str]:
    """Every field that differs from its default and is not in the other lines, by its name."""
    plain = Setting("x1", d=setting.d, n=setting.n, p=2, steps=0, step_size=1.0)
    values = setting.as_dict()
    return [
        f"{name} {_value(values[name])}"
        for names in GROUPS.values()
        for name in names
        if name not in SAID and getattr(setting, name) != getattr(plain, name)
    ]


def _value(value: Any) -> str:
    """A value of a field, cut where it is long."""
    if isinstance(value, list | tuple):
        text = ", ".join(map(_value, value))
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    return shortened(text, 40)


def steps_text(setting: Setting) -> str:
    """How many steps of which size, and how large that is against a giant one."""
    sizes, shares = setting.step_size, setting.giant_shares
    if not sizes:
        return "no step"
    one = len(set(sizes)) == 1
    if _is_giant(setting):
        giant = "giant"
    else:
        giant = f"{size_list(shares[:1] if one else shares, digits=2)} * giant"
    size = size_list(sizes[:1] if one else sizes, digits=4)
    return f"{counted(len(sizes), 'step')} of size {size} ({giant})"


def noise_text(setting: Setting) -> str:
    """What stands between the target and the labels."""
    if setting.label_noise.signs:
        return "labels drawn as signs with the target as mean"
    if setting.corruption:
        return f"{setting.corruption:.3g} of the labels with the other sign"
    return f"noise {setting.noise:g}"


def data_text(setting: Setting) -> str:
    """Inputs, noise, start and seed."""
    return (
        f"{setting.inputs.text} inputs, {noise_text(setting)}, {setting.start} start, "
        f"{setting.batches} batches, seed {setting.seed}"
    )
