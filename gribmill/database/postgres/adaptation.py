"""Converts values to and from PostgreSQL. As in SQLite, times are text and flags are integers here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown, TextLoader

from gribmill.database.records import storable
from gribmill.queue.times import to_text

INT8 = 20
# Without an offset, the server would assume the session's time zone.
UTC_SUFFIX = "+00"


class FlagDumper(Dumper):
    """Sends bools as integers, because flags are integer columns."""

    oid = INT8

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class TextDumper(StrDumperUnknown):
    """Sends text without a type, so that the server infers it from the statement."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(storable(obj))


class NumericLoader(Loader):
    """Reads whole numerics as int, because sums of bigint are numeric."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


def adapt(context: AdaptContext) -> None:
    """Register these conversions on a connection.

    All integers are sent as int8: psycopg would choose the smallest type for each value, and the server would make
    a new plan for every combination.
    """
    adapters = context.adapters
    assert adapters is not None
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, FlagDumper)
    adapters.register_dumper(str, TextDumper)
    adapters.register_loader("numeric", NumericLoader)
    adapters.register_loader("timestamptz", TextLoader)


def moment(seconds: float) -> str:
    """Epoch seconds as text with a time zone, independent of the session's setting."""
    return to_text(seconds) + UTC_SUFFIX


def array(values: Sequence[str | int | None]) -> str:
    """A PostgreSQL array literal. Faster than psycopg, which inspects the type of each element."""
    return "{" + ",".join([_element(value) for value in values]) + "}"


def sparse_array(values: Sequence[str | int | None]) -> str | None:
    """The same, but None if all values are None: `unnest` pads missing values with NULL."""
    return None if values.count(None) == len(values) else array(values)


def _element(value: str | int | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bind(value: Any) -> Any:
    """Convert a parameter for psycopg."""
    if isinstance(value, datetime):
        return moment(value.timestamp())
    if isinstance(value, list | tuple | dict):
        return json.dumps(value)
    return value


def bind_all(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: bind(value) for name, value in params.items()}
