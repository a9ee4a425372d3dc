"""Parses TOML from users in bounded time, and rejects deep nesting and control characters."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gribmill.errors import GribmillError, control_character, quoted, shortened
from gribmill.regular_file import open_regular

MOST_DEPTH = 16
MOST_VALUES = 20_000
# The range that TOML requires; Python's parser accepts more.
INTEGER_BITS = 63
# The time of Python's parser is quadratic in the number of parts of a dotted key.
MOST_DOTS = 100
_IN_QUOTES = re.compile(r'"[^"]*"|\'[^\']*\'')


def read_toml(path: Path, limit_bytes: int, error: type[GribmillError], what: str) -> dict[str, Any]:
    """The table in a file. Raises `error`, which names the file; `what` describes its content, such as `a model`."""
    try:
        with open_regular(path) as file:
            data = file.read(limit_bytes + 1)
    except OSError as failure:
        raise error(f"{path} cannot be read: {failure.strerror}") from None
    if len(data) > limit_bytes:
        raise error(f"{path} is larger than {limit_bytes} bytes, too large for {what}")
    try:
        return parse_toml(data.decode())
    except UnicodeDecodeError:
        raise error(f"{path} is not valid TOML: it is not UTF-8") from None
    except ValueError as failure:
        raise error(f"{path} {failure}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The table. Raises ValueError, with a message such as `is not valid TOML: …`, if gribmill cannot use it."""
    for number, line in enumerate(text.splitlines(), 1):
        key = _IN_QUOTES.sub("", line).partition("=")[0]
        if "," not in key and key.count(".") > MOST_DOTS:
            raise ValueError(f"cannot be used: the key in line {number} has more than {MOST_DOTS} parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"cannot be used: it is nested more than {MOST_DEPTH} levels deep") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not valid TOML: {shortened(str(error), 300)}") from None
    except ValueError:  # int() refuses thousands of digits
        raise ValueError("cannot be used: it has a number with too many digits") from None
    check_table(table)
    return table


def check_table(table: dict[str, Any]) -> None:
    """Raise ValueError if the table is too deep or too large, or has a control character in a key or a text."""
    for count, (place, depth, value) in enumerate(_walk(table), 1):
        if count > MOST_VALUES:
            raise ValueError(f"cannot be used: it has more than {MOST_VALUES} values")
        if depth > MOST_DEPTH:
            raise ValueError(f"cannot be used: {quoted(place)} is nested more than {MOST_DEPTH} levels deep")
        if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
            raise ValueError(f"cannot be used: {quoted(place)} is too large a number")
        for text in (place, value):
            found = control_character(text) if isinstance(text, str) else None
            if found:
                raise ValueError(f"cannot be used: {quoted(place)} has a control character ({found})")


def _walk(table: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """Yields all values in the table with their dotted key and depth, without recursion."""
    waiting: list[tuple[str, int, Any]] = [("", 0, table)]
    while waiting:
        place, depth, value = waiting.pop()
        if depth:
            yield place, depth, value
        if depth > MOST_DEPTH:
            continue
        if isinstance(value, dict):
            prefix = f"{place}." if place else ""
            waiting += [(f"{prefix}{name}", depth + 1, one) for name, one in value.items()]
        elif isinstance(value, list):
            waiting += [(place, depth + 1, one) for one in value]
