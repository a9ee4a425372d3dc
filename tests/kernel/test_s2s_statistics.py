"""ecCodes refuses some statistical processes of S2S products, so the kernel declines them."""

from __future__ import annotations

import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.errors import GribError
from gribmill.grib.product.grib2 import TEMPLATES
from tests.kernel.both_decoders import by_eccodes, by_kernel, needs_kernel
from tests.kernel.message_variants import TINY
from tests.make_grib import make_message, smooth_values

pytestmark = needs_kernel
WINDOWED = [number for number, template in TEMPLATES.items() if template.time_range]
# Both sides of each limit, and some between.
NUMBERS = [0, 8, 10, 11, 12, 13, 99, 100, 102, 103, 128, 192, 245, 254, 255]


def field_of(template: int, status: int, ranges: int, last: int) -> Field:
    """A field with this production status, whose last time range has this statistical process."""
    keys = {
        "productDefinitionTemplateNumber": template, "productionStatusOfProcessedData": status,
        "numberOfTimeRanges": ranges,
    }  # fmt: skip
    message = bytearray(make_message(TINY, values=smooth_values(TINY.shape), packing="grid_simple", keys=keys))
    (field,) = fields(bytes(message), "f")
    # A time range has 12 octets, and the last ends with the section; its first octet is the statistic.
    message[message.index(field.sections.product) + len(field.sections.product) - 12] = last
    (changed,) = fields(bytes(message), "f")
    return changed


def by_eccodes_or_none(field: Field) -> bytes | None:
    try:
        return by_eccodes(field).tobytes()
    except GribError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("ranges", [1, 2, 3])
@pytest.mark.parametrize("template", WINDOWED)
def test_the_kernel_decodes_no_s2s_statistic_that_eccodes_refuses(template: int, ranges: int) -> None:
    refused = 0
    for number in NUMBERS:
        field = field_of(template, 6, ranges, number)
        found, expected = by_kernel(field), by_eccodes_or_none(field)
        refused += expected is None
        assert found is None or found.tobytes() == expected, number
        assert found is not None or number not in (0, 8, 11, 100, 255), number
    assert refused or ranges == 3


@pytest.mark.parametrize("status", range(13))
def test_the_kernel_decodes_every_statistic_of_other_products(status: int) -> None:
    for number in NUMBERS if status not in (6, 7) else ():
        field = field_of(11, status, 1, number)
        found = by_kernel(field)
        assert found is not None
        np.testing.assert_array_equal(found, by_eccodes(field))
