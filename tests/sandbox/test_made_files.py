"""Generated files are valid GRIB for other readers, with plausible weather."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path

import eccodes
import numpy as np
import pytest

from gribmill.grib.decode.field import fields
from gribmill.grib.inventory import inventory
from gribmill.grib.messages import walk
from gribmill.ingest.models.registry import models_named
from gribmill.regions.grids.spec import named_grids
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.forecast import Forecaster, model_grid
from gribmill.sandbox.forecast.publisher_style import style_of
from gribmill.sandbox.forecast.thinned_grid import thinned
from tests.grib.decode.whole_winds import earth_relative
from tests.sandbox.making import MODELS, RUN, made, named, values

pytestmark = pytest.mark.slow

# One of each family, and of each kind of member.
EACH = (
    "hrrr", "hrrr_prs", "hrrr_subh.m15", "hrrrak", "gfs", "gfswave", "gefs.c00", "gefs.p07", "gefs.avg",
    "gefs_0p50.c00", "rap", "nam",
    "namnest", "rrfs_conus", "rrfs_ak", "rrfs_hi", "rrfs_pr", "nbm_co", "nbm_ak", "nbm_hi", "nbm_pr",
    "ifs", "ifs_enfo.pf07", "ifs_wave", "aifs", "aifs_ens.cf", "aifs_ens.pf07",
)  # fmt: skip


def test_every_family_of_models_has_a_case() -> None:
    assert {model.family for model in MODELS.values()} == {name.partition(".")[0] for name in EACH}


@pytest.mark.parametrize("name", EACH)
def test_every_model_is_generated_on_its_grid_with_lexicon_names(name: str) -> None:
    file = made(name, 6, coarse=30)
    model = MODELS[name]
    grid = thinned(model_grid(model), 30)
    found = named(file.grib)
    window = {"tp", "tp_bucket", "tp_6h", "asnow", "asnow_bucket", "asnow_6h", "t2m_max", "t2m_min"}
    assert set(model.variables) - found.keys() <= window
    for variable, field in found.items():
        spec, true = field.grid.spec(), grid.spec()
        assert (spec["kind"], spec["earth"]) == (true["kind"], true["earth"]), variable
        for key in true.keys() - {"kind", "earth"}:
            assert spec[key] == pytest.approx(true[key], rel=1e-6, abs=0.2 if key in ("x0", "y0") else 1e-6), key
        assert field.keys.reference == RUN
    # Neighbours make it worth while to fetch a part; the wave model's files have none.
    wanted = found.keys() & set(model.variables)
    assert name == "ifs_wave" or len(wanted) < len(list(fields(file.grib, name)))


def test_ecmwf_snow_is_generated_in_metres_of_water() -> None:
    names = ("tp", "sf", "weasd")
    ours, theirs = (named(made(name, 6, coarse=30, only=names).grib) for name in ("gfs", "ifs"))
    for name in ("tp", "weasd"):
        most = float(np.nanmax(ours[name].values()))
        assert float(np.nanmax(theirs[name].values())) == pytest.approx(most / 1000, rel=0.5), name
    assert 0 < float(np.nanmax(theirs["sf"].values())) < 1


def test_full_grids_match_the_models() -> None:
    file = made("hrrr", 1, coarse=1, only=("t2m", "u10", "v10", "tp"))
    found = named(file.grib)
    true = next(one.grid for one in named_grids() if one.name == "hrrr")
    assert found["t2m"].grid.spec()["nx"] == 1799 and found["t2m"].grid.shape == true.shape
    corner = found["t2m"].grid.latlon(1058, 1798)
    np.testing.assert_allclose(corner, (47.8422, -60.9172), atol=1e-4)
    assert {"t2m", "u10", "v10", "tp"} <= found.keys()


def test_eccodes_reads_every_message_with_the_same_number_of_values() -> None:
    for name in ("hrrr", "gfs", "ifs"):
        file = made(name, 3)
        for message in walk(file.grib, name):
            handle = eccodes.codes_new_from_message(file.grib[message.offset : message.offset + message.length])
            points = eccodes.codes_get(handle, "numberOfDataPoints")
            flat = eccodes.codes_get_values(handle)
            assert len(flat) == points == np.prod(thinned(model_grid(MODELS[name]), 20).shape)
            assert eccodes.codes_get(handle, "validityTime") == 1500
            eccodes.codes_release(handle)


def test_cfgrib_opens_a_file_by_its_levels(tmp_path: Path) -> None:
    import cfgrib

    path = tmp_path / "made.grib2"
    only = ("t2m", "u10", "v10", "mslp", "tp", "gh_500")
    path.write_bytes(made("gfs", 3, only=only).grib)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = cfgrib.open_datasets(str(path), backend_kwargs={"indexpath": ""})
    names = {str(name) for one in sets for name in one.data_vars}
    assert {"t2m", "u10", "v10", "prmsl", "tp", "gh"} <= names
    t2m = next(one.t2m for one in sets if "t2m" in one)
    assert t2m.shape == (37, 72) and 250 < float(t2m.mean()) < 300


@pytest.mark.parametrize(
    ("name", "variable", "packing"),
    [
        ("hrrr", "t2m", "complex, 2 differences"), ("hrrr", "u10", "simple"), ("hrrr", "u80", "complex, 2 differences"),
        ("gfs", "t2m", "complex, 2 differences"), ("ifs", "t2m", "CCSDS"), ("gfswave", "swh", "JPEG 2000"),
    ],
)  # fmt: skip
def test_fields_are_packed_as_their_publisher_packs_them(name: str, variable: str, packing: str) -> None:
    field = named(made(name, 3).grib)[variable]
    templates = {"simple": 0, "complex, 2 differences": 3, "CCSDS": 42, "JPEG 2000": 40}
    handle = eccodes.codes_new_from_message(bytes(field.message()))
    assert eccodes.codes_get(handle, "dataRepresentationTemplateNumber") == templates[packing]
    eccodes.codes_release(handle)


def test_waves_are_missing_on_land_by_a_bitmap() -> None:
    fields_of = named(made("gfswave", 3, coarse=10).grib)
    height = fields_of["swh"]
    lat, lon = height.grid.latlon(*np.mgrid[0:73, 0:144])
    there = height.values()
    africa = (np.abs(lat - 5) < 15) & (np.abs(lon - 22) < 5)
    pacific = (np.abs(lat) < 15) & (np.abs(lon + 150) < 15)
    assert np.isnan(there[africa]).all() and np.isfinite(there[pacific]).all()
    assert height.packing.bitmap and there[pacific].min() > 0


def test_nbm_rows_alternate_and_are_read_correctly() -> None:
    rows = named(made("nbm_co", 3).grib)["t2m"]
    assert rows.layout is not None and rows.layout.scanning == 80
    # The same weather on the same points, whatever the order they are written in.
    forth = Forecaster(0, 20)
    model = MODELS["nbm_co"]
    assert style_of(model).scanning == 80
    field = rows.values()
    jump_east = np.abs(np.diff(field, axis=1)).max()
    jump_north = np.abs(np.diff(field, axis=0)).max()
    assert jump_north < 3 * jump_east + 5
    assert np.abs(field[1:] - field[:-1]).mean() < np.abs(field[1:] - field[:-1, ::-1]).mean()
    assert forth.make([model], RUN, 3).grib == made("nbm_co", 3).grib


@pytest.mark.parametrize("name", ["rap", "nam"])
def test_winds_that_share_a_message_are_two_fields_of_it(name: str) -> None:
    found = named(made(name, 3).grib)
    u, v = found["u10"], found["v10"]
    assert (u.offset, u.sub, v.sub) == (v.offset, 1, 2) and u.subs == 2


def test_rotated_winds_match_those_of_a_model_on_another_grid() -> None:
    """HRRR's winds are grid-relative, GFS's earth-relative: after rotation they agree."""
    hrrr, gfs = (
        named(made(name, 3, coarse=coarse, only=("u10", "v10")).grib) for name, coarse in (("hrrr", 10), ("gfs", 1))
    )
    assert hrrr["u10"].grid_relative_winds and not gfs["u10"].grid_relative_winds
    u, v = earth_relative(hrrr["u10"], hrrr["v10"])
    ny, nx = hrrr["u10"].grid.shape
    lat, lon = hrrr["u10"].grid.latlon(np.arange(ny)[:, None], np.arange(nx)[None, :])
    j, i = gfs["u10"].grid.index(lat, lon)
    near = np.rint(j).astype(int), np.rint(i).astype(int) % 1440
    for turned, plain in ((u, gfs["u10"].values()), (v, gfs["v10"].values())):
        assert np.abs(turned - plain[near]).mean() < 0.4
    raw = np.abs(hrrr["u10"].values() - gfs["u10"].values()[near]).mean()
    assert raw > 3 * np.abs(u - gfs["u10"].values()[near]).mean()


def test_the_weather_is_physically_plausible() -> None:
    file = made("gfs", 24, coarse=8)
    t2m, rh, d2m = (values(file, name) for name in ("t2m", "rh2m", "d2m"))
    lat = np.linspace(-90, 90, len(t2m))
    zonal = t2m.mean(axis=1)
    assert zonal[np.abs(lat) < 15].mean() > zonal[np.abs(lat) > 70].mean() + 25
    assert (d2m <= t2m + 0.2).all() and rh.min() >= 0 and rh.max() <= 100
    assert np.corrcoef(rh.ravel(), (d2m - t2m).ravel())[0, 1] > 0.9
    assert values(file, "t_500").mean() < values(file, "t_850").mean() - 15
    assert 5000 < values(file, "gh_500").mean() < 5800
    assert (values(file, "t2m_min") <= values(file, "t2m_max") + 0.11).all()
    high, low = values(file, "mslp"), values(file, "sp")
    assert (low <= high + 30).all() and high.min() > 98_000 and high.max() < 105_000


def test_winds_blow_along_the_isobars_roughly() -> None:
    found = named(made("gfs", 3, coarse=4, only=("mslp", "u_850", "v_850")).grib)
    pressure, u, v = (found[name].values().astype(float) for name in ("mslp", "u_850", "v_850"))
    lat = np.radians(np.linspace(-90, 90, len(pressure)))[:, None]
    north, east = np.gradient(pressure)
    rows = slice(len(pressure) * 13 // 18, len(pressure) * 15 // 18)
    across = (u * east / np.cos(lat) + v * north)[rows]
    size = (np.hypot(u, v) * np.hypot(east / np.cos(lat), north))[rows]
    assert np.abs(across).sum() < 0.5 * size.sum()
    # In the north low pressure is to the left of the wind: eastward wind where pressure falls northward.
    assert np.corrcoef(u[rows].ravel(), -north[rows].ravel())[0, 1] > 0.5


def test_precipitation_never_decreases_and_buckets_sum_to_the_total() -> None:
    hours = [values(made("hrrr", hour, only=("tp", "tp_bucket")), "tp") for hour in (0, 1, 2, 3)]
    assert hours[0].max() == 0 and hours[3].max() > 1 and (hours[3] == 0).mean() > 0.2
    for before, after in pairwise(hours):
        assert (after >= before).all()
    bucket = values(made("hrrr", 3, only=("tp", "tp_bucket")), "tp_bucket")
    np.testing.assert_allclose(hours[3] - hours[2], bucket, atol=1 / 32)


def test_reflectivity_has_gaps_and_echoes() -> None:
    echo = values(made("hrrr", 3), "refc")
    assert (echo == -10).mean() > 0.3 and echo.max() > 25


def test_patterns_move_with_the_hour_and_runs_agree_about_the_same_time() -> None:
    early, late = values(made("gfs", 0), "mslp"), values(made("gfs", 24), "mslp")
    assert np.abs(late - early).mean() > 50
    next_run = Forecaster(0, 20).make([MODELS["gfs"]], RUN.replace(hour=18), 0)
    same_time = values(made("gfs", 6), "mslp")
    np.testing.assert_allclose(values(next_run, "mslp"), same_time, atol=5)


def test_members_differ_slightly_and_a_spread_is_not_a_forecast() -> None:
    control, member = values(made("gefs.c00", 6), "t2m"), values(made("gefs.p07", 6), "t2m")
    apart = np.abs(control - member)
    assert 0.05 < apart.mean() < 5
    spread = list(fields(made("gefs.spr", 6).grib, "spread"))
    assert all(field.keys.spread for field in spread) and spread[8].values().max() < 10
    keys = [field.keys for field in fields(made("gefs.p07", 6).grib, "member")]
    assert {key.member for key in keys} == {7}


def test_members_that_share_a_file_are_all_in_it() -> None:
    models = models_named(MODELS, "hrrr_subh")
    file = Forecaster(0, 30).make(models, RUN, 2)
    minutes = {field.keys.end.total_seconds() / 60 for field in fields(file.grib, "subh") if field.keys.end}
    assert minutes == {75, 90, 105, 120}


@pytest.mark.parametrize("name", ["hrrr", "gfswave", "ifs", "rap", "nbm_co"])
def test_bytes_depend_on_the_seed_alone(name: str) -> None:
    assert made(name, 3, seed=5) == made(name, 3, seed=5)
    assert made(name, 3, seed=5).grib != made(name, 3, seed=6).grib


def test_output_does_not_depend_on_earlier_output() -> None:
    alone = made("hrrr", 3, seed=9, only=("t2m", "tp")).grib
    for hour in (0, 7, 1):
        made("hrrr", hour, seed=9, only=("t2m", "tp", "cape"))
    assert made("hrrr", 3, seed=9, only=("t2m", "tp")).grib == alone


def test_a_thinned_grid_keeps_its_corner_and_a_bad_divisor_is_refused() -> None:
    full, thin = model_grid(MODELS["hrrr"]), thinned(model_grid(MODELS["hrrr"]), 7)
    np.testing.assert_allclose(full.latlon(14, 21), thin.latlon(2, 3))
    assert thinned(model_grid(MODELS["gfs"]), 8).wraps
    with pytest.raises(SandboxError, match="use a divisor"):
        thinned(model_grid(MODELS["gfs"]), 7)
    with pytest.raises(SandboxError, match="too small"):
        thinned(full, 5000)


def test_grib_ls_lists_a_generated_file_without_errors(tmp_path: Path) -> None:
    path = tmp_path / "made.grib2"
    path.write_bytes(made("hrrr", 24).grib)
    listed = list(inventory(path, stats=True))
    assert len(listed) == 57 and not any(entry.reason for entry in listed)
    assert {entry.step for entry in listed} >= {"24 h", "0-24 h accum", "23-24 h accum", "23-24 h max"}
