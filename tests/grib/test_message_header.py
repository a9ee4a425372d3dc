"""Headers read without values equal those of decoded fields, and damage is refused."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gribmill.grib.decode.field import read_fields
from gribmill.grib.errors import GribError
from gribmill.grib.messages import MessageHeader, read_header, read_headers, supported_grids
from gribmill.ingest.download.without_index import scan_headers
from gribmill.sandbox.grib_writer.sections import multi_field
from tests.ingest.small_grib import FIELDS, RUN, message, usual_file
from tests.make_grib import make_message, write
from tests.real_files import real

REAL = [
    "noaa/hrrr.20201214.t00z.wrfsfcf12.APCP-0-12h+11-12h.grib2",
    "noaa/hrrr.20221014.t01z.wrfsubh.REFC+VBDSF-15min.grib2",
    "adversarial/gfs.20111008.2p50.f072.MULTIFIELD-344.grib2",
    "adversarial/wrfprs_nam.20170719.MULTIFIELD-u-v.grib2",
    "adversarial/ecmwf.second-order.grib1",
    "adversarial/ncep.20130614.lambert.grib1",
    "ecmwf/ens.20131025.00z.78h.z850.51members.grib1",
    "ecmwf/ifs.20260310.00z.oper.0p25.0h.surface.grib2",
    "ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2",
    "ecmwf/ifs-enfo-em.20240101.00z.3-6h.grib1",
    "ecmwf/ifs-mars.20240220.00z.multiarea.grib1+2",
]


def _read(data: bytes, offset: int = 0) -> MessageHeader:
    return read_header(data, offset, 1)


@pytest.mark.parametrize("name", REAL)
def test_headers_of_real_messages_are_those_of_their_fields(name: str) -> None:
    path = real(name)
    headers = {header.offset: header for header in scan_headers(path.read_bytes(), name, 10_000)}
    found = 0
    for field in read_fields(path):
        header = headers[field.offset]
        mine = header.fields[field.sub - 1]
        assert (header.message.number, header.length, header.message.edition) == (
            field.number, field.length, field.edition,
        )  # fmt: skip
        assert (mine.keys, mine.grid_section) == (field.keys, field.sections.grid)
        found += 1
    assert found == sum(len(header.fields) for header in headers.values())


@pytest.mark.parametrize("edition", [1, 2])
def test_made_messages_have_their_time(edition: int) -> None:
    reference = datetime(2026, 9, 1, 6, tzinfo=UTC)
    header = _read(make_message("gfs-small", "2t", reference=reference, step=9, edition=edition, packing="grid_simple"))
    assert header.message.edition == edition
    assert [(field.keys.reference, field.keys.end) for field in header.fields] == [(reference, timedelta(hours=9))]
    assert [grid.shape for grid in supported_grids([header])] == [(73, 144)]


def test_a_file_is_read_message_by_message(tmp_path: Path) -> None:
    one, other = make_message("gfs-small", "2t"), make_message("hrrr-small", "2t")
    path = write(tmp_path / "two.grib2", [one, other, one])
    headers = list(read_headers(path))
    assert [(header.message.number, header.length) for header in headers] == [
        (1, len(one)), (2, len(other)), (3, len(one)),
    ]  # fmt: skip
    assert {grid.shape for grid in supported_grids(headers)} == {(73, 144), (60, 90)}
    path.write_bytes(one + other[:16] + b"\0" * 5 + other[21:])
    with pytest.raises(GribError, match=rf"two\.grib2: message 2 at byte {len(one)}: section 0 may not follow"):
        list(read_headers(path))


def test_grids_that_are_not_supported_are_left_out() -> None:
    unknown = make_message("gfs-small", "2t").replace(b"\0\0\0H\3\0", b"\0\0\0H\3\1", 1)
    header = _read(unknown[: 16 + 21 + 13] + b"\x63" + unknown[16 + 21 + 14 :])
    assert supported_grids([header]) == set()


def test_windows_end_where_they_end_and_submessages_are_counted() -> None:
    total = make_message("hrrr-small", "tp", 1.0, window=(6, 12))
    assert _read(total).fields[0].keys.end == timedelta(hours=12)
    pair = multi_field([make_message("hrrr-small", "10u"), make_message("hrrr-small", "10v")])
    assert [field.keys.parameter for field in _read(pair).fields] == [(0, 2, 2), (0, 2, 3)]


def test_means_of_many_forecasts_are_as_far_ahead_as_each_of_them() -> None:
    old = bytearray(make_message("gfs-small", "2t", packing="grid_simple", edition=1))
    old[8 + 17 : 8 + 21] = bytes((1, 6, 12, 113))
    assert _read(bytes(old)).fields[0].keys.end == timedelta(hours=6)


def test_damage_is_refused() -> None:
    good = message(FIELDS["tp"], b"x" * 100)
    assert _read(good).length == len(good)
    for bad in (b"", good[:10], good[:-1], b"GRIX" + good[4:], good[:-4] + b"7776", good[:7] + b"\3" + good[8:]):
        with pytest.raises(GribError):
            _read(bad)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_damage_to_the_skeleton_passes_and_none_crashes(data: st.DataObject) -> None:
    good = message(FIELDS["tp"], b"p" * 50, member=data.draw(st.sampled_from([None, 7])))
    at = data.draw(st.integers(0, len(good) - 1))
    bad = good[:at] + bytes([good[at] ^ data.draw(st.integers(1, 255))]) + good[at + 1 :]
    skeleton = [0, 1, 2, 3, 7, *range(8, 16), *range(len(good) - 4, len(good))]
    place = 16
    while place < len(good) - 4:
        skeleton += range(place, place + 5)
        place += int.from_bytes(good[place : place + 4], "big")
    if at in skeleton:
        with pytest.raises(GribError):
            _read(bad)
    else:
        with contextlib.suppress(GribError):
            assert _read(bad).length == len(good)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"GRIB\0\0\0\1", b"GRIB\0\0\0\2", b""]))
def test_random_bytes_are_refused_without_a_crash(data: bytes, start: bytes) -> None:
    with pytest.raises(GribError):
        _read(start + data)


def test_bytes_between_messages_are_skipped_but_not_too_many() -> None:
    file = usual_file(size=10)
    first, second = file.messages[:2]
    padded = b"\n" * 30 + first + bytes(100) + second + bytes(50)
    headers = list(scan_headers(padded, "f", 10))
    assert [header.offset for header in headers] == [30, 130 + len(first)]
    with pytest.raises(GribError, match=f"^f: no message follows at byte {len(first)}, but the file has"):
        list(scan_headers(first + bytes(5000), "f", 10))
    with pytest.raises(GribError, match=r"^f: more than 3 messages"):
        list(scan_headers(file.data, "f", 3))
    assert headers[0].fields[0].keys.reference == RUN
