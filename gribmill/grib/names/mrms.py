"""The numbers that NSSL's MRMS writes where a radar saw nothing, or where none reaches.

MRMS has its own discipline in GRIB2, whose quantities the lexicon does not name.
"""

from __future__ import annotations

from gribmill.grib.product.keys import Keys

CENTRE, DISCIPLINE = 161, 209
PRECIPITATION = 6
# Missing and no coverage. Amounts, rates and flags of precipitation have other numbers for both.
FILL_VALUES = (-99.0, -999.0)
PRECIPITATION_FILL_VALUES = (-1.0, -3.0, *FILL_VALUES)


def mrms_fill_values(keys: Keys) -> tuple[float, ...]:
    """The fill values of a field of MRMS; none for other fields."""
    if keys.edition != 2 or keys.centre != CENTRE or keys.parameter[0] != DISCIPLINE:
        return ()
    return PRECIPITATION_FILL_VALUES if keys.parameter[1] == PRECIPITATION else FILL_VALUES
