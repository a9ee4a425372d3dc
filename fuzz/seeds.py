"""Inputs to start from: sections of made messages, and of small real ones where those are at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from gribmill.grib.decode.field import Field, scan_fields
from gribmill.grib.messages import Data, map_file
from gribmill.grib.sections import Sections2
from tests.kernel.variants import small_messages
from tests.real_files import real_files

# As in fuzz_unpack.c, and what two bytes can tell.
MOST_POINTS = 40_000
MOST_SECTION = 65_535
MOST_BYTES = 60_000
PER_FILE = 6


def write_seeds(folder: Path) -> int:
    """Fill the folder; how many seeds there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (folder / hashlib.sha256(seed).hexdigest()[:20]).write_bytes(seed)
    return len(list(folder.iterdir()))


def seeds() -> Iterator[bytes]:
    """Each message as the fuzz target reads it."""
    for message in small_messages().values():
        yield from _seeds_of(message, "made")
    for path in real_files("*/*.grib2"):
        yield from _seeds_of(map_file(path), path.name)


def _seeds_of(data: Data, source: str) -> Iterator[bytes]:
    found = 0
    for field in scan_fields(data, source):
        seed = _seed(field) if isinstance(field, Field) else None
        if seed is not None:
            found += 1
            yield seed
        if found == PER_FILE:
            return


def _seed(field: Field) -> bytes | None:
    sections, layout = field.sections, field.layout
    if not isinstance(sections, Sections2) or layout is None or not 0 < layout.ny * layout.nx <= MOST_POINTS:
        return None
    if len(sections.bitmap) > MOST_SECTION or len(sections.data) > MOST_BYTES:
        return None
    numbers = (layout.ny, layout.nx, layout.scanning << 8 | 37, len(sections.packing), len(sections.bitmap))
    head = b"".join(number.to_bytes(2, "big") for number in numbers)
    return head + sections.packing + sections.bitmap + bytes(sections.data)
