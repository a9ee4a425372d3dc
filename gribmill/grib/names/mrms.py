"""The fill values of NSSL's MRMS for missing radar data and for points without radar coverage.

MRMS uses a local GRIB2 discipline, whose quantities are not in the lexicon.
"""

from __future__ import annotations

from gribmill.grib.product.keys import Keys

CENTRE, DISCIPLINE = 161, 209
PRECIPITATION = 6
# Missing and no coverage. Precipitation amounts, rates and flags use other numbers for both.
FILL_VALUES = (-99.0, -999.0)
PRECIPITATION_FILL_VALUES = (-1.0, -3.0, *FILL_VALUES)


def mrms_fill_values(keys: Keys) -> tuple[float, ...]:
    """The fill values of an MRMS field; empty for other fields."""
    if keys.edition != 2 or keys.centre != CENTRE or keys.parameter[0] != DISCIPLINE:
        return ()
    return PRECIPITATION_FILL_VALUES if keys.parameter[1] == PRECIPITATION else FILL_VALUES
