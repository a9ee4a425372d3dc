"""The numbers of one field, by ecCodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.tiles.grib.error import GribError


def decode(message: bytes, points: int) -> NDArray[np.float64]:
    """The values of a message with one field, in the message's own order; NaN where missing."""
    import eccodes

    try:
        handle = eccodes.codes_new_from_message(message)
    except eccodes.CodesInternalError as error:
        raise GribError(f"ecCodes cannot open it: {error}") from None
    try:
        # With NaN in the place of ecCodes' 9999 no true value can pass for a missing one.
        eccodes.codes_set(handle, "missingValue", float("nan"))
        values: NDArray[np.float64] = eccodes.codes_get_values(handle)
    except (eccodes.CodesInternalError, MemoryError) as error:
        raise GribError(f"ecCodes cannot decode it: {error}") from None
    finally:
        eccodes.codes_release(handle)
    if values.size != points:
        raise GribError(f"ecCodes gives {values.size} values for {points} points")
    return values


def short_name(message: bytes) -> str | None:
    """ecCodes' short name of the quantity; None where it knows none."""
    import eccodes

    try:
        handle = eccodes.codes_new_from_message(message)
    except eccodes.CodesInternalError:
        return None
    try:
        name = str(eccodes.codes_get(handle, "shortName"))
    except eccodes.CodesInternalError:
        return None
    finally:
        eccodes.codes_release(handle)
    return None if name == "unknown" else name
