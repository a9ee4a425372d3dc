"""Seed inputs, in the format that each target reads."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from gribmill.grib.decode.field import Field, scan_fields
from gribmill.grib.messages import Data, map_file
from gribmill.grib.sections import Sections2
from gribmill.tiles.format.npz_writer import encode_member
from gribmill.tiles.format.restart_points import parse_restart_points
from tests.kernel.message_variants import TINY, fields_of_values, small_messages
from tests.kernel.restart_segments import segment_numbers
from tests.real_files import real_files

# As in fuzz_decode.c, and the greatest length that two bytes can encode.
MAX_POINTS = 40_000
MAX_SECTION_BYTES = 65_535
MAX_DATA_BYTES = 60_000
SEEDS_PER_FILE = 6
# As in fuzz_inflate.c.
MAX_SEGMENTS = 8
# Values of a deflated array: two and a half segments.
STREAM_VALUES = 10_000


def write_seeds(target: str, folder: Path) -> int:
    """Fill the folder with the target's seeds; returns how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in TARGETS[target]():
        (folder / hashlib.sha256(seed).hexdigest()[:20]).write_bytes(seed)
    return len(list(folder.iterdir()))


def decode_seeds() -> Iterator[bytes]:
    """Sections of generated messages, and of small real ones if available."""
    for message in small_messages().values():
        yield from _sections_of(message, "made")
    for path in real_files("*/*.grib2"):
        yield from _sections_of(map_file(path), path.name)


def deflate_seeds() -> Iterator[bytes]:
    """Values of many kinds, with every parser and mode."""
    for number, values in enumerate(_value_arrays()):
        for choice in range(3):
            header = bytes(
                (choice, (choice + number) % 3, 127, number % 4, number % 200, number % 2, choice, number % 2)
            )
            yield header + values.tobytes()


def inflate_seeds() -> Iterator[bytes]:
    """Streams that the kernel made, with their restart points."""
    for values in _value_arrays():
        for array in (
            np.resize(values, STREAM_VALUES),
            np.resize(np.nan_to_num(values), STREAM_VALUES).astype(np.uint16),
        ):
            made = encode_member("x", array)
            points = parse_restart_points(made.extra, made.raw_size)
            if points is None or not points.bit_offsets:
                continue
            numbers = segment_numbers(points, made.raw_size)[:MAX_SEGMENTS].tolist()
            head = b"".join(struct.pack("<II", block, bit) + struct.pack(">H", size) for block, bit, size in numbers)
            yield bytes((len(numbers) - 1,)) + head + bytes(made.data)


TARGETS: dict[str, Callable[[], Iterator[bytes]]] = {
    "decode": decode_seeds,
    "deflate": deflate_seeds,
    "inflate": inflate_seeds,
}


def _value_arrays() -> Iterator[np.ndarray]:
    random = np.random.default_rng(1)
    for values in fields_of_values(TINY.shape).values():
        yield values.astype(np.float32).reshape(-1)
    yield np.zeros(3000, np.float32)
    yield np.round(np.cumsum(random.normal(size=6000)), 1).astype(np.float32)
    yield random.normal(size=3000).astype(np.float32)
    yield np.repeat(random.normal(size=40), 100).astype(np.float32)


def _sections_of(data: Data, source: str) -> Iterator[bytes]:
    found = 0
    for field in scan_fields(data, source):
        seed = _sections(field) if isinstance(field, Field) else None
        if seed is not None:
            found += 1
            yield seed
        if found == SEEDS_PER_FILE:
            return


def _sections(field: Field) -> bytes | None:
    sections, layout = field.sections, field.layout
    if not isinstance(sections, Sections2) or layout is None or not 0 < layout.ny * layout.nx <= MAX_POINTS:
        return None
    if len(sections.bitmap) > MAX_SECTION_BYTES or len(sections.data) > MAX_DATA_BYTES:
        return None
    numbers = (layout.ny, layout.nx, layout.scanning << 8 | 37, len(sections.packing), len(sections.bitmap))
    head = b"".join(number.to_bytes(2, "big") for number in numbers)
    return head + sections.packing + sections.bitmap + bytes(sections.data)
