"""PNG images that the PNG library refuses for their width: the same values as simple packing has."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import gribmill
from gribmill.grib.decode.field import fields, read_fields
from gribmill.grib.errors import GribError
from gribmill.grib.packing.images import decode_wide_png, pixels, too_wide
from gribmill.grib.sections import Sections2, sections2
from tests.make_grib import GRIDS, GridSpec, make_message, smooth_values
from tests.real_files import real

WIDE = GridSpec("regular_ll", 1440, 721, GRIDS["gfs"].keys, scanning=0)


def chunk(kind: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")


def png(filtered: bytes, width: int, height: int, depth: int = 16, colour: int = 0) -> bytes:
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((depth, colour, 0, 0, 0))
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(filtered, 1)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def filtered_row(kind: int, row: NDArray[np.uint8]) -> bytes:
    """A row of pixels (one row of octets each) as a PNG encoder writes it, below a row of zeros."""
    left = np.vstack([np.zeros((1, row.shape[1]), np.uint8), row[:-1]])
    guess = {0: np.zeros_like(row), 1: left, 2: np.zeros_like(row), 3: left // 2, 4: left}[kind]
    return b"".join((bytes((kind,)), (row - guess).astype(np.uint8).tobytes()))


def as_png(simple: bytes, kind: int) -> bytes:
    """A message with simple packing in 16 bits as one with a PNG of one row."""
    (part,) = sections2(simple)
    coded = int.from_bytes(part.packing[5:9], "big")
    octets = np.frombuffer(part.data[5:], np.uint8)[: 2 * coded].reshape(coded, 2)
    packing = bytearray(part.packing)
    packing[9:11] = (41).to_bytes(2, "big")
    image = png(filtered_row(kind, octets), coded, 1)
    data = (5 + len(image)).to_bytes(4, "big") + b"\7" + image
    return Sections2(
        part.discipline, part.identification, part.local, part.grid, part.product, bytes(packing), part.bitmap,
        memoryview(data),
    ).message()  # fmt: skip


@pytest.fixture(scope="module")
def simple() -> bytes:
    values = smooth_values(WIDE.shape)
    values[:3, :700] = np.nan
    return make_message(WIDE, "2t", values, packing="grid_simple", bits=16)


@pytest.mark.parametrize("kind", range(5))
def test_a_row_of_more_than_a_million_pixels_is_decoded(kind: int, simple: bytes) -> None:
    (field,) = fields(as_png(simple, kind), "f")
    assert isinstance(field.sections, Sections2)
    assert too_wide(field.sections, field.packing)
    (expected,) = fields(simple, "f")
    assert np.array_equal(field.values(), expected.values(), equal_nan=True)


def test_it_is_cut_like_any_other_field(simple: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.grib2"
    path.write_bytes(as_png(simple, 1))
    (result,) = gribmill.cut(path, gribmill.Box(-20, -35, 50, 35), tmp_path)
    assert not result.skipped
    assert result.tiles[0].meta.variables["t2m"].packing.name == "png"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noaa/gfs.20220210.t00z.0p25.f024.HGT500.png.grib2"])
def test_images_that_eccodes_reads_give_the_same_bits(name: str) -> None:
    field = next(read_fields(real(name)))
    assert isinstance(field.sections, Sections2)
    assert np.array_equal(decode_wide_png(field.sections, field.packing).astype(np.float32), field.flat_values())


@pytest.mark.parametrize(("bits", "depth", "colour"), [(8, 8, 0), (16, 16, 0), (24, 8, 2), (32, 8, 6)])
def test_pixels_of_one_to_four_octets_are_joined(bits: int, depth: int, colour: int) -> None:
    octets = np.random.default_rng(3).integers(0, 256, (50, bits // 8)).astype(np.uint8)
    expected = [int.from_bytes(pixel.tobytes(), "big") for pixel in octets]
    for kind in range(5):
        image = png(filtered_row(kind, octets), 50, 1, depth, colour)
        assert pixels(memoryview(image)).tolist() == expected


def test_images_with_several_rows_use_the_row_above() -> None:
    """A second row of zeros with the filters that look up repeats what is above, or half of it."""
    first = np.arange(40, dtype=np.uint8).reshape(40, 1)
    up = png(filtered_row(0, first) + bytes((2,)) + bytes(40), 40, 2, 8)
    assert pixels(memoryview(up)).reshape(2, 40)[1].tolist() == list(range(40))
    paeth = png(filtered_row(0, first) + bytes((4,)) + bytes(40), 40, 2, 8)
    assert pixels(memoryview(paeth)).reshape(2, 40)[1].tolist() == list(range(40))


@pytest.mark.parametrize(
    ("filtered", "words"), [(b"\0" + bytes(9), "inflates to 10 bytes"), (b"\7" + bytes(10), "filter 7")]
)
def test_damaged_images_are_refused(filtered: bytes, words: str) -> None:
    with pytest.raises(GribError, match=words):
        pixels(memoryview(png(filtered, 10, 1, 8)))
