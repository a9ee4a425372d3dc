"""Reads a dataclass from a table, according to its annotations, and converts one to a table."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from gribmill.checked.constraints import After, Before, Bounds, CheckFailed, Length, Matches, WrongValue, inside, wrong
from gribmill.checked.scalars import SCALARS, Reader, matching, one_of, sized, within

T = TypeVar("T")
_READERS: dict[tuple[Any, bool], Reader] = {}


def read(kind: type[T], table: Any, *, ignore_unknown: bool = False) -> T:
    """The dataclass. Raises CheckFailed with all wrong values. Defaults are not checked."""
    return cast("T", _reader_of_class(kind, ignore_unknown)(table))


def plain(value: Any, *, exclude_none: bool = False) -> Any:
    """The value with dataclasses as tables, tuples as lists, and paths and times as text."""
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is not None:
        return _table({name: getattr(value, name) for name in names}, exclude_none)
    if isinstance(value, Mapping):
        return _table(value, exclude_none)
    if isinstance(value, list | tuple):
        return [plain(one, exclude_none=exclude_none) for one in value]
    if isinstance(value, Path):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value


def _table(values: Mapping[str, Any], exclude_none: bool) -> dict[str, Any]:
    return {
        name: plain(value, exclude_none=exclude_none)
        for name, value in values.items()
        if value is not None or not exclude_none
    }


def _reader_of_class(kind: Any, ignore_unknown: bool) -> Reader:
    found = _READERS.get((kind, ignore_unknown))
    if found is None:
        found = _READERS[kind, ignore_unknown] = _make_reader(kind, ignore_unknown)
    return found


def _make_reader(kind: Any, ignore_unknown: bool) -> Reader:
    hints = annotations_of(kind)
    fields = [
        (one.name, one.metadata.get("key") or one.name, one.default, _reader_of(hints[one.name], ignore_unknown))
        for one in dataclasses.fields(kind)
    ]
    required = {
        one.metadata.get("key") or one.name
        for one in dataclasses.fields(kind)
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    }
    known = {key for _, key, _, _ in fields}

    def read_table(table: Any) -> Any:
        if type(table) is not dict and not isinstance(table, Mapping):
            if isinstance(table, kind):
                return table
            raise wrong(table, "must be a table")
        if not required <= table.keys() or not (ignore_unknown or known >= table.keys()):
            raise CheckFailed(problems_of(table))
        try:
            values = {
                name: reader(table[key])
                for name, key, default, reader in fields
                if key in table and table[key] is not default
            }
        except CheckFailed:
            raise CheckFailed(problems_of(table)) from None
        return _make(kind, values, table)

    def problems_of(table: Mapping[str, Any]) -> list[WrongValue]:
        """All wrong values; only called if there is one."""
        problems: list[WrongValue] = []
        for _, key, _, reader in fields:
            if key in table:
                problems += _problems(key, reader, table[key])
            elif key in required:
                problems.append(WrongValue((key,), table, "is missing", "missing"))
        if not ignore_unknown:
            unknown = [(str(key), value) for key, value in table.items() if key not in known]
            problems += [WrongValue((key,), value, "unknown key", "unknown key") for key, value in unknown]
        return problems

    return read_table


def _problems(key: int | str, reader: Reader, value: Any) -> list[WrongValue]:
    try:
        reader(value)
    except CheckFailed as error:
        return inside(key, error)
    return []


def _make(kind: type[Any], values: dict[str, Any], table: Any) -> Any:
    try:
        return kind(**values)
    except CheckFailed:
        raise
    except ValueError as error:  # from __post_init__: the values contradict each other
        raise wrong(table, str(error)) from None


def annotations_of(kind: type[Any]) -> dict[str, Any]:
    """The evaluated annotations of a class and its bases, several times as fast as typing.get_type_hints."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        names = vars(sys.modules[base.__module__])
        for name, text in vars(base).get("__annotations__", {}).items():
            found[name] = eval(text, names) if isinstance(text, str) else text  # noqa: S307 - of our own source
    return found


def _reader_of(hint: Any, ignore_unknown: bool = False) -> Reader:
    """A function that returns the checked value or raises CheckFailed."""
    if hint in SCALARS:
        return SCALARS[hint]
    if hint is Any:
        return _anything
    if dataclasses.is_dataclass(hint):
        return lambda value: _reader_of_class(hint, ignore_unknown)(value)  # on first use
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(inner[0], inner[1:], ignore_unknown)
    if origin is Literal:
        return one_of(inner)
    if origin in (Union, types.UnionType):
        return _union(inner, ignore_unknown)
    if origin is dict:
        return _mapping(_reader_of(inner[0], ignore_unknown), _reader_of(inner[1], ignore_unknown))
    if origin is list or (origin is tuple and inner[-1] is Ellipsis):
        return _sequence(origin, _reader_of(inner[0], ignore_unknown))
    if origin is tuple:
        return _row(tuple(_reader_of(one, ignore_unknown) for one in inner))
    raise TypeError(f"values of type {hint} cannot be read")


def _anything(value: Any) -> Any:
    return value


def _annotated(hint: Any, constraints: tuple[Any, ...], ignore_unknown: bool) -> Reader:
    reader = _reader_of(hint, ignore_unknown)
    noun = "character" if hint is str else "item"
    for one in constraints:
        match one:
            case Bounds():
                reader = within(reader, one)
            case Length():
                reader = sized(reader, one, noun)
            case Matches():
                reader = matching(reader, one)
            case Before():
                reader = _chained(one.function, reader)
            case After():
                reader = _chained(reader, one.function)
    return reader


def _chained(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> Reader:
    def read_both(value: Any) -> Any:
        try:
            return then(first(value))
        except CheckFailed:
            raise
        except ValueError as error:
            raise wrong(value, str(error)) from None

    return read_both


def _union(hints: tuple[Any, ...], ignore_unknown: bool) -> Reader:
    """Uses the reader for the value's type, else the first one that accepts the value."""
    nullable = types.NoneType in hints
    readers = [(_python_type(hint), _reader_of(hint, ignore_unknown)) for hint in hints if hint is not types.NoneType]
    by_type = dict(reversed(readers))
    (_, first), *others = readers
    if not others:
        return lambda value: None if value is None else first(value)

    def read_one(value: Any) -> Any:
        if value is None and nullable:
            return None
        if own := by_type.get(type(value)):
            return own(value)
        for _, reader in others:
            try:
                return reader(value)
            except CheckFailed:
                continue
        return first(value)

    return read_one


def _python_type(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_origin(hint) or hint


def _mapping(read_key: Reader, read_value: Reader) -> Reader:
    def read_table(table: Any) -> dict[Any, Any]:
        if not isinstance(table, Mapping):
            raise wrong(table, "must be a table")
        try:
            return {read_key(key): read_value(value) for key, value in table.items()}
        except CheckFailed:
            problems: list[WrongValue] = []
            for key, value in table.items():
                problems += _problems(str(key), read_key, key) or _problems(str(key), read_value, value)
            raise CheckFailed(problems) from None

    return read_table


def _sequence(kind: type[Any], read_item: Reader) -> Reader:
    def read_items(values: Any) -> Any:
        if not isinstance(values, list | tuple):
            raise wrong(values, "must be a list")
        try:
            return kind([read_item(value) for value in values])
        except CheckFailed:
            found = [_problems(number, read_item, value) for number, value in enumerate(values)]
            raise CheckFailed([one for problems in found for one in problems]) from None

    return read_items


def _row(readers: tuple[Reader, ...]) -> Reader:
    def read_row(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list | tuple) or len(values) != len(readers):
            raise wrong(values, f"must be a list of {len(readers)} values")
        found: list[Any] = []
        try:
            for reader, value in zip(readers, values, strict=True):
                found.append(reader(value))
        except CheckFailed as error:
            raise CheckFailed(inside(len(found), error)) from None
        return tuple(found)

    return read_row
