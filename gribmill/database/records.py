"""Values as databases store them: times and JSON are text, bools are integers, and no text has a NUL."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from gribmill.queue.times import to_datetime, to_text

NUL = "\0"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
RecordT = TypeVar("RecordT")


class RawRows(NamedTuple):
    """Unconverted rows: strings, numbers and None, all of which JSON can represent."""

    columns: tuple[str, ...]
    rows: list[Sequence[Any]]

    def records(self, record: type[RecordT]) -> list[RecordT]:
        decode = decoder(record, self.columns)
        return [decode(row) for row in self.rows]


_DECODERS: dict[tuple[type[Any], tuple[str, ...]], Callable[[Sequence[Any]], Any]] = {}


def bind(value: Any) -> Any:
    """Convert a parameter for SQLite."""
    if isinstance(value, datetime):
        return to_text(value.timestamp())
    if isinstance(value, list | tuple | dict):
        return json.dumps(value)
    return value


def bind_all(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: bind(value) for name, value in params.items()}


@overload
def storable(text: str) -> str: ...


@overload
def storable(text: str | None) -> str | None: ...


def storable(text: str | None) -> str | None:
    """Replace NUL characters, which PostgreSQL rejects and at which SQLite's functions truncate."""
    return text.replace(NUL, REPLACEMENT) if text is not None and NUL in text else text


def decoder(record: type[RecordT], columns: tuple[str, ...]) -> Callable[[Sequence[Any]], RecordT]:
    """A function that turns rows with these columns into records, field by field."""
    known: Callable[[Sequence[Any]], RecordT] | None = _DECODERS.get((record, columns))
    if known is None:
        known = _DECODERS[record, columns] = _decoder(record, columns)
    return known


def _decoder(record: type[RecordT], columns: tuple[str, ...]) -> Callable[[Sequence[Any]], RecordT]:
    hints = get_type_hints(record, include_extras=True)
    plan = [(columns.index(name), _reader(hints[name])) for name in _fields(record)]
    # A named tuple with exactly these columns needs no conversion.
    make: Callable[[Sequence[Any]], RecordT] | None = getattr(record, "_make", None)
    if make is not None and plan == [(at, None) for at in range(len(columns))]:
        return make

    def decode(row: Sequence[Any]) -> RecordT:
        return record(*[read(row[at]) if read else row[at] for at, read in plan])

    return decode


def read_json(text: str | None) -> Any:
    """A JSON value. Text that is not JSON (in a manually written row) stays a string."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return text


def _fields(record: type[Any]) -> Sequence[str]:
    return [field.name for field in fields(record)] if is_dataclass(record) else record._fields


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """How to convert a column of this type; None for no conversion."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not NoneType)
    if hint is datetime:
        return to_datetime
    if hint is bool:
        return bool
    if get_origin(hint) is tuple:
        return _read_tuple
    if get_origin(hint) is Annotated or get_origin(hint) is dict:
        return read_json
    return None


def _read_tuple(text: str | None) -> tuple[Any, ...]:
    value = read_json(text)
    return tuple(value) if isinstance(value, list) else ()
