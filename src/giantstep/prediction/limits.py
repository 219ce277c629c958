"""Limits of the predictions: every condition under which one is refused or left open, as a record.

A limit is a number of a setting, the bounds between which it must lie, the sentence that a reader
gets where it does not, and where the bound comes from.  A theory has a tuple of limits, and one for
each part of its record that may be left open; nothing else refuses a setting, but for numbers
that leave the finite ones while they are computed.  Here stand the record and the limits that
theories share; those of one theory are in ``narrow/*limits.py`` and ``wide/*limits.py``, and
``giantstep.limits`` lists all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from giantstep.errors import InputError, NoTheoryError, shown
from giantstep.problem.inputs import DEFERRABLE
from giantstep.problem.plain import PLAIN
from giantstep.problem.setting import Setting
from giantstep.simulation.simulate import choose_engine

Quantity = Callable[[Setting], float | None]


@dataclass(frozen=True)
class Limit:
    """One condition of a prediction: ``least <= quantity(setting) <= most``.

    ``quantity`` is None where the limit does not apply to a setting, and for a number that is known
    only once a prediction is computed, which hands it over (``refuse``).  ``sentence`` is what a
    reader gets beyond the bounds; it may name ``value``, ``most``, ``least``, the ``setting``, and
    its fields as they were ``given``.  ``evidence`` is the test, benchmark or derivation behind the
    bounds, a path in the repository, after ``::`` the test; ``kind`` says whether they are derived,
    measured, or chosen (a cost, an accuracy).
    """

    name: str
    quantity: Quantity
    sentence: str
    evidence: str
    kind: Literal["derived", "measured", "chosen"]
    most: float = math.inf
    least: float = -math.inf

    def allows(self, value: float | None) -> bool:
        """Whether a value lies between the bounds; NaN does not, None has nothing to say."""
        return value is None or bool(self.least <= value <= self.most)

    def holds(self, setting: Setting) -> bool:
        """Whether a setting lies between the bounds."""
        return self.allows(self.quantity(setting))

    def complaint(self, setting: Setting) -> str | None:
        """The sentence, where a setting lies beyond the bounds, else None."""
        return self.complaint_at(self.quantity(setting), setting)

    def complaint_at(self, value: float | None, setting: Setting) -> str | None:
        """The sentence, where a value that was computed for a setting lies beyond the bounds."""
        if self.allows(value):
            return None
        numbers = {"value": value, "most": self.most, "least": self.least}
        return self.sentence.format(**numbers, setting=setting, given=_Given(setting))

    def refuse(self, value: float | None, setting: Setting) -> None:
        """Raise NoTheoryError where a value computed for a setting is beyond the bounds."""
        complaint = self.complaint_at(value, setting)
        if complaint is not None:
            raise NoTheoryError(f"no prediction: {complaint}")

    def share_used(self, value: float | None) -> float | None:
        """How much of its bound a value uses, 1 at the bound; of two bounds the nearer."""
        if value is None:
            return None
        shares = []
        if math.isfinite(self.most):
            shares.append(_ratio(value, self.most))
        if math.isfinite(self.least):
            shares.append(_ratio(self.least, value))
        return max(shares)


def _ratio(part: float, total: float) -> float:
    """part/total; where the total is 0, 0 or infinity."""
    if total:
        return part / total
    return math.inf if part > 0 else 0.0


class _Given:
    """Fields of a setting by name, each as a sentence quotes it."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def __getitem__(self, field: str) -> str:
        return shown(self.setting.as_dict()[field])


def first_complaint(limits: tuple[Limit, ...], setting: Setting) -> str | None:
    """The sentence of the first limit that a setting is beyond, None where it is within all."""
    complaints = (limit.complaint(setting) for limit in limits)
    return next((complaint for complaint in complaints if complaint is not None), None)


def refuse_beyond(limits: tuple[Limit, ...], setting: Setting) -> None:
    """Raise NoTheoryError with the sentence of the first limit that a setting is beyond."""
    if not isinstance(setting, Setting):
        raise InputError(f"setting must be a Setting, got {shown(setting)}")
    complaint = first_complaint(limits, setting)
    if complaint is not None:
        raise NoTheoryError(f"no prediction: {complaint}")


def when(applies: Callable[[Setting], bool], limits: tuple[Limit, ...]) -> tuple[Limit, ...]:
    """The limits, where a setting is such that they apply; elsewhere they say nothing."""

    def asked(limit: Limit) -> Limit:
        return replace(limit, quantity=lambda s: limit.quantity(s) if applies(s) else None)

    return tuple(asked(limit) for limit in limits)


def computed(setting: Setting) -> None:
    """The quantity of a limit whose number is known only once a prediction is computed."""


# -- kinds ----------------------------------------------------------------------------------------


def must_be(field: str, words: str, what: str, allowed: Callable[[Setting], bool]) -> Limit:
    """The limit that a field is of a kind which ``what`` is derived for: 0 where it is, else 1."""
    return Limit(
        name=field,
        quantity=lambda setting: 0.0 if allowed(setting) else 1.0,
        sentence=f"{field} must be {words} for {what}, got {{given[{field}]}}",
        evidence="tests/prediction/test_words.py",
        kind="derived",
        most=0.0,
    )


def one_of(field: str, values: tuple[Any, ...], what: str) -> Limit:
    """The limit that a field has one of some values."""
    *others, last = map(str, values)
    words = f"{', '.join(others)} or {last}" if others else last
    return must_be(field, words, what, lambda setting: getattr(setting, field) in values)


def gaussian_inputs(what: str) -> Limit:
    """The limit that inputs are N(0, I), or rows of a data set that are taken for it."""
    return must_be("inputs", "gaussian", what, lambda setting: setting.inputs.taken_for_gaussian)


Covered = Mapping[str, tuple[Any, ...] | None]


def plain_step(what: str, covered: Covered = MappingProxyType({})) -> tuple[Limit, ...]:
    """The limits of a step that is plain but for the ``covered`` fields: values, None for any."""
    inputs = () if "inputs" in covered else (gaussian_inputs(what),)
    fields = PLAIN | dict(covered)
    kinds = (one_of(name, values, what) for name, values in fields.items() if values is not None)
    return (*inputs, *kinds)


PREDICTED_INPUTS = must_be(
    "inputs",
    DEFERRABLE,
    "a prediction",
    lambda setting: setting.inputs.taken_for_gaussian or setting.inputs.deferrable,
)

# -- limits of every theory -----------------------------------------------------------------------

EVERYWHERE = (
    must_be("target", "a function", "a prediction", lambda setting: not setting.target.column),
)
"""What holds for theories and for Gaussian runs in place of a theory."""

COVERED: Covered = {
    "batches": None,
    "bias": None,
    "decay": None,
    "gradient": None,
    "inputs": None,
    "label_kind": None,
    "label_transform": None,
    "lookahead": None,
    "loss": None,
    "momentum": None,
    "readout_between": None,
    "rows": None,
    "update": None,
}
"""Fields in which a step may go beyond the plain one for some theory: values, None for any."""

THEORY = (
    # Theory takes the first coordinates of given rows for those along the target.
    must_be(
        "frame",
        "axes",
        "a prediction from start_rows",
        lambda setting: setting.data is None or setting.start_rows is None or setting.on_axes,
    ),
    *plain_step("a prediction", COVERED),
)
"""What no theory covers, but Gaussian runs do."""


def whitened_share(setting: Setting) -> float | None:
    """n/N where all N rows of a data set were whitened together."""
    data = setting.data
    white = setting.inputs.law.white
    return setting.n / len(data.rows) if data is not None and white else None


WHITENED = Limit(
    name="share of the rows that were whitened together",
    quantity=whitened_share,
    most=0.05,
    sentence="a batch has {value:.0%} of the rows that were whitened together, at most {most:.0%} "
    "is allowed. Whitening takes noise out of so large a batch, which theory does not count",
    # A linear part has no noise in all N rows, and the share n/N less in n of them; some tens of
    # runs see a twentieth.
    evidence="tests/prediction/test_data_sets.py",
    kind="chosen",
)

DENSE_START = Limit(
    name="entries of a dense start",
    quantity=lambda s: None if choose_engine(s) == "deferred" else float(s.p * s.d),
    most=2.0**27,
    sentence="the dense engine predicts each run from its own starting weights. Their number "
    "p*d must be at most {most:.0f}, got {value:.0f}",
    # A gigabyte.
    evidence="tests/prediction/test_words.py::test_a_start_that_is_too_large_to_draw_is_refused",
    kind="chosen",
)

LEARNING_CURVE = (
    must_be("ridge", "a number or several", "a learning curve", lambda s: not s.cross_validates),
    must_be("inputs", "gaussian", "a learning curve", lambda s: s.inputs.is_gaussian),
    one_of("deflate", (-1,), "a learning curve"),
    one_of("bias", (0.0,), "a learning curve"),
    one_of("corruption", (0.0,), "a learning curve"),
    one_of("label_kind", ("number",), "a learning curve"),
    must_be(
        "readout_batch",
        "fresh",
        "a learning curve",
        lambda s: not s.readout_on_last or not s.steps,
    ),
)
"""The limits of ``learning_curve``, which is given the weights."""


@dataclass(frozen=True)
class LimitStatus:
    """Where a setting stands at one limit of a theory, or of a part of it that may be left open.

    ``value`` is None without a setting, where the limit does not apply, and where the number is
    known only once a prediction is computed; ``share`` is how much of the bound it uses, 1 at the
    bound; ``complaint`` is the sentence where it is beyond.
    """

    theory: str
    part: str | None
    limit: Limit
    value: float | None = None
    share: float | None = None
    complaint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The status as plain values, for JSON: None where a number is not there or infinite."""
        numbers = {
            "least": self.limit.least,
            "most": self.limit.most,
            "value": self.value,
            "share": self.share,
        }
        finite = {
            name: number if number is not None and math.isfinite(number) else None
            for name, number in numbers.items()
        }
        words = {"kind": self.limit.kind, "evidence": self.limit.evidence}
        place = {"theory": self.theory, "part": self.part, "name": self.limit.name}
        return place | finite | words | {"complaint": self.complaint}

    @classmethod
    def of(
        cls, limit: Limit, setting: Setting | None, *, theory: str, part: str | None
    ) -> LimitStatus:
        """The status at a setting; a number that a refused setting does not have is None."""
        value = None
        if setting is not None:
            try:
                value = limit.quantity(setting)
            except NoTheoryError:  # another limit refuses what the number is computed from
                value = None
        if setting is None or value is None:
            return cls(theory, part, limit)
        complaint = limit.complaint_at(value, setting)
        return cls(theory, part, limit, value, limit.share_used(value), complaint)
