"""What a quantity that the lexicon does not know is called: as in ecCodes, which is asked once, not for every hour."""

from __future__ import annotations

from collections.abc import Hashable

from gribmill.grib.decode.eccodes import describe
from gribmill.grib.decode.field import Field
from gribmill.grib.names.ncep import ncep_words
from gribmill.grib.octets import unsigned
from gribmill.grib.product.templates import TEMPLATES
from gribmill.grib.sections import Sections2

# Long name and units.
Words = tuple[str, str]
MOST_KEPT = 1024
_kept: dict[Hashable, Words] = {}


def words(item: Field) -> Words:
    """Name and units as ecCodes knows them, or the parameter's numbers. NCEP's are known without loading it."""
    known = ncep_words(item.keys)
    return (known.long_name, known.units) if known else _told(item)


def _told(item: Field) -> Words:
    """By ecCodes. Each quantity is a search of milliseconds there, and the first of all takes a hundred megabytes."""
    key = _quantity(item.sections) if isinstance(item.sections, Sections2) else None
    found = _kept.get(key) if key is not None else None
    if found is None:
        found = _asked(item)
        if key is not None and len(_kept) < MOST_KEPT:
            _kept[key] = found
    return found


def _asked(item: Field) -> Words:
    known = describe(item.message())
    numbers = ".".join(str(number) for number in item.keys.parameter)
    return known.long_name or f"parameter {numbers}", (known.units or "unknown").replace("**", "")


def _quantity(sections: Sections2) -> Hashable | None:
    """All that a name can depend on: the message's head but for its times. None where those cannot be told."""
    template = TEMPLATES.get(unsigned(sections.product, 8, 9))
    if template is None:
        return None
    product = bytearray(sections.product)
    if template.time_range:
        end = template.end_of_time_range - 1
        product[end : end + 7] = b""
    product[template.forecast_time - 1 : template.first_surface - 1] = b""
    head = sections.identification
    return sections.discipline, head[5:11], head[19:], sections.local, bytes(product)
