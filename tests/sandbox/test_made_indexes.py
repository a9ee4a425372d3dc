"""Indexes of generated files: the position of each message, in the publisher's format."""

from __future__ import annotations

import json

import pytest

from gribmill.grib.decode.field import fields
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.product.levels import level_text
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import Selection, select, wanted
from gribmill.sandbox.forecast.forecast import MadeFile
from tests.real_files import real
from tests.sandbox.making import MODELS, RUN, made

HOURS = {"hrrr": (0, 1, 2, 6, 24, 48), "gfs": (0, 1, 6, 7, 24, 123), "ifs": (0, 3, 24, 144, 150)}
# What a model's files do not have at their first hour; see sources of each.
NOT_AT_ZERO = {
    "hrrr": {"tp_bucket"},
    "gfs": {"tp", "tp_bucket", "cp", "t2m_max", "t2m_min", "prate_avg", "tcc_avg", "dswrf_avg", "dlwrf_avg"},
    "ifs": {"t2m_max", "t2m_min", "gust_max"},
}


def selection(name: str, hour: int, file: MadeFile) -> Selection:
    model = MODELS[name]
    index = parse_index(model.layouts[0].index, file.index or b"", name, RUN, len(file.grib))
    return select(index, wanted(model.variables), hour, extras=model.extras, offset_minutes=model.offset_minutes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "hour"), [(name, hour) for name, hours in HOURS.items() for hour in hours])
def test_every_wanted_variable_of_every_hour_is_selected(name: str, hour: int) -> None:
    chosen = selection(name, hour, made(name, hour, coarse=40))
    assert set(chosen.missing) == (NOT_AT_ZERO[name] if hour == 0 else set())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hrrr", "hrrr_subh.m45", "gfs", "gefs.p07", "rap", "nbm_co", "ifs", "aifs_ens.pf07"])
def test_offsets_and_words_are_those_of_the_messages(name: str) -> None:
    file = made(name, 6, coarse=40)
    entries = parse_index(MODELS[name].layouts[0].index, file.index or b"", name, RUN, len(file.grib)).entries
    found = list(fields(file.grib, name))
    assert len(entries) == len(found)
    for entry, field in zip(entries, found, strict=True):
        assert (entry.number, entry.sub, entry.offset) == (
            field.number,
            field.sub if field.subs > 1 else 0,
            field.offset,
        )
        assert entry.end == field.offset + field.length
        match = lexicon().match_keys(field.keys)
        if MODELS[name].layouts[0].index == "noaa_idx":
            assert entry.level == level_text(field.keys.level, field.keys.level2)
            named = lexicon().match_noaa(entry.element, entry.level, entry.window, entry.extra)
        else:
            named = lexicon().match_ecmwf(entry.element, *entry.level.split())
        assert (named and named.variable.name) == (match and match.variable.name)


@pytest.mark.slow
def test_time_ranges_are_written_as_wgrib2_writes_them() -> None:
    def rain(name: str, hour: int) -> list[str]:
        lines = (made(name, hour, coarse=40).index or b"").decode().splitlines()
        return [line.split(":")[5] for line in lines if ":APCP:" in line]

    assert rain("hrrr", 0) == ["0-0 day acc fcst"]
    assert rain("hrrr", 1) == ["0-1 hour acc fcst"] * 2
    assert rain("hrrr", 24) == ["0-1 day acc fcst", "23-24 hour acc fcst"]
    assert rain("gfs", 0) == []
    assert rain("gfs", 7) == ["6-7 hour acc fcst", "0-7 hour acc fcst"]
    assert rain("hrrr_subh.m15", 9) == ["480-495 min acc fcst"]
    assert rain("gefs.p07", 15) == ["12-15 hour acc fcst"]


def test_lines_are_in_the_forms_of_real_indexes() -> None:
    ours = (made("hrrr", 8, coarse=40).index or b"").decode().splitlines()
    theirs = real("idx/reformatters.2025080100.hrrr.t00z.wrfsfcf08.grib2.idx").read_text().splitlines()

    def words(lines: list[str]) -> set[str]:
        return {":".join(line.split(":")[3:]) for line in lines}

    assert words(ours) - words(theirs) <= {
        "MXUPHL:3000-0 m above ground:7-8 hour max fcst:",
        "REFD:263 K level:8 hour fcst:",
    }
    row = json.loads((made("aifs", 6, coarse=40).index or b"").splitlines()[0])
    real_row = json.loads(real("idx/reformatters.aifs_single_20250301_00z_0h.index").read_text().splitlines()[0])
    assert row.keys() - {"levelist"} == real_row.keys() - {"levelist", "number"}
    assert all(isinstance(value, str) for key, value in row.items() if not key.startswith("_"))
    assert (row["class"], row["stream"], row["type"]) == ("ai", "oper", "fc")


def test_neighbours_are_between_the_wanted_fields() -> None:
    file = made("hrrr", 6, coarse=40)
    chosen = selection("hrrr", 6, file)
    asked = sum(part.end - part.start for part in chosen.ranges if part.end is not None)
    assert len(chosen.ranges) == 41 and asked < 0.85 * len(file.grib)


def test_only_named_variables_are_generated_on_request() -> None:
    file = made("gfs", 6, only=("t2m", "u10", "v10"))
    assert sorted(selection("gfs", 6, file).found) == ["t2m", "u10", "v10"]
    assert (file.index or b"").count(b"\n") == 3
