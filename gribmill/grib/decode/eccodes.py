"""The adapter to ecCodes: values and names of one field."""

from __future__ import annotations

# Before ecCodes: its wheel contains an old SQLite, which Python would use if sqlite3 were imported later.
import sqlite3  # noqa: F401
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A longer GRIB1 product section has a local part, whose length ecCodes derives only from the local definition.
PRODUCT_WITHOUT_LOCAL = 40
# A grid section without points, and a data section of zeros that is longer than any local part.
GRID_OF_NOTHING = b"\0\0\x20\0\xff" + bytes(27)
ZEROS = b"\0\x40\0" + bytes(0x4000 - 3)
GRID_FOLLOWS = 0x80


@dataclass(frozen=True, slots=True)
class Description:
    """ecCodes' names of a quantity; None for names that it does not have."""

    short_name: str | None
    long_name: str | None
    units: str | None


def eccodes_version() -> str:
    """The version of the loaded library. Raises GribError if it cannot be loaded."""
    try:
        import eccodes

        return str(eccodes.codes_get_api_version())
    except (ImportError, RuntimeError, OSError) as error:
        raise GribError(f"ecCodes cannot be loaded: {error}") from None


def decode(message: bytes, points: int) -> NDArray[np.float64]:
    """The values of a message with one field, in the message's own order; NaN where missing."""
    import eccodes

    with _handle(message) as handle:
        try:
            # With NaN instead of ecCodes' default of 9999, no real value can be mistaken for a missing one.
            eccodes.codes_set(handle, "missingValue", float("nan"))
            values: NDArray[np.float64] = eccodes.codes_get_values(handle)
        except (eccodes.CodesInternalError, MemoryError, ValueError) as error:
            raise GribError(f"ecCodes cannot decode it: {error}") from None
    if values.size != points:
        raise GribError(f"ecCodes gives {values.size} values for {points} points")
    return values


def describe(message: bytes) -> Description:
    """ecCodes' names and units of a quantity."""
    with _handle(message) as handle:
        return Description(*(_text(handle, key) for key in ("shortName", "name", "units")))


def short_name(message: bytes) -> str | None:
    """Only the short name: ecCodes takes a millisecond to look up each name."""
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
    check_local(message)
    with _opened(message) as handle:
        yield handle


def check_local(message: bytes | memoryview) -> None:
    """Raise GribError if ecCodes would assume that a GRIB1 product section is longer than it is.

    ecCodes would then read the field's values as headers and crash.
    """
    if message[7] == 1:
        _check_product(bytes(message[8 : 8 + int.from_bytes(message[8:11], "big")]))


@lru_cache(maxsize=64)
def _check_product(product: bytes) -> None:
    """Uses zeros instead of the field's values."""
    if len(product) <= PRODUCT_WITHOUT_LOCAL:
        return
    body = product[:7] + bytes((GRID_FOLLOWS,)) + product[8:] + GRID_OF_NOTHING + ZEROS + b"7777"
    with _opened(b"GRIB" + (8 + len(body)).to_bytes(3, "big") + b"\1" + body) as handle:
        if _text(handle, "offsetSection2") != str(8 + len(product)):
            raise GribError(f"its product section of {len(product)} bytes is too short for its local definition")


@contextmanager
def _opened(message: bytes) -> Iterator[int]:
    import eccodes

    try:
        handle = eccodes.codes_new_from_message(message)
    except eccodes.CodesInternalError as error:
        raise GribError(f"ecCodes cannot open it: {error}") from None
    try:
        yield handle
    finally:
        eccodes.codes_release(handle)
