"""What the fields of a setting must be beside each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from giantstep.errors import InputError, shown
from giantstep.gaussian.accuracy import ROUNDING
from giantstep.gaussian.points import normal_points
from giantstep.problem.frames import frame_shares
from giantstep.problem.step_size import FLOAT32_MAX
from giantstep.problem.tables import check_rows, frame_columns

if TYPE_CHECKING:
    from giantstep.problem.given_rows import GivenRows
    from giantstep.problem.setting import Setting


def check_setting(setting: Setting) -> None:
    """Refuse what no experiment can have, in one sentence with the field and the value."""
    r = setting.target.r
    if setting.d < r:
        raise InputError(f"d must be at least the {r} directions of the target, got {setting.d}")
    if setting.noise < 0:
        raise InputError(f"noise must not be negative, got {setting.noise:g}")
    if setting.noise > FLOAT32_MAX:
        raise InputError(f"noise overflows float32, got {setting.noise:g}")
    if not 0 <= setting.corruption <= 1:
        raise InputError(f"corruption must be from 0 to 1, got {setting.corruption:g}")
    if setting.corruption > 0 and setting.noise > 0:
        raise InputError(f"noise must be 0 where labels are corrupted, got {setting.noise:g}")
    if setting.label_noise.signs:
        _check_signs(setting)
    if not 0 <= setting.bias <= FLOAT32_MAX:
        raise InputError(f"bias must be a standard deviation, got {setting.bias:g}")
    if not 0 <= setting.decay <= 1:
        raise InputError(f"decay must be from 0 to 1, got {setting.decay:g}")
    if setting.start_rows is None:
        setting.start.kind.check(setting.p, r, setting.d)
    if setting.start.kind.paired and not isinstance(setting.readout_start, str):
        raise InputError(
            f"readout_start must be a name for the {setting.start} start, got "
            f"{shown(list(setting.readout_start))}"
        )
    if setting.readout_between.kind.fitted and setting.readout_n == 0:
        raise InputError("readout_n must be positive for readout_between = ridge, got 0")
    _check_batches(setting)
    if setting.update.kind.remembered is not None and setting.momentum:
        raise InputError(
            f"momentum must be 0 for update = {setting.update}, which has its own, got "
            f"{setting.momentum}"
        )
    if (setting.readout_n == 0) != (setting.test_n == 0):
        raise InputError(
            "readout_n and test_n must both be positive, or both 0 for no readout, "
            f"got {setting.readout_n} and {setting.test_n}"
        )
    if setting.readout_on_last and setting.readout_n not in (0, setting.n):
        raise InputError(
            f"readout_n must be n = {setting.n} on the last batch, got {setting.readout_n}"
        )
    for name, columns in (("start_overlaps", r), ("start_gram", setting.p)):
        _check_matrix(setting, name, columns)
    _check_start(setting)
    setting.inputs.check(setting.d, r)
    frame_shares(setting.frame, setting.inputs, setting.d, r)
    if setting.inputs.known_directions and not setting.turns and not setting.on_axes:
        # The spike is given by its overlap with the first axis.
        raise InputError(
            f"frame must be axes for {setting.inputs.text} inputs and update = {setting.update}, "
            f"got {setting.frame!r}"
        )
    _check_data(setting)


def _check_signs(setting: Setting, *, log2_points: int = 10, spread: float = 2.0) -> None:
    """Refuse a target that is no mean of signs, at normal points ``spread`` times as far out."""
    for name, value in (("noise", setting.noise), ("corruption", setting.corruption)):
        if value:
            raise InputError(f"{name} must be 0 for label_kind = sign, got {value:g}")
    if setting.target.column:
        raise InputError("label_kind must be number for labels of a data set, got 'sign'")
    points = spread * normal_points(setting.target.r, 0, log2_points)
    largest = float(np.max(np.abs(setting.target(list(points.T)))))
    if not largest <= 1.0 + ROUNDING:
        raise InputError(
            f"target must be from -1 to 1 for label_kind = sign, got {setting.target.name!r}, "
            f"which is {largest:.3g} in size at a point"
        )


def _check_data(setting: Setting) -> None:
    """Labels and directions that only a data set has, and the rows that it has."""
    data, label, named = setting.data, setting.target.column, frame_columns(setting.frame)
    if data is not None:
        check_rows(setting, data)
        data.axes(named or ())
    elif label:
        raise InputError(
            f"inputs must be a data set for the target {setting.target.name}, got "
            f"{setting.inputs.text!r}"
        )
    elif named is not None:
        raise InputError(
            f"frame must name no columns without a data set, got {setting.frame!r} for "
            f"{setting.inputs.text} inputs"
        )
    if named is not None and len({*named}) != setting.target.r:
        raise InputError(
            f"frame must name {setting.target.r} different columns, got {setting.frame!r}"
        )
    for name, given in (("noise", setting.noise), ("corruption", setting.corruption)):
        if label and given:
            raise InputError(f"{name} must be 0 for labels of a data set, got {given:g}")


def _check_batches(setting: Setting) -> None:
    if not setting.batches.kind.draws:
        return
    if setting.deflate >= 0:
        raise InputError(f"deflate must be -1 for minibatches, got {setting.deflate}")
    if setting.readout_on_last:
        raise InputError("readout_batch must be fresh for minibatches, got 'last'")


def _check_matrix(setting: Setting, name: str, columns: int) -> None:
    """A matrix of the start: p rows of as many numbers."""
    rows = getattr(setting, name)
    if rows is None:
        return
    for row in rows:
        if len(row) != columns or not all(math.isfinite(entry) for entry in row):
            raise InputError(f"{name} must have rows of {columns} numbers, got {list(row)}")
    if len(rows) != setting.p:
        raise InputError(f"{name} must have {setting.p} rows, got {len(rows)}")


def _check_start(setting: Setting) -> None:
    given, gram = setting.start_overlaps, setting.start_gram
    if given is not None and not setting.start.kind.framed:
        raise InputError(f"start_overlaps needs start = orthogonal or given, got {setting.start!r}")
    if gram is not None and not setting.start.kind.takes_gram:
        raise InputError(f"start_gram needs start = given, got {setting.start!r}")
    if setting.start_rows is not None:
        _check_rows(setting, setting.start_rows)
    elif setting.start.kind.takes_gram:
        if gram is None:
            raise InputError("start_gram or start_rows is missing for start = given")
        overlaps = np.zeros((setting.p, 1)) if given is None else np.array(given)
        square = np.array(gram)
        outside = square - overlaps @ overlaps.T
        size = float(np.max(np.abs(square)))
        if np.max(np.abs(square - square.T)) > ROUNDING * size:
            raise InputError(f"start_gram must be symmetric, got {shown(gram)}")
        if np.linalg.eigvalsh(outside)[0] < -ROUNDING * size:
            raise InputError(
                "start_gram must be at least the products of start_overlaps, got a direction "
                f"of square length {np.linalg.eigvalsh(outside)[0]:.3g} outside the target"
            )
    elif given is not None:
        for row in given:
            if not math.hypot(*row) <= 1.0 + ROUNDING:
                raise InputError(
                    f"start_overlaps must have rows of norm at most 1, got {list(row)}"
                )


def _check_rows(setting: Setting, rows: GivenRows) -> None:
    if not setting.start.kind.takes_gram:
        raise InputError(f"start_rows needs start = given, got {setting.start!r}")
    for name in ("start_overlaps", "start_gram"):
        if getattr(setting, name) is not None:
            raise InputError(f"{name} must be left out where start_rows is given")
    p, q = rows.values.shape
    if p != setting.p:
        raise InputError(f"start_rows must have p = {setting.p} rows, got {p}")
    if q != setting.d and not (setting.turns and setting.known <= q < setting.d):
        least = f"from {setting.known} to " if setting.turns else ""
        raise InputError(f"start_rows must have rows of {least}{setting.d} numbers, got {q}")
