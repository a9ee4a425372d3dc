"""Readers of single values. Numbers and booleans may be text, as in environment variables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gribmill.checked.constraints import Bounds, Length, Matches, digits, either, wrong

Reader = Callable[[Any], Any]
BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
# Far more than any real number has, and few enough for Python to parse quickly.
MOST_DIGITS = 400


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(value, "must be text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            raise wrong(value, "has characters that Unicode lacks") from None
    return value


def _read_whole(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) <= MOST_DIGITS:
        try:
            return int(value)
        except ValueError:
            raise wrong(value, "must be a whole number") from None
    if isinstance(value, float) and math.isfinite(value):
        if value == math.floor(value):
            return int(value)
        raise wrong(value, "must be a whole number")
    raise wrong(value, _not_a_number(value, "must be a whole number"))


def _read_number(value: Any) -> float:
    if type(value) is not float:
        value = _as_float(value)
    if not math.isfinite(value):
        raise wrong(value, "must be a finite number")
    return value  # type: ignore[no-any-return]


def _as_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise wrong(value, _not_a_number(value, "must be a number"))
    try:
        return float(value)
    except ValueError:
        raise wrong(value, "must be a number") from None
    except OverflowError:
        raise wrong(value, "must be a finite number") from None


def _not_a_number(value: Any, text: str) -> str:
    return "must be a number, not true or false" if isinstance(value, bool) else text


def _read_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in BOOLEANS:
        return BOOLEANS[value.lower()]
    raise wrong(value, "must be true or false")


def _read_path(value: Any) -> Path:
    if not isinstance(value, str | Path):
        raise wrong(value, "must be a path")
    return Path(value)


def _read_aware_time(value: Any) -> datetime:
    """A time with a time zone: a TOML time, or text in ISO 8601."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise wrong(value, "must be a time, such as 2021-03-23T00:00:00Z") from None
    if not isinstance(value, datetime):
        raise wrong(value, "must be a time, such as 2021-03-23T00:00:00Z")
    if value.tzinfo is None:
        raise wrong(value, "must have a time zone, such as the Z of 2021-03-23T00:00:00Z")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise wrong(value, "must be a time between the years 1 and 9999 in UTC") from None


# The reader of each type.
SCALARS: dict[Any, Reader] = {
    str: _read_text,
    int: _read_whole,
    float: _read_number,
    bool: _read_boolean,
    Path: _read_path,
    datetime: _read_aware_time,
}


def within(reader: Reader, bounds: Bounds) -> Reader:
    """The reader, with a check that the number is within the bounds."""
    ge, gt, le, lt = bounds
    low, high = -math.inf if ge is None else ge, math.inf if lt is None else lt
    usual = gt is None and le is None

    def read(value: Any) -> Any:
        if type(value) is int and reader is _read_whole and usual and low <= value < high:
            return value
        number = reader(value)
        if ge is not None and number < ge:
            raise wrong(value, f"must be at least {digits(ge)}")
        if gt is not None and number <= gt:
            raise wrong(value, f"must be greater than {digits(gt)}")
        if le is not None and number > le:
            raise wrong(value, f"must be at most {digits(le)}")
        if lt is not None and number >= lt:
            raise wrong(value, f"must be less than {digits(lt)}")
        return number

    return read


def sized(reader: Reader, length: Length, noun: str) -> Reader:
    """The reader, with a check that a text or list is neither too short nor too long."""
    least, most = length
    enough = math.inf if most is None else most

    def read(value: Any) -> Any:
        found = reader(value)
        if least <= len(found) <= enough:
            return found
        word, limit = ("at least", least) if len(found) < least else ("at most", most)
        raise wrong(value, f"must have {word} {limit} {noun}{'' if limit == 1 else 's'}, not {len(found)}")

    return read


def matching(reader: Reader, rule: Matches) -> Reader:
    """The reader, with a check that the text matches."""
    fullmatch = re.compile(rule.pattern).fullmatch

    def read(value: Any) -> Any:
        found = reader(value)
        if fullmatch(found) is None:
            raise wrong(value, f"must match ^{rule.pattern}$")
        return found

    return read


def one_of(choices: tuple[Any, ...]) -> Reader:
    """A reader that accepts exactly these values."""
    wanted = either(repr(choice) for choice in choices)

    def read(value: Any) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return choice
        raise wrong(value, f"must be {wanted}")

    return read
