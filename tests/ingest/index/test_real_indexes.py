"""Real index files: exact offsets, and every variable of the models found."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gribmill.identity import run_time
from gribmill.ingest.download.download_plan import RangeRequest, merge
from gribmill.ingest.errors import BadIndex, WrongRun
from gribmill.ingest.index.entry import ByteRange, Inventory
from gribmill.ingest.index.parse import guess_kind, parse_index
from gribmill.ingest.index.select import Selection, select, wanted
from gribmill.ingest.models.registry import load_models
from tests.real_files import real, real_files

MODELS = load_models()
HRRR_F08 = "reformatters.2025080100.hrrr.t00z.wrfsfcf08.grib2.idx"
REFUSED = {
    "climetlab.EU.index": "another file",
    "reformatters.s2s_control_2026-08-10T00Z.grib2.index": "line 1: the line lacks param",
    "wgrib2.2024020118.ref_rrfs.t18z.prslev.f000.grib2.inv": "line 369: a negative offset",
}


def inventory(name: str, run: str | None = None, size: int | None = None) -> Inventory:
    data = real(f"idx/{name}").read_bytes()
    return parse_index(guess_kind(data), data, name, run_time(run) if run else None, size)


def chosen(model_id: str, name: str, hour: int, run: str | None = None) -> Selection:
    model = MODELS[model_id]
    words = wanted(model.variables)
    return select(inventory(name, run), words, hour, extras=model.extras, offset_minutes=model.offset_minutes)


def place(selection: Selection, name: str) -> tuple[int, int | None]:
    entry = selection.found[name]
    return entry.offset, entry.end


def size(part: ByteRange | RangeRequest) -> int:
    """Bytes of a range whose end is known."""
    assert part.end is not None
    return part.end - part.start


def test_every_real_index_is_read_or_refused_with_its_reason() -> None:
    paths = real_files("idx/*")
    if not paths:
        pytest.skip("the collection of real files is not beside this checkout")
    for path in paths:
        data = path.read_bytes()
        if path.name in REFUSED:
            with pytest.raises(BadIndex) as caught:
                parse_index(guess_kind(data), data, path.name)
            assert REFUSED[path.name] in str(caught.value)
            continue
        entries = parse_index(guess_kind(data), data, path.name).entries
        assert len(entries) == len([line for line in data.splitlines() if line.strip()])
        offsets = sorted({entry.offset for entry in entries})
        ends = {entry.offset: entry.end for entry in entries}
        assert all((end := ends[a]) is None or end <= b for a, b in pairwise(offsets))


def test_hrrr_hour_8_has_every_variable_at_its_bytes() -> None:
    found = chosen("hrrr", HRRR_F08, 8, "20250801_00")
    assert found.missing == ()
    assert found.duplicates == {}
    assert place(found, "t2m") == (45276939, 46494566)
    assert place(found, "tp") == (61979275, 62621362)
    assert place(found, "tp_bucket") == (62669071, 63151283)
    assert place(found, "u10") == (52902118, 55283733)
    assert place(found, "v10") == (55283733, 57665348)
    assert place(found, "ws10_max") == (57665348, 58958660)
    assert place(found, "tcc") == (84324236, 85136398)
    assert place(found, "dswrf") == (94097583, 94097771)


def test_hrrr_hour_8_needs_few_requests_and_few_bytes_beyond() -> None:
    found = chosen("hrrr", HRRR_F08, 8)
    fetches = merge(found.ranges)
    needed = sum(map(size, found.ranges))
    assert len(fetches) <= len(found.ranges) // 2
    assert needed <= sum(map(size, fetches)) <= 1.1 * needed


def test_the_last_message_ends_with_the_file() -> None:
    assert inventory(HRRR_F08).entries[-1].end is None
    assert inventory(HRRR_F08, size=153_000_000).entries[-1].end == 153_000_000
    with pytest.raises(BadIndex, match=r"line 173: .*the index is stale"):
        inventory(HRRR_F08, size=151_737_378)


def test_an_index_of_yesterday_is_refused() -> None:
    with pytest.raises(WrongRun, match="of the run 2025-08-01 00 UTC, not 2025-08-01 01"):
        inventory(HRRR_F08, run="20250801_01")


def test_hrrr_hour_0_has_sums_over_no_time() -> None:
    found = chosen("hrrr", "reformatters.2025080100.hrrr.t00z.wrfsfcf00.grib2.idx", 0)
    assert found.found["tp"].window == "0-0 day acc fcst"
    assert place(found, "tp")[0] == 53171827
    assert found.missing == ("tp_bucket",)


def test_gfs_bucket_and_run_total_are_distinguished() -> None:
    found = chosen("gfs", "kerchunk.2023110400.gfs.t00z.pgrb2.0p25.f021.idx", 21, "20231104_00")
    assert found.missing == ()
    assert (found.found["tp_bucket"].window, found.found["tp"].window) == ("18-21 hour acc fcst", "0-21 hour acc fcst")
    assert found.found["tcc"].window == "21 hour fcst"
    assert found.found["tcc_avg"].window == "18-21 hour ave fcst"
    assert found.found["mslp"].element == "PRMSL"


def test_gfs_hour_0_has_no_sums_and_they_are_named_missing() -> None:
    found = chosen("gfs", "reformatters.2025080100.gfs.t00z.pgrb2.0p25.f000.idx", 0)
    assert {"tp", "tp_bucket", "dswrf_avg", "t2m_max"} <= set(found.missing)
    assert "t2m" in found.found


def test_rap_winds_share_one_message() -> None:
    found = chosen("rap", "Herbie.2023120100.rap.t00z.awp130pgrbf00.grib2.idx", 0, "20231201_00")
    assert found.missing == ()
    u, v = found.found["u10"], found.found["v10"]
    assert (u.number, u.sub, v.number, v.sub) == (211, 1, 211, 2)
    assert (u.offset, u.end) == (v.offset, v.end)
    assert found.ranges.count(ByteRange(u.offset, u.end)) == 1
    entries = inventory("Herbie.2023120100.rap.t00z.awp130pgrbf00.grib2.idx").entries
    assert sum(entry.sub > 0 for entry in entries) == 98
    assert all(entry.end is None or entry.end > entry.offset for entry in entries)


def test_gefs_members_are_read_from_the_end_of_the_line() -> None:
    name = "reformatters.2025080100.geavg.t00z.pgrb2s.0p25.f009.idx"
    assert chosen("gefs.avg", name, 9, "20250801_00").missing == ("tp",)
    assert place(chosen("gefs.avg", name, 9), "tp_bucket") == (8477249, 8704451)
    assert chosen("gefs.p01", name, 9).found == {}
    control = chosen("gefs.c00", "reformatters.2025080100.gec00.t00z.pgrb2a.0p50.f432.idx", 432)
    assert {"t2m", "u10", "mslp"} <= control.found.keys()


def test_hrrr_subh_members_take_their_own_minutes() -> None:
    name = "kerchunk.2022101403.hrrr.t03z.wrfsubhf09.grib2.idx"
    quarter = chosen("hrrr_subh.m15", name, 9, "20221014_03")
    assert quarter.missing == ()
    assert place(quarter, "u10") == (15855578, 18237193)
    assert place(quarter, "u10_avg") == (22620869, 24617314)
    assert place(quarter, "tp_bucket") == (27095522, 27538734)
    full = chosen("hrrr_subh.m00", name, 9)
    assert full.found["tp_bucket"].window == "525-540 min acc fcst"
    assert not set(quarter.ranges) & set(full.ranges)


def test_gfs_wave_partitions_are_found() -> None:
    found = chosen("gfswave", "gribberish.2023082318.gfswave.t18z.atlocn.0p16.f001.grib2.idx", 1, "20230823_18")
    assert found.missing == ()
    assert place(found, "shts_1") == (325418, 354938)
    assert place(found, "shts_2") == (354938, 379958)


def test_aifs_has_every_variable_at_its_bytes() -> None:
    found = chosen("aifs", "reformatters.aifs_single_20250301_00z_0h.index", 0, "20250301_00")
    assert found.missing == ()
    entry = found.found["z_500"]
    assert (entry.element, entry.level) == ("z", "pl 500")
    assert all(part.end is not None for part in found.ranges)


def test_offsets_of_the_index_are_those_of_the_messages() -> None:
    entries = inventory("gribberish.2023082318.gfswave.t18z.atlocn.0p16.f001.grib2.idx").entries
    data = real("noaa/gfswave.20230823.t18z.atlocn.0p16.f001.grib2").read_bytes()
    for entry in entries:
        message = data[entry.offset : entry.end]
        assert message[:4] == b"GRIB" and message[-4:] == b"7777"
        assert int.from_bytes(message[8:16], "big") == len(message)


def test_nbm_hour_12_has_sums_of_one_hour_and_of_six() -> None:
    found = chosen("nbm_co", "bhar.2026080512.blend.core.f012.co.excerpt.idx", 12, "20260805_12")
    numbers = {name: entry.number for name, entry in found.found.items()}
    assert {name: numbers[name] for name in ("tp_bucket", "tp_6h", "asnow_bucket", "asnow_6h")} == {
        "tp_bucket": 99, "tp_6h": 100, "asnow_bucket": 135, "asnow_6h": 159,
    }  # fmt: skip
    assert numbers["t2m_max"] == 70
