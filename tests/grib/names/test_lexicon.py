"""One name per quantity, from index lines, ECMWF params and GRIB keys."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gribmill.grib.decode.field import fields, read_fields
from gribmill.grib.names.array_name import array_name
from gribmill.grib.names.lexicon import lexicon, unique_names
from gribmill.grib.product.levels import level_text
from tests.grib.names.lexicon_lookup import from_ecmwf, from_keys, from_noaa
from tests.make_grib import make_message
from tests.real_files import real, real_files

GFS_INDEX = "idx/kerchunk.2022101406.gfs.t06z.pgrb2.0p25.f021.idx"
GFS_FILE = "noaa/gfs.20221107.t00z.pgrb2.1p00.f024.FULL.grib2"


def index_lines(path: Path) -> list[list[str]]:
    lines = path.read_text().splitlines()
    return [[*line.split(":"), ""][3:7] for line in lines if line.count(":") >= 5]


def name(variable: Any) -> str | None:
    return variable.name if variable else None


def only_keys(*args: Any, **options: Any) -> Any:
    (field,) = fields(make_message(*args, packing="grid_simple", **options), "f")
    return field.keys


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("TMP:2 m above ground:8 hour fcst", "t2m"),
        ("APTMP:2 m above ground:8 hour fcst", "aptmp"),
        ("TMP:2 mb:8 hour fcst", "t_2"),
        ("TMP:surface:anl", "skt"),
        ("APCP:surface:0-8 hour acc fcst", "tp"),
        ("APCP:surface:7-8 hour acc fcst", "tp_bucket"),
        ("APCP:surface:0-1 day acc fcst", "tp"),
        ("APCP:surface:0-0 day acc fcst", "tp"),
        ("APCP:surface:480-495 min acc fcst", "tp_bucket"),
        ("APCP:surface:8 hour fcst", None),
        ("APCP:surface:12-15 hour acc fcst:ENS=+1", "tp_bucket"),
        ("APCP:surface:6-9 hour acc fcst:ens mean", "tp_bucket"),
        ("APCP:surface:12-24 hour acc fcst:prob >0.254:prob fcst 255/255", None),
        ("TMP:2 m above ground:1 hour fcst:ens std dev", None),
        ("TMP:2 m above ground:6-18 hour max fcst:50% level", None),
        ("UGRD:10 m above ground:495 min fcst", "u10"),
        ("UGRD:10 m above ground:490-495 min ave fcst", "u10_avg"),
        ("PRMSL:mean sea level:6 hour fcst", "mslp"),
        ("MSLMA:mean sea level:6 hour fcst", "mslp"),
        ("MSLET:mean sea level:6 hour fcst", "mslp"),
        ("DSWRF:surface:6 hour fcst", "dswrf"),
        ("DSWRF:surface:0-6 hour ave fcst", "dswrf_avg"),
        ("TCDC:entire atmosphere:6 hour fcst", "tcc"),
        ("TCDC:surface:6 hour fcst", "tcc"),
        ("TCDC:low cloud layer:6 hour fcst", "lcc"),
        ("TCDC:boundary layer cloud layer:6 hour fcst", "tcc_blc"),
        ("LCDC:low cloud layer:0-6 hour ave fcst", "lcc_avg"),
        ("HGT:surface:anl", "orog"),
        ("HGT:cloud ceiling:6 hour fcst", "ceil_msl"),
        ("HGT:500 mb:6 hour fcst", "gh_500"),
        ("TMP:0.4 mb:6 hour fcst", "t_0p4"),
        ("TSOIL:0-0.1 m below ground:6 hour fcst", "tsoil_0_10cm"),
        ("SOILW:0.3-0.3 m below ground:6 hour fcst", "soilw_30cm"),
        ("SWELL:1 in sequence:1 hour fcst", "shts_1"),
        ("WEASD:surface:6 hour fcst", "weasd"),
        ("WEASD:surface:0-6 hour acc fcst", "sf"),
        ("CSNOW:surface:6 hour fcst", "csnow"),
        ("TMAX:2 m above ground:0-6 hour max fcst", "t2m_max"),
        ("WIND:10 m above ground:7-8 hour max fcst", "ws10_max"),
        ("CAPE:surface:6 hour fcst", "cape"),
        ("CAPE:255-0 mb above ground:6 hour fcst", "mucape"),
        ("var discipline=0 center=7 local_table=1 parmcat=3 parm=198:mean sea level:6 hour fcst", "mslp"),
        ("var discipline=0 center=7 local_table=1 parmcat=16 parm=201:entire atmosphere:24 hour fcst", None),
        ("TMP Temperature [K]:2 m above ground:3 hour fcst:ens mean", "t2m"),
    ],
)
def test_noaa_index_lines(line: str, wanted: str | None) -> None:
    element, level, window, *extra = line.split(":")
    assert name(from_noaa(element, level, window, ":".join(extra))) == wanted


@pytest.mark.parametrize(
    ("param", "levtype", "level", "wanted"),
    [
        ("2t", "sfc", None, "t2m"),
        ("2d", "sfc", None, "d2m"),
        ("10u", "sfc", None, "u10"),
        ("msl", "sfc", None, "mslp"),
        ("tp", "sfc", None, "tp"),
        ("10fg", "sfc", None, "gust_max"),
        ("10fg3", "sfc", None, "gust_max"),
        ("ssrd", "sfc", None, "ssrd"),
        ("mx2t3", "sfc", None, "t2m_max"),
        ("mn2t6", "sfc", None, "t2m_min"),
        ("t", "pl", "850", "t_850"),
        ("gh", "pl", 500, "gh_500"),
        ("r", "pl", "700", "rh_700"),
        ("w", "pl", 700, "w_700"),
        ("vo", "pl", 500, "vo_500"),
        ("z", "pl", "500", "z_500"),
        ("z", "sfc", None, "z"),
        ("sot", "sol", "1", "sot_1"),
        ("vsw", "sol", "4", "vsw_4"),
        ("swh", "sfc", None, "swh"),
        ("sdor", "sfc", None, "sdor"),
        ("t", "sfc", None, None),
        ("t", "pl", None, None),
        ("2t", "pl", "2", None),
    ],
)
def test_ecmwf_params(param: str, levtype: str, level: Any, wanted: str | None) -> None:
    assert name(from_ecmwf(param, levtype, level)) == wanted


def test_a_real_gfs_file_and_a_real_gfs_index_name_all_743_messages_alike() -> None:
    """Both hold the same fields in the same order, a month apart."""
    lines = index_lines(real(GFS_INDEX))
    found = list(read_fields(real(GFS_FILE)))
    assert len(lines) == len(found) == 743
    for line, field in zip(lines, found, strict=True):
        assert level_text(field.keys.level, field.keys.level2) == line[1]
        assert name(from_keys(field.keys)) == name(from_noaa(*line)), line
    assert sum(from_keys(field.keys) is not None for field in found) > 600


@pytest.mark.parametrize(
    ("index", "grib"),
    [
        (
            "idx/gribberish.2023082318.gfswave.t18z.atlocn.0p16.f001.grib2.idx",
            "noaa/gfswave.20230823.t18z.atlocn.0p16.f001.grib2",
        ),
        (
            "idx/NCEPLIBS-g2c.2021113000.gdaswave.t00z.wcoast.0p16.f000.grib2.idx",
            "noaa/gdaswave.20211130.t00z.wcoast.0p16.f000.grib2",
        ),
    ],
)
def test_wave_files_are_named_as_their_own_indexes_name_them(index: str, grib: str) -> None:
    lines, found = index_lines(real(index)), list(read_fields(real(grib)))
    by_line, by_keys = [name(from_noaa(*line)) for line in lines], [name(from_keys(field.keys)) for field in found]
    assert by_line == by_keys
    assert None not in by_keys
    assert len(set(by_keys)) == 19


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        (
            "idx/*hrrr.t*wrfsfcf*.idx",
            "t2m d2m rh2m q2m u10 v10 u80 v80 gust mslp sp tp prate refc tcc lcc mcc hcc vis ceil_msl cape cin "
            "mlcape mucape snod weasd asnow crain csnow cfrzr cicep dswrf dlwrf pwat hpbl lsm orog skt icec "
            "ltng t_500 t_850 u_250 gh_500 td_850 hlcy_3km",
        ),
        (
            "idx/*gfs.t*f021.idx",
            "t2m d2m rh2m q2m aptmp u10 v10 u80 v80 u100 v100 gust mslp sp tp tp_bucket prate prate_avg refc "
            "tcc tcc_avg lcc mcc hcc vis ceil_msl cape cin snod weasd crain csnow dswrf_avg dlwrf_avg pwat hpbl "
            "lsm orog skt icec tsoil_0_10cm soilw_100_200cm t_850 rh_700 w_700 gh_500 absv_500 t2m_max "
            "t2m_min",
        ),
        ("idx/*geavg*f009.idx", "t2m tp_bucket mslp u10 v10 tcc_avg dswrf_avg cape pwat"),
        (
            "idx/*rap*.idx",
            "t2m d2m rh2m u10 v10 u80 v80 gust mslp sp refc tcc vis ceil_msl cape cin snod pwat hpbl t_850 gh_500",
        ),
        (
            "idx/*rrfs*.inv",
            "t2m d2m u10 v10 gust mslp sp tp refc tcc vis ceil_msl cape pwat hpbl tsoil_30cm t_850 gh_500",
        ),
        ("idx/*wave*.idx", "swh perpw dirpw shww mdww mpww shts_1 mdts_2 mpts_3"),
    ],
)
def test_real_indexes_hold_what_their_models_are_known_for(pattern: str, wanted: str) -> None:
    paths = real_files(pattern)
    if not paths:
        pytest.skip("the collection of real files is not beside this checkout")
    found = {name(from_noaa(*line)) for path in paths for line in index_lines(path)}
    assert set(wanted.split()) <= found


def test_a_real_aifs_index_is_known_in_full() -> None:
    entries = [json.loads(line) for line in real("idx/reformatters.aifs_single_20250301_00z_0h.index").open()]
    names = {
        (e["param"], e.get("levelist")): name(from_ecmwf(e["param"], e["levtype"], e.get("levelist"))) for e in entries
    }
    assert all(names.values())
    known = [found for found in names.values() if found]
    assert len(known) == len(set(known))


def test_no_two_lexicon_rows_match_the_same_message() -> None:
    claims = Counter[Any]()
    for row in lexicon().rows.values():
        when = (row.statistic, row.window)
        if row.beside:
            continue
        claims.update(("noaa", *key, *when) for key in product(row.noaa, row.levels))
        claims.update(
            ("grib2", s.parameter, s.centre, s.processes, level, *when) for s in row.grib2 for level in row.levels
        )
        claims.update(("ecmwf", param, row.is_family and row.levels) for param in row.ecmwf)
        claims.update(("grib1", s.parameter, s.centre, row.levels, *when) for s in row.grib1)
    assert [claim for claim, count in claims.items() if count > 1] == []


def test_every_lexicon_row_is_complete() -> None:
    for row in lexicon().rows.values():
        assert row.range[0] < row.range[1], row.name
        assert row.levels, row.name
        assert row.noaa or row.ecmwf, row.name
        assert row.grib2, row.name
        assert (row.statistic == "accum") == (row.window is not None), row.name
        assert row.is_family or not any("{}" in level for level in row.levels), row.name


@pytest.mark.parametrize(
    "wanted", ["t2m", "t_850", "t_0p4", "tsoil_0_10cm", "tsoil_30cm", "shts_1", "sot_2", "tp_bucket"]
)
def test_get_finds_rows_and_members_of_families(wanted: str) -> None:
    variable = lexicon().get(wanted)
    assert variable is not None
    assert variable.name == wanted
    assert not variable.is_family


@pytest.mark.parametrize("unknown", ["t_{}", "t_", "t_850_3", "nope", "tsoil_", "t_1e5", "", "t2m_"])
def test_get_returns_none_for_other_names(unknown: str) -> None:
    assert lexicon().get(unknown) is None


@pytest.mark.parametrize(
    ("grid", "short_name", "options", "wanted", "units"),
    [
        ("hrrr-small", "tp", {"window": (0, 6)}, "tp", "kg m-2"),
        ("hrrr-small", "tp", {"window": (5, 6)}, "tp_bucket", "kg m-2"),
        ("ecmwf-small", "tp", {"window": (0, 6)}, "tp", "m"),
        ("ecmwf-small", "tp", {"window": (0, 6), "keys": {"paramId": 228228}}, "tp", "kg m-2"),
        ("ecmwf-small", "tcc", {"keys": {"paramId": 164}}, "tcc", "1"),
        ("ecmwf-small", "lcc", {"keys": {"paramId": 3073}}, "lcc", "%"),
        ("ecmwf-small", "lcc", {}, "lcc", "1"),
        ("ecmwf-small", "10fg", {"window": (3, 6), "statistic": "max"}, "gust_max", "m s-1"),
        ("ecmwf-small", "sd", {}, "weasd", "m"),
        ("ecmwf-small", "2t", {"edition": 1}, "t2m", "K"),
        ("ecmwf-small", "tp", {"edition": 1}, "tp", "m"),
        ("gfs-small", "2t", {"edition": 1}, "t2m", "K"),
        ("hrrr-small", "mslma", {}, "mslp", "Pa"),
    ],
)
def test_messages_and_the_unit_each_source_packs(
    grid: str, short_name: str, options: Any, wanted: str, units: str
) -> None:
    match = lexicon().match_keys(only_keys(grid, short_name, 1.0, **options))
    assert match is not None
    assert (match.variable.name, match.units) == (wanted, units)


def test_choose_gives_the_best_source_and_calls_the_second_of_two_sums_the_bucket() -> None:
    lines = [
        ("MSLET", "mean sea level", "6 hour fcst"), ("APCP", "surface", "0-6 hour acc fcst"),
        ("PRMSL", "mean sea level", "6 hour fcst"), ("APCP", "surface", "0-6 hour acc fcst"),
        ("TMP", "2 m above ground", "6 hour fcst"), ("TMP", "2 m above ground", "6 hour fcst"),
        ("NOSUCH", "surface", "6 hour fcst"),
    ]  # fmt: skip
    names = unique_names([lexicon().match_noaa(*line) for line in lines])
    assert names == [None, "tp", "mslp", "tp_bucket", "t2m", None, None]


def test_a_bucket_with_its_own_window_keeps_its_name() -> None:
    windows = ["0-12 hour acc fcst", "6-12 hour acc fcst"]
    matches = [lexicon().match_noaa("APCP", "surface", window) for window in reversed(windows)]
    assert unique_names(matches) == ["tp_bucket", "tp"]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("noaa/gefs.20210416.t00z.0p50.f006.spr.TMP-2m.grib2", ["t2m_sd"]),
        ("noaa/gefs.20210416.t00z.0p50.f006.avg.TMP-2m.grib2", ["t2m"]),
        (
            "noaa/nbm.20260616.t12z.f001.ASNOW-prob-thresholds.grib2",
            ["asnow_prob_gt_0p00254", "asnow_prob_gt_0p0127", "asnow_prob_gt_0p0254"],
        ),
        ("noaa/hrrr.20260301.t00z.wrfprsf00.template4.8.grib2", ["uvv_max"]),
        ("noaa/hrrr.20201214.t00z.wrfsfcf12.APCP-0-12h+11-12h.grib2", ["tp", "tp_bucket"]),
        (
            "ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2",
            ["swh_10_12s", "swh_12_14s", "wmb", "swh"],
        ),
        ("ecmwf/ens.20131025.00z.78h.z850.51members.grib1", ["z_850"] * 51),
    ],
)
def test_any_field_has_a_name(path: str, wanted: list[str]) -> None:
    assert [array_name(field.keys) for field in read_fields(real(path))] == wanted


def test_spreads_chances_and_parts_are_not_the_quantity_itself() -> None:
    for path in (
        "noaa/gefs.20210416.t00z.0p50.f006.spr.TMP-2m.grib2",
        "noaa/nbm.20260616.t12z.f001.PWAT-prob-above.grib2",
        "ecmwf/ifs-enfo-es.20240101.00z.3-6h.grib1",
    ):
        assert {name(from_keys(field.keys)) for field in read_fields(real(path))} == {None}
    wave = next(read_fields(real("ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2")))
    assert from_keys(wave.keys) is None


@pytest.mark.parametrize(("number", "wanted"), [(4, "t2m_max"), (5, "t2m_min")])
def test_a_highest_temperature_has_its_name_where_its_statistic_is_missing(number: int, wanted: str) -> None:
    untold = {"parameterNumber": number, "typeOfStatisticalProcessing": 255}
    assert name(from_keys(only_keys(short_name="2t", window=(0, 6), keys=untold))) == wanted


@pytest.mark.parametrize(("number", "wanted"), [(15, "t2m_max"), (16, "t2m_min")])
def test_a_highest_temperature_of_grib1_has_its_name(number: int, wanted: str) -> None:
    keys = {
        "table2Version": 2, "indicatorOfParameter": number, "indicatorOfTypeOfLevel": 105, "level": 2,
        "timeRangeIndicator": 2, "P1": 0, "P2": 6,
    }  # fmt: skip
    assert name(from_keys(only_keys("rrfs-na-small", "u", edition=1, keys=keys))) == wanted
