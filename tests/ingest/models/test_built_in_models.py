"""The built-in models: every key can be parsed back, and layouts change when the publishers changed them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gribmill.identity import run_time
from gribmill.ingest.errors import ModelError
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import find_key, load_models, models_named
from gribmill.pipeline.model_check import check_model
from gribmill.regions.grids.spec import named_grids

MODELS = load_models()
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)
# Members of a family differ in a word or two, so the first and the last represent all.
SOME = sorted({group[place].id for family in {m.family for m in MODELS.values()} for place in (0, -1) for group in [
    [m for m in MODELS.values() if m.family == family]]})  # fmt: skip


def key(model_id: str, run: str, hour: int, mirror: int = 0) -> str:
    source = MODELS[model_id].urls(run_time(run), hour)[mirror]
    return source.grib_url.removeprefix(source.mirror.root)


def hours(model_id: str, run: str) -> tuple[int, ...]:
    return MODELS[model_id].hours(run_time(run))


def test_every_required_family_exists() -> None:
    assert {model.family for model in MODELS.values()} == {
        "hrrr", "hrrr_prs", "hrrr_subh", "hrrrak", "gfs", "gfswave", "gefs", "gefs_0p50", "rap", "nam", "namnest",
        "nbm_co", "nbm_ak", "nbm_hi", "nbm_pr", "rrfs_conus", "rrfs_ak", "rrfs_hi", "rrfs_pr",
        "ifs", "ifs_wave", "ifs_enfo", "aifs", "aifs_ens",
    }  # fmt: skip
    assert {f"gefs.{m}" for m in ("c00", "p01", "p30", "avg", "spr")} <= set(MODELS)
    assert len(models_named(MODELS, "gefs")) == 33
    assert len(models_named(MODELS, "ifs_enfo")) == len(models_named(MODELS, "aifs_ens")) == 51


@pytest.mark.slow
@pytest.mark.parametrize("model_id", SOME)
def test_keys_read_back_and_variables_are_found_at_every_cycle_hour_and_layout(model_id: str) -> None:
    findings = check_model(MODELS[model_id], NOW)
    assert findings.problems == []
    assert findings.keys >= 100
    assert findings.found == set(MODELS[model_id].variables)


def test_a_mirror_has_one_root_in_all_models_and_grids_have_names() -> None:
    roots: dict[str, set[str]] = {}
    for model in MODELS.values():
        for mirror in model.mirrors:
            roots.setdefault(mirror.name, set()).add(mirror.root)
    assert all(len(found) == 1 for found in roots.values())
    assert all(root.startswith("https://") for found in roots.values() for root in found)
    assert {model.grid for model in MODELS.values()} <= {grid.name for grid in named_grids()}


@pytest.mark.parametrize(
    ("model_id", "run", "hour", "expected"),
    [
        ("hrrr", "20260901_00", 48, "hrrr.20260901/conus/hrrr.t00z.wrfsfcf48.grib2"),
        ("hrrrak", "20260901_03", 1, "hrrr.20260901/alaska/hrrr.t03z.wrfsfcf01.ak.grib2"),
        ("gfs", "20210323_00", 120, "gfs.20210323/00/atmos/gfs.t00z.pgrb2.0p25.f120"),
        ("gfs", "20210322_18", 120, "gfs.20210322/18/gfs.t18z.pgrb2.0p25.f120"),
        ("gfswave", "20260901_06", 3, "gfs.20260901/06/wave/gridded/gfswave.t06z.global.0p25.f003.grib2"),
        ("gefs.p01", "20260901_00", 3, "gefs.20260901/00/atmos/pgrb2sp25/gep01.t00z.pgrb2s.0p25.f003"),
        ("gefs.spr", "20260901_00", 3, "gefs.20260901/00/atmos/pgrb2sp25/gespr.t00z.pgrb2s.0p25.f003"),
        ("gefs_0p50.p30", "20260901_18", 384, "gefs.20260901/18/atmos/pgrb2ap5/gep30.t18z.pgrb2a.0p50.f384"),
        ("rap", "20260901_03", 51, "rap.20260901/rap.t03z.awp130pgrbf51.grib2"),
        ("nam", "20261014_06", 84, "nam.20261014/nam.t06z.awphys84.tm00.grib2"),
        ("namnest", "20261014_06", 60, "nam.20261014/nam.t06z.conusnest.hiresf60.tm00.grib2"),
        ("nbm_pr", "20260901_07", 1, "blend.20260901/07/core/blend.t07z.core.f001.pr.grib2"),
        ("rrfs_conus", "20261101_06", 84, "rrfs.20261101/06/rrfs.t06z.2dfld.3km.f084.conus.grib2"),
        ("rrfs_hi", "20261101_03", 18, "rrfs.20261101/03/rrfs.t03z.2dfld.2p5km.f018.hi.grib2"),
        ("ifs", "20240131_12", 0, "20240131/12z/0p4-beta/oper/20240131120000-0h-oper-fc.grib2"),
        ("ifs", "20240201_00", 0, "20240201/00z/0p25/oper/20240201000000-0h-oper-fc.grib2"),
        ("ifs", "20240227_18", 0, "20240227/18z/0p25/scda/20240227180000-0h-scda-fc.grib2"),
        ("ifs", "20240228_00", 0, "20240228/00z/0p25/oper/20240228000000-0h-oper-fc.grib2"),
        ("ifs_wave", "20240201_06", 0, "20240201/06z/0p25/scwv/20240201060000-0h-scwv-fc.grib2"),
        ("ifs_enfo.pf01", "20240131_00", 3, "20240131/00z/0p4-beta/enfo/20240131000000-3h-enfo-ef.grib2"),
        ("ifs_enfo.pf01", "20240201_00", 3, "20240201/00z/0p25/enfo/20240201000000-3h-enfo-ef.grib2"),
        ("ifs", "20240228_06", 0, "20240228/06z/ifs/0p25/scda/20240228060000-0h-scda-fc.grib2"),
        ("ifs", "20240228_12", 0, "20240228/12z/ifs/0p25/oper/20240228120000-0h-oper-fc.grib2"),
        ("ifs", "20260511_18", 0, "20260511/18z/ifs/0p25/scda/20260511180000-0h-scda-fc.grib2"),
        ("ifs", "20260512_06", 0, "20260512/06z/ifs/0p25/oper/20260512060000-0h-oper-fc.grib2"),
        ("ifs_wave", "20260511_18", 9, "20260511/18z/ifs/0p25/scwv/20260511180000-9h-scwv-fc.grib2"),
        ("ifs_wave", "20260512_18", 9, "20260512/18z/ifs/0p25/wave/20260512180000-9h-wave-fc.grib2"),
        ("ifs_enfo.pf01", "20260511_06", 9, "20260511/06z/ifs/0p25/enfo/20260511060000-9h-enfo-ef.grib2"),
        ("aifs", "20250224_00", 6, "20250224/00z/aifs/0p25/oper/20250224000000-6h-oper-fc.grib2"),
        ("aifs", "20250224_06", 6, "20250224/06z/aifs-single/0p25/experimental/oper/20250224060000-6h-oper-fc.grib2"),
        ("aifs", "20250225_06", 6, "20250225/06z/aifs-single/0p25/oper/20250225060000-6h-oper-fc.grib2"),
        ("aifs_ens.cf", "20260901_00", 6, "20260901/00z/aifs-ens/0p25/enfo/20260901000000-6h-enfo-cf.grib2"),
        ("aifs_ens.pf50", "20260901_00", 6, "20260901/00z/aifs-ens/0p25/enfo/20260901000000-6h-enfo-pf.grib2"),
    ],
)
def test_file_keys_match_the_publishers_layout_at_the_time(model_id: str, run: str, hour: int, expected: str) -> None:
    assert key(model_id, run, hour) == expected
    assert MODELS[model_id].parse_key(expected) == (run_time(run), hour)


@pytest.mark.parametrize(
    ("model_id", "run", "first", "last", "count"),
    [
        ("hrrr", "20260901_00", 0, 48, 49),
        ("hrrr", "20260901_01", 0, 18, 19),
        ("hrrr", "20201202_06", 0, 36, 37),
        ("hrrr", "20201202_12", 0, 48, 49),
        ("hrrr", "20150101_00", 0, 15, 16),
        ("hrrr_subh.m00", "20260901_00", 0, 18, 19),
        ("hrrr_subh.m15", "20260901_00", 1, 18, 18),
        ("gfs", "20260901_06", 0, 384, 209),
        ("gefs.c00", "20260901_06", 0, 240, 81),
        ("gefs_0p50.c00", "20260901_06", 0, 384, 105),
        ("rap", "20260901_03", 0, 51, 52),
        ("rap", "20260901_04", 0, 21, 22),
        ("nbm_co", "20260901_04", 1, 264, 264),
        ("rrfs_ak", "20261101_00", 0, 84, 85),
        ("rrfs_ak", "20261101_03", 0, 18, 19),
        ("ifs", "20241112_00", 0, 240, 65),
        ("ifs", "20241112_06", 0, 144, 49),
        ("ifs", "20241112_12", 0, 360, 85),
        ("ifs", "20241111_18", 0, 90, 31),
        ("aifs", "20260901_18", 0, 360, 61),
    ],
)
def test_hours_are_those_of_the_cycle_and_the_time(model_id: str, run: str, first: int, last: int, count: int) -> None:
    found = hours(model_id, run)
    assert (found[0], found[-1], len(found)) == (first, last, count)


@pytest.mark.parametrize(
    ("model_id", "run"),
    [
        ("nam", "20261014_12"),
        ("rrfs_conus", "20260812_18"),
        ("rrfs_conus", "20261101_01"),
        ("gfs", "20260901_03"),
        ("hrrrak", "20260901_01"),
        ("ifs_enfo.cf", "20260512_06"),
        ("gfs", "20190101_00"),
    ],
)
def test_runs_that_do_not_exist_have_no_hours_and_no_addresses(model_id: str, run: str) -> None:
    assert hours(model_id, run) == ()
    with pytest.raises(ModelError, match=f"{model_id} has no hour 0 in its run {run}"):
        MODELS[model_id].urls(run_time(run), 0)


def test_the_first_run_of_rrfs_is_that_of_21_utc() -> None:
    assert hours("rrfs_conus", "20260812_21") == tuple(range(19))


def test_titles_name_the_area_of_the_files() -> None:
    assert {name: MODELS[name].title for name in ("nam", "rap")} == {
        "nam": "NAM, contiguous US, 12 km",
        "rap": "RAP, contiguous US, 13 km",
    }


def test_gefs_is_not_late_before_others_see_it_and_not_expected_much_later() -> None:
    run = run_time("20260901_00")
    first, last = (MODELS["gefs.p01"].expected_at(run, hour) for hour in (0, 240))
    assert first.usual - run == timedelta(minutes=226)
    assert timedelta(minutes=330) <= last.usual - run <= timedelta(minutes=339) < last.late - run


def test_hours_of_the_national_blend_are_only_known_from_the_listing() -> None:
    assert MODELS["nbm_co"].discovers(NOW.replace(minute=0))
    assert not MODELS["hrrr"].discovers(NOW.replace(minute=0))


def test_indexes_are_beside_their_files() -> None:
    run = run_time("20260901_00")
    assert MODELS["gfs"].urls(run, 3)[0].index_url == MODELS["gfs"].urls(run, 3)[0].grib_url + ".idx"
    source = MODELS["ifs"].urls(run, 3)[0]
    assert source.index_url == source.grib_url.removesuffix(".grib2") + ".index"


def test_mirrors_come_in_the_order_of_preference_and_only_while_they_keep_the_model() -> None:
    names = [source.mirror.name for source in MODELS["hrrr"].urls(run_time("20260901_00"), 0)]
    assert names == ["aws-hrrr", "gcs-hrrr", "nomads-hrrr"]
    before = [source.mirror.name for source in MODELS["rrfs_pr"].urls(run_time("20261014_06"), 0)]
    since = [source.mirror.name for source in MODELS["rrfs_pr"].urls(run_time("20261014_12"), 0)]
    assert (before, since) == (["aws-rrfs"], ["aws-rrfs", "nomads-rrfs"])
    nomads = MODELS["rrfs_pr"].mirrors[1]
    assert MODELS["rrfs_pr"].list_prefix(run_time("20261014_06"), nomads) is None
    assert MODELS["rrfs_pr"].list_prefix(run_time("20261014_12"), nomads) == "rrfs.20261014/12/rrfs.t12z.2dfld.2p5km.f"


@pytest.mark.parametrize(
    "name",
    [
        "hrrr.20260901/conus/hrrr.t01z.wrfsfcf19.grib2",
        "hrrr.20260901/conus/hrrr.t00z.wrfsfcf49.grib2",
        "hrrr.20260901/conus/hrrr.t00z.wrfprsf00.grib2",
        "hrrr.20260901/conus/hrrr.t00z.wrfsfcf00.grib2.idx",
        "hrrr.20130901/conus/hrrr.t00z.wrfsfcf00.grib2",
    ],
)
def test_keys_of_other_files_hours_and_times_are_not_the_models(name: str) -> None:
    assert MODELS["hrrr"].parse_key(name) is None


def test_a_key_of_another_times_layout_is_not_the_models() -> None:
    assert MODELS["gfs"].parse_key("gfs.20260901/00/gfs.t00z.pgrb2.0p25.f000") is None
    assert MODELS["ifs"].parse_key("20260901/06z/ifs/0p25/scda/20260901060000-0h-scda-fc.grib2") is None


def test_an_objects_key_finds_every_model_that_it_belongs_to() -> None:
    def found(name: str) -> list[tuple[str, datetime, int]]:
        return [(model.id, run, hour) for model, run, hour in find_key(MODELS, name)]

    run = run_time("20260901_00")
    assert found("hrrr.20260901/conus/hrrr.t00z.wrfsfcf08.grib2") == [("hrrr", run, 8)]
    assert found("hrrr.20260901/conus/hrrr.t00z.wrfsfcf08.grib2.idx") == [("hrrr", run, 8)]
    assert found("20260901/00z/ifs/0p25/oper/20260901000000-9h-oper-fc.index") == [("ifs", run, 9)]
    subh = found("hrrr.20260901/conus/hrrr.t00z.wrfsubhf00.grib2")
    assert subh == [("hrrr_subh.m00", run, 0)]
    assert len(found("20260901/00z/ifs/0p25/enfo/20260901000000-9h-enfo-ef.grib2")) == 50
    assert found("gefs.20260901/00/atmos/pgrb2sp25/gep07.t00z.pgrb2s.0p25.f003") == [("gefs.p07", run, 3)]
    assert found("index.html") == []


def test_only_ecmwf_requires_attribution_and_it_is_given() -> None:
    for model in MODELS.values():
        ecmwf = model.family.startswith(("ifs", "aifs"))
        assert (model.licence == "CC-BY-4.0") == ecmwf
        assert ("ECMWF" in model.attribution) == ecmwf


def hrrr_minutes(hour: int, mirror: int = 0) -> tuple[float, float]:
    model = MODELS["hrrr"]
    run = run_time("20260901_00")
    arrival = model.expected_at(run, hour, model.mirrors[mirror])
    usual, late = (round((moment - run) / timedelta(minutes=1), 2) for moment in (arrival.usual, arrival.late))
    return usual, late


def test_latency_is_the_measured_one_with_straight_lines_between() -> None:
    assert hrrr_minutes(0) == (51.9, 74.0)
    assert hrrr_minutes(6) == (62.4, 84.9)
    assert hrrr_minutes(12) == (69.85, 87.45)
    assert hrrr_minutes(48) == (109.7, 123.3)
    assert hrrr_minutes(48, mirror=2) == (106.0, 109.0)
    # Google's copy was not measured, so it is expected at the same time as the best mirror.
    assert hrrr_minutes(0, mirror=1) == (51.9, 74.0)


def test_latency_follows_the_cycle() -> None:
    model = MODELS["ifs"]
    midnight, morning = run_time("20260901_00"), run_time("20260901_06")
    assert model.expected_at(midnight, 144).usual - midnight > model.expected_at(morning, 144).usual - morning


@pytest.mark.parametrize("model_id", SOME)
def test_later_hours_are_never_expected_sooner(model_id: str) -> None:
    model = MODELS[model_id]
    for run in model.runs(NOW, back=timedelta(days=1)):
        arrivals = [model.expected_at(run, hour) for hour in model.hours(run)]
        assert arrivals == sorted(arrivals, key=lambda arrival: arrival.usual)
        assert all(run < arrival.usual <= arrival.late < model.gives_up_at(run) for arrival in arrivals)


def test_runs_come_newest_first_and_an_ended_model_has_none() -> None:
    def recent(model: Model, back: int) -> list[str]:
        return [f"{run:%d_%H}" for run in model.runs(NOW, back=timedelta(hours=back))]

    assert recent(MODELS["hrrr"], 3) == ["16_03", "16_02", "16_01"]
    assert recent(MODELS["gfs"], 12) == ["16_00", "15_18"]
    assert recent(MODELS["nam"], 48) == []


def test_the_next_scan_is_soon_while_a_run_arrives_else_when_one_begins_to() -> None:
    model = MODELS["aifs"]
    midnight = run_time("20261116_00")
    before = midnight + timedelta(hours=4)
    arriving = midnight + timedelta(minutes=330)
    after = midnight + timedelta(hours=7)
    first = midnight + timedelta(minutes=321)
    assert model.next_scan_at(before) == first
    assert model.next_scan_at(arriving) == arriving + timedelta(seconds=model.scan_seconds)
    assert model.next_scan_at(arriving, whole=model.runs(arriving)) == first + timedelta(hours=6)
    assert model.next_scan_at(after) == first + timedelta(hours=6)
    whole = [run for run in model.runs(after) if run < midnight]
    assert model.next_scan_at(after, whole=[*whole, midnight]) == first + timedelta(hours=6)
    late = model.next_scan_at(after, whole=whole)
    assert late is not None and after < late < first + timedelta(hours=6)
    assert MODELS["nam"].next_scan_at(NOW) is None
