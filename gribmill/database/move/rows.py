"""Rows in a form that both databases share, and a checksum that does not depend on their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

from gribmill.database.move.side import MoveRefused, Row, Table
from gribmill.errors import quoted
from gribmill.queue.times import to_datetime, to_text

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
# PostgreSQL's text cannot hold a NUL character.
_NUL = "\N{REPLACEMENT CHARACTER}"


def common_row(table: Table, row: Row) -> Row:
    """The row in the common form; raises MoveRefused if one of the databases cannot store a value."""
    if all(value is None or isinstance(value, int) for value in row):
        return row
    return tuple(
        value if value is None or isinstance(value, int) else _common(table, name, kind, value, row)
        for (name, kind), value in zip(table.columns.items(), row, strict=True)
    )


def _common(table: Table, name: str, kind: str, value: object, row: Row) -> object:
    if kind == "number" and isinstance(value, int | float):
        return value
    if isinstance(value, str) and kind == "text":
        return value.replace("\0", _NUL) if "\0" in value else value
    if isinstance(value, str) and kind == "time":
        if _TIME.fullmatch(value):
            return value
        if (moment := to_datetime(value)) is not None:
            return to_text(moment.timestamp())
    wanted = {"time": "a time", "text": "text", "number": "a number"}[kind]
    raise MoveRefused(
        f"{name} of the row {table.key_of(row)} in {table.name} is {quoted(value)}, which is not {wanted}:"
        " correct it, then move again"
    )


class Checksum:
    """A checksum of a set of rows: their number, and an order-independent sum."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows += 1
            digest = blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest()
            self._sum = (self._sum + int.from_bytes(digest)) % (1 << 128)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checksum) and (self.rows, self._sum) == (other.rows, other._sum)

    __hash__ = None  # type: ignore[assignment]
