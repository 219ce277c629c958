"""Records whose fields are declared once.

A ``Field`` says how a value is read, its default, its group and its sentence.  The signature of the
record, the flags of the command line, the keys of a TOML file, the form of the page, the docs and
the checks all follow from it.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_type_hints,
    overload,
)

from giantstep.errors import InputError, unknown_name

Given = TypeVar("Given")
Held = TypeVar("Held")


class Field(Generic[Given, Held]):
    """A field that takes a ``Given`` value, or None for its default, and holds a ``Held`` one.

    ``read(value, name, reading)`` gives what is held, ``reading`` the other fields.  ``takes`` says
    what is typed: a WORD, a SIZE, ..  ``default_words`` tells a default that depends on others.
    """

    name: str

    def __init__(
        self,
        read: Callable[[Any, str, Reading], Held],
        group: str,
        sentence: str,
        *,
        default: Given | None,
        takes: str = "WORD",
        default_words: str = "",
        kw_only: bool = True,
    ) -> None:
        self.read, self.default, self.group, self.sentence = read, default, group, sentence
        self.takes, self.default_words, self.kw_only = takes, default_words, kw_only

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Field({self.name}: {self.in_words()})"

    def in_words(self, default: object = None) -> str:
        """What the field is, and its default (or another one) where it has one."""
        value = self.default if default is None else default
        shown = self.default_words if value == self.default else ""
        shown = shown or (
            "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        )
        return f"{self.sentence}; {shown} by default" if shown else self.sentence

    if TYPE_CHECKING:
        # What a record takes and what it holds, for type checkers and editors.  When a program runs
        # the value in the record's own dictionary stands before the field of its class.
        @overload
        def __get__(self, instance: None, owner: type) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type) -> Held: ...
        def __get__(self, instance: Any, owner: type) -> Any: ...
        def __set__(self, instance: Any, value: Given | None) -> None: ...


class Reading:
    """The fields of a record while they are read, each when it is first asked for."""

    def __init__(self, fields: Mapping[str, Field[Any, Any]], given: Mapping[str, Any]) -> None:
        self._fields, self.given = fields, given
        self._held: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._held:
            field, value = self._fields[name], self.given.get(name)
            self._held[name] = field.read(field.default if value is None else value, name, self)
        return self._held[name]

    def numbers(self, *names: str) -> dict[str, float]:
        """The values of a few sizes by their letters, in whose terms others may be given."""
        return {name: self[name] for name in names}

    def instead(self, **given: Any) -> Reading:
        """The fields read anew with other values for some."""
        return Reading(self._fields, {**self.given, **given})


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Record:
    """A frozen record of the fields that its class declares."""

    fields: ClassVar[Mapping[str, Field[Any, Any]]] = {}
    _given: Mapping[str, Any]

    def __init_subclass__(cls) -> None:
        cls.fields = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}
        cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]
        cls.__doc__ = _explained(cls)

    def __init__(self, *positional: Any, **given: Any) -> None:
        names = [name for name, field in self.fields.items() if not field.kw_only]
        if len(positional) > len(names):
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)} by position only")
        given = dict(zip(names, positional, strict=False)) | given
        for name in given:
            if name not in self.fields:
                raise self.unknown(name, given[name])
        given = {name: given.get(name, field.default) for name, field in self.fields.items()}
        reading = Reading(self.fields, given)
        self.__dict__.update({name: reading[name] for name in self.fields}, _given=given)
        self.check()

    def check(self) -> None:
        """Refuse values that do not go together."""

    @classmethod
    def unknown(cls, name: str, value: object) -> InputError:
        """The complaint about a name that is no field."""
        return unknown_name("key", name, cls.fields, f"help(giantstep.{cls.__name__})")

    def with_held(self, **held: Any) -> Self:
        """A copy that holds other values for some fields, which are not read or checked."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **held)
        return copy

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"a {type(self).__name__} is frozen: take vary({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"a {type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        """Equal in every field, however its value was given."""
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.fields)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.fields))


def _signature(record: type[Record]) -> inspect.Signature:
    """The arguments of a record: what each field takes, and its default."""
    types = get_type_hints(record)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                kinds[field.kw_only],
                default=field.default,
                annotation=get_args(types[name])[0],
            )
            for name, field in record.fields.items()
        ]
    )


def groups(record: type[Record]) -> dict[str, tuple[str, ...]]:
    """The names of the fields by their groups, in the order of the record."""
    names: dict[str, tuple[str, ...]] = {}
    for name, field in record.fields.items():
        names[field.group] = (*names.get(field.group, ()), name)
    return names


def _explained(record: type[Record], columns: int = 92) -> str:
    """The docstring of a record with every field and its default below, in lines that fit."""
    lines = [inspect.cleandoc(record.__doc__ or "")]
    for group, names in groups(record).items():
        lines += ["", group, "-" * len(group)]
        for field in (record.fields[name] for name in names):
            text = textwrap.indent(textwrap.fill(field.in_words(), columns - 4), "    ")
            lines += [f"{field.name} : {field.takes}", text]
    return "\n".join(lines)
