"""The scan for messages: where they begin and end, and how damage is reported."""

from __future__ import annotations

import bz2
import gzip
import mmap
import re
from pathlib import Path

import numpy as np
import pytest

from gribmill.grib import messages
from gribmill.grib.decode.field import fields
from gribmill.grib.errors import GribError
from gribmill.grib.messages import DamagedMessage, RawMessage, map_file, scan, walk
from tests.make_grib import GRIDS, GridSpec, make_message, write

ONE = make_message(values=280.0, packing="grid_simple")
TWO = make_message(short_name="2d", packing="grid_simple")
OLD = make_message("gfs-small", packing="grid_simple", edition=1)


def test_walk_gives_number_offset_length_and_edition_of_each_message() -> None:
    found = list(walk(ONE + OLD + TWO, "f"))
    assert found == [
        RawMessage(1, 0, len(ONE), 2),
        RawMessage(2, len(ONE), len(OLD), 1),
        RawMessage(3, len(ONE) + len(OLD), len(TWO), 2),
    ]


def test_bytes_between_messages_are_skipped() -> None:
    junk = b"\0" * 18 + b"GRI WMO heading \r\r\n"
    data = junk + ONE + junk + TWO + junk
    assert [message.offset for message in walk(data, "f")] == [len(junk), 2 * len(junk) + len(ONE)]


def test_a_mapped_file_walks_like_its_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.grib2", [ONE, TWO])
    data = map_file(path)
    assert isinstance(data, mmap.mmap)
    assert list(walk(data, "f")) == list(walk(ONE + TWO, "f"))


@pytest.mark.parametrize("data", [b"", b"no such thing", b"GRI"], ids=["empty", "text", "too short"])
def test_a_file_without_messages_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(GribError, match=rf"^rain\.grib2: no GRIB message in its {len(data)} bytes$"):
        list(walk(data, "rain.grib2"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bz2.compress(ONE), "it is a bzip2 file"),
        (gzip.compress(ONE), "it is a gzip file"),
        (b"\x89HDF\r\n\x1a\n", "it is an HDF5 or NetCDF file"),
        (b"<html>", "it is a web page or an error message"),
    ],
    ids=["bzip2", "gzip", "NetCDF", "page"],
)
def test_other_file_types_are_named(data: bytes, words: str) -> None:
    with pytest.raises(GribError, match=re.escape(f"no GRIB message in its {len(data)} bytes: {words}")):
        list(fields(data, "rain.grib2"))


@pytest.mark.parametrize("keep", [5, 9, 17, 40, -1])
def test_a_truncated_tail_names_file_message_and_offset(keep: int) -> None:
    walker = walk(ONE + TWO[:keep], "rain.grib2")
    assert next(walker).number == 1
    with pytest.raises(GribError, match=rf"^rain\.grib2: message 2 at byte {len(ONE)}: .*truncated"):
        next(walker)


def test_a_message_that_does_not_end_in_7777_is_damaged_and_the_rest_is_still_found() -> None:
    broken = ONE[:-4] + b"7778"
    first, second = scan(broken + TWO)
    assert isinstance(first, DamagedMessage)
    assert "7777" in first.reason
    assert second == RawMessage(2, len(broken), len(TWO), 2)


def test_a_length_that_reaches_into_the_next_message_is_damage() -> None:
    longer = ONE[:8] + (len(ONE) + 7).to_bytes(8, "big") + ONE[16:]
    first, second = scan(longer + TWO)
    assert isinstance(first, DamagedMessage)
    assert second.offset == len(ONE)


@pytest.mark.parametrize("length", [0, 15, 40, 2**62, 2**64 - 1])
def test_impossible_message_lengths_are_refused(length: int) -> None:
    liar = ONE[:8] + length.to_bytes(8, "big") + ONE[16:]
    first, second = scan(liar + TWO)
    assert isinstance(first, DamagedMessage)
    assert str(length) in first.reason
    assert isinstance(second, RawMessage)


def test_an_unknown_edition_is_reported() -> None:
    with pytest.raises(GribError, match="message 1 at byte 0: GRIB edition 3 is not supported"):
        list(walk(ONE[:7] + b"\3" + ONE[8:], "f"))


def test_after_damage_the_letters_grib_in_packed_values_are_ignored() -> None:
    broken = ONE[:-4] + b"....GRIBvalues....GRIB"
    found = list(scan(broken + TWO))
    assert [type(message) for message in found] == [DamagedMessage, RawMessage]


def test_more_messages_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MESSAGE_LIMIT", 3)
    with pytest.raises(GribError, match="more than 3 messages"):
        list(walk(ONE * 4, "f"))


@pytest.mark.slow
@pytest.mark.parametrize(("side", "in_120s"), [(2100, False), (2950, True)], ids=["over 2^23 bytes", "over 2^24 bytes"])
def test_a_large_grib1_message_counts_its_length_in_120s(side: int, in_120s: bool) -> None:
    """The length has three octets. Its first bit is a flag, but only if the data section agrees."""
    spec = GridSpec("regular_ll", side, side, GRIDS["gfs-small"].keys, scanning=0)
    values = np.arange(float(side * side)).reshape(side, side)
    message = make_message(spec, values=values, packing="grid_simple", edition=1, keys={"ijDirectionIncrementGiven": 0})
    assert message[4] & 0x80
    assert (int.from_bytes(message[4:7], "big") != len(message)) == in_120s
    assert [(m.offset, m.length) for m in walk(message + OLD, "f")] == [(0, len(message)), (len(message), len(OLD))]
    field = next(fields(message, "f"))
    assert field.packing.step is not None
    assert np.abs(field.values() - values).max() <= field.packing.step


def test_a_missing_file_is_named() -> None:
    with pytest.raises(GribError, match=r"^nowhere\.grib2: cannot be read"):
        map_file(Path("nowhere.grib2"))
