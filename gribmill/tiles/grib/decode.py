"""The numbers and names of one field, by ecCodes."""

from __future__ import annotations

# Before ecCodes: its wheel carries an old SQLite, which Python would take for its own if it came later.
import sqlite3  # noqa: F401
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gribmill.tiles.grib.error import GribError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Description:
    """What ecCodes calls a quantity; None where it knows no name."""

    short_name: str | None
    long_name: str | None
    units: str | None


def decode(message: bytes, points: int) -> NDArray[np.float64]:
    """The values of a message with one field, in the message's own order; NaN where missing."""
    import eccodes

    with _handle(message) as handle:
        try:
            # With NaN in the place of ecCodes' 9999 no true value can pass for a missing one.
            eccodes.codes_set(handle, "missingValue", float("nan"))
            values: NDArray[np.float64] = eccodes.codes_get_values(handle)
        except (eccodes.CodesInternalError, MemoryError, ValueError) as error:
            raise GribError(f"ecCodes cannot decode it: {error}") from None
    if values.size != points:
        raise GribError(f"ecCodes gives {values.size} values for {points} points")
    return values


def describe(message: bytes) -> Description:
    """The names and unit that ecCodes has for a quantity."""
    with _handle(message) as handle:
        return Description(*(_text(handle, key) for key in ("shortName", "name", "units")))


def short_name(message: bytes) -> str | None:
    """The short name alone: each name is a search through ecCodes' tables that takes a millisecond."""
    with _handle(message) as handle:
        return _text(handle, "shortName")


def _text(handle: int, key: str) -> str | None:
    import eccodes

    try:
        text = str(eccodes.codes_get(handle, key))
    except eccodes.CodesInternalError:
        return None
    return None if text == "unknown" else text


@contextmanager
def _handle(message: bytes) -> Iterator[int]:
    import eccodes

    try:
        handle = eccodes.codes_new_from_message(message)
    except eccodes.CodesInternalError as error:
        raise GribError(f"ecCodes cannot open it: {error}") from None
    try:
        yield handle
    finally:
        eccodes.codes_release(handle)
