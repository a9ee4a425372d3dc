"""From GRIB to tiles: exact values, correct metadata, the same bytes every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pytest

import gribmill
from gribmill.grib.decode.field import read_fields
from gribmill.grib.errors import GribError
from gribmill.grib.inventory import inventory
from gribmill.grib.sections import sections2
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.regions.tile_options import Encoding, Method
from gribmill.regions.window import window
from gribmill.sandbox.grib_writer.sections import multi_field
from gribmill.tiles.build.build import build
from gribmill.tiles.build.tile_builder import BuildResult
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import ECMWF_ATTRIBUTION
from gribmill.tiles.read.tile import Tile, read_tile
from tests.grib.decode.whole_winds import earth_relative
from tests.local_path import local
from tests.make_grib import GRIDS, make_message, smooth_values, write
from tests.real_files import real

POTOMAC = Region("potomac", Box(-79.5, 37.5, -76.5, 40.0), "Potomac valley")
INLAND = Region("inland", Box(-81.5, 39.0, -80.0, 40.5))
FIJI = Region("fiji", Box(170.0, -25.0, -170.0, -10.0))
AFRICA = Region("africa", Box(10.0, -10.0, 30.0, 10.0))

BUILD_IN_ANOTHER_PROCESS = """
import sys
from gribmill import Box, Region, build
build(sys.argv[1], [Region("potomac", Box(-79.5, 37.5, -76.5, 40.0))], sys.argv[2],
      variables=["vis", "t2m", "u10", "v10"])
"""


def tile_of(outcome: BuildResult, region: str = "potomac") -> Tile:
    assert not outcome.failed, outcome.failed
    (built,) = [built for built in outcome.tiles if built.meta.region.name == region]
    return read_tile(built.path)


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """t2m, u10 and v10 along the grid, vis with missing points."""
    shape = GRIDS["hrrr-ne"].shape
    vis = smooth_values(shape, seed=9, mean=9000, span=5000)
    vis[np.random.default_rng(1).random(shape) < 0.1] = np.nan
    messages = [
        make_message("hrrr-ne", "2t", step=6),
        make_message("hrrr-ne", "10u", smooth_values(shape, seed=1, mean=3), step=6, packing="grid_simple"),
        make_message("hrrr-ne", "10v", smooth_values(shape, seed=2, mean=-2), step=6, packing="grid_simple"),
        make_message("hrrr-ne", "vis", vis, step=6, decimal=-1),
    ]
    return write(tmp_path_factory.mktemp("hour") / "hour.grib2", messages)


def test_tile_equals_the_decoded_values_bit_for_bit(hour: Path, tmp_path: Path) -> None:
    tile = tile_of(build(hour, [POTOMAC], tmp_path))
    items = list(read_fields(hour))
    cut = window(items[0].grid, POTOMAC.box)
    assert cut is not None
    for name, item in (("t2m", items[0]), ("vis", items[3])):
        assert tile.read(name).tobytes() == np.ascontiguousarray(cut.take(item.values())).tobytes()
    assert tile.meta.variables["vis"].missing == np.isnan(tile.read("vis")).sum() > 0


def test_grid_relative_winds_become_earth_relative(hour: Path, tmp_path: Path) -> None:
    tile = tile_of(build(hour, [POTOMAC], tmp_path))
    items = list(read_fields(hour))
    assert items[1].grid_relative_winds
    cut = window(items[0].grid, POTOMAC.box)
    assert cut is not None
    east, north = earth_relative(items[1], items[2])
    np.testing.assert_array_equal(tile.read("u10"), cut.take(east))
    np.testing.assert_array_equal(tile.read("v10"), cut.take(north))
    assert np.abs(tile.read("u10") - cut.take(items[1].values())).max() > 0.1
    assert tile.meta.variables["u10"].winds == "earth"


def test_single_component_is_never_stored_as_rotated(tmp_path: Path) -> None:
    path = write(tmp_path / "u.grib2", [make_message("hrrr-ne", "10u"), make_message("hrrr-ne", "2t")])
    tile = tile_of(build(path, [POTOMAC], tmp_path))
    assert tile.names == ["t2m"]
    (note,) = tile.meta.skipped
    assert (note.name, note.message) == ("u10", 1)
    assert "cannot be rotated" in note.reason
    everything = tile_of(build(path, [POTOMAC], tmp_path / "all", everything=True))
    assert everything.names == ["t2m", "u10_grid"]
    assert everything.meta.variables["u10_grid"].winds == "grid"
    assert everything.meta.variables["u10_grid"].standard_name is None
    assert everything.meta.variables["u10_grid"].long_name.endswith("relative to the grid")


def test_percentile_of_a_component_is_never_rotated(tmp_path: Path) -> None:
    ninety = {"productDefinitionTemplateNumber": 6, "percentileValue": 90}
    made = [make_message("hrrr-ne", name, keys=ninety) for name in ("10u", "10v")]
    path = write(tmp_path / "ninety.grib2", [*made, make_message("hrrr-ne", "2t")])
    assert tile_of(build(path, [POTOMAC], tmp_path)).names == ["t2m"]
    asked = tile_of(build(path, [POTOMAC], tmp_path / "asked", variables=["t2m", "u10_p90"]))
    (note,) = asked.meta.skipped
    assert note.reason == "it is a spread or probability relative to the grid, which cannot be rotated"
    everything = tile_of(build(path, [POTOMAC], tmp_path / "all", everything=True))
    assert [everything.meta.variables[name].winds for name in everything.names] == [None, "grid", "grid"]


def test_stress_along_the_grid_is_rotated_like_wind(tmp_path: Path) -> None:
    made = [make_message("hrrr-ne", "10u", keys={"parameterNumber": number}) for number in (38, 37)]
    path = write(tmp_path / "stress.grib2", made)
    tile = tile_of(build(path, [POTOMAC], tmp_path, everything=True))
    assert [quantity.winds for quantity in tile.meta.variables.values()] == ["earth", "earth"]
    east, north = (tile.read(name) for name in sorted(tile.names, reverse=True))
    assert np.abs(east - north).max() > 0.1


def test_a_time_range_may_begin_before_its_run(tmp_path: Path) -> None:
    before = {"productDefinitionTemplateNumber": 8, "forecastTime": -7, "lengthOfTimeRange": 23}
    message = make_message("hrrr-ne", "2t", keys=before | {"typeOfStatisticalProcessing": 2})
    tile = tile_of(build(write(tmp_path / "day.grib2", [message]), [POTOMAC], tmp_path))
    assert tile.meta.minutes == 16 * 60
    assert tile.meta.variables["t2m_max"].step_minutes == (-7 * 60, 16 * 60)
    assert gribmill.open_tile(tile.path)["t2m_max"].attrs["step_hours"] == [-7, 16]


def test_times_are_whole_minutes_rounded_down(tmp_path: Path) -> None:
    keys = {"second": 40, "indicatorOfUnitOfTimeRange": 13, "forecastTime": 90}
    tile = tile_of(build(write(tmp_path / "s.grib2", [make_message("hrrr-ne", keys=keys)]), [POTOMAC], tmp_path))
    assert (tile.meta.run, tile.meta.minutes) == ("20260901_12", 1)
    assert tile.meta.valid_time == datetime(2026, 9, 1, 12, 1, tzinfo=UTC)


def test_single_requested_component_is_still_rotated_with_the_other(hour: Path, tmp_path: Path) -> None:
    both = tile_of(build(hour, [POTOMAC], tmp_path / "both"))
    alone = tile_of(build(hour, [POTOMAC], tmp_path / "alone", variables=["v10"]))
    assert alone.names == ["v10"]
    np.testing.assert_array_equal(alone.read("v10"), both.read("v10"))


def test_earth_relative_winds_are_unchanged(tmp_path: Path) -> None:
    messages = [make_message("gfs-small", name, packing="grid_simple") for name in ("10u", "10v")]
    path = write(tmp_path / "w.grib2", messages)
    tile = tile_of(build(path, [AFRICA], tmp_path), "africa")
    item = next(read_fields(path))
    cut = window(item.grid, AFRICA.box)
    assert cut is not None
    np.testing.assert_array_equal(tile.read("u10"), cut.take(item.values()))
    assert tile.meta.variables["u10"].winds == "earth"


def test_both_fields_of_one_message_are_found(tmp_path: Path) -> None:
    pair = multi_field([make_message("hrrr-ne", name, packing="grid_simple") for name in ("10u", "10v")])
    tile = tile_of(build(write(tmp_path / "uv.grib2", [pair]), [POTOMAC], tmp_path))
    assert tile.names == ["u10", "v10"]
    facts = [(tile.meta.variables[name].message, tile.meta.variables[name].field) for name in tile.names]
    assert facts == [(1, 1), (1, 2)]


def test_meta_identifies_every_message(hour: Path, tmp_path: Path) -> None:
    content = hour.read_bytes()
    tile = tile_of(build(hour, [POTOMAC], tmp_path, url="https://example.org/h.grib2", etag='"abc"'))
    for quantity in tile.meta.variables.values():
        message = content[quantity.offset : quantity.offset + quantity.length]
        assert message[:4] == b"GRIB"
        assert message[-4:] == b"7777"
    source = tile.meta.source
    assert (source.bytes, source.url, source.etag) == (len(content), "https://example.org/h.grib2", '"abc"')
    packing = tile.meta.variables["vis"].packing
    assert (packing.name, packing.step) == ("complex+diff", list(read_fields(hour))[3].packing.step)
    assert tile.meta.variables["t2m"].level == "2 m above ground"
    assert (tile.meta.model, tile.meta.run, tile.meta.hour) == ("kwbc_p128", "20260901_12", 6)


def test_variables_that_the_file_lacks_are_named_and_never_zero(hour: Path, tmp_path: Path) -> None:
    tile = tile_of(build(hour, [POTOMAC], tmp_path, variables=["t2m", "refc", "asnow"]))
    assert tile.names == ["t2m"]
    assert tile.meta.absent == ("asnow", "refc")


@pytest.mark.process
def test_a_second_build_in_other_processes_gives_the_same_bytes(hour: Path, tmp_path: Path) -> None:
    contents = []
    for seed in ("0", "77"):
        root = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", BUILD_IN_ANOTHER_PROCESS, hour, root], check=True, env=environment)
        contents.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*.npz")})
    assert contents[0] == contents[1]
    assert sorted(path.name for path in contents[0]) == ["006.npz", "grid.npz"]


def test_builds_on_several_cores_give_the_same_bytes(hour: Path, tmp_path: Path) -> None:
    encodings: tuple[Encoding, ...] = ("fast", "compact", "packed")
    regions = [replace(POTOMAC, name=name, encoding=name) for name in encodings]
    regions += [replace(INLAND, name="regular", resolution=0.5), replace(POTOMAC, name="fast2")]
    contents = []
    for threads in (1, 4):
        root = tmp_path / str(threads)
        outcome = build(hour, regions, root, threads=threads)
        assert len(outcome.tiles) == len(regions)
        contents.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*.npz")})
    assert contents[0] == contents[1]


def test_region_that_cannot_be_encoded_on_another_core_does_not_stop_the_others(
    hour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gribmill.tiles.build import tile_writer

    def refuse(*_: object) -> None:
        raise TileError("no")

    monkeypatch.setattr(tile_writer, "requantize", refuse)
    outcome = build(hour, [replace(POTOMAC, name="broken", encoding="packed"), POTOMAC], tmp_path, threads=4)
    assert [failure.region for failure in outcome.failed] == ["broken"]
    assert [built.region for built in outcome.tiles] == ["potomac"]


def test_each_message_is_decoded_once_however_many_regions(
    hour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gribmill.grib.decode import eccodes as reference
    from gribmill.grib.decode import field
    from gribmill.grib.decode import native as kernel

    decoded: list[int] = []
    real_decode, real_unpack = reference.decode, kernel.decode_windows

    def counting_decode(message: bytes, points: int) -> np.ndarray:
        decoded.append(points)
        return real_decode(message, points)

    def counting_unpack(sections: Any, points: int, *rest: Any) -> list[np.ndarray] | None:
        found = real_unpack(sections, points, *rest)
        decoded.extend([points] if found else [])
        return found

    monkeypatch.setattr(field, "decode", counting_decode)
    monkeypatch.setattr(kernel, "decode_windows", counting_unpack)
    outcome = build(hour, [POTOMAC, INLAND, replace(POTOMAC, name="third")], tmp_path)
    assert len(outcome.tiles) == 3
    assert len(decoded) == 4


def test_regions_beyond_the_grid_get_no_tile(hour: Path, tmp_path: Path) -> None:
    outcome = build(hour, [POTOMAC, FIJI], tmp_path)
    assert outcome.outside == ("fiji",)
    assert [built.meta.region.name for built in outcome.tiles] == ["potomac"]


def test_one_region_that_fails_does_not_stop_the_others(hour: Path, tmp_path: Path) -> None:
    impossible = Region("impossible", Box(-79.0, 38.0, -78.9, 38.05), resolution=30.0)
    outcome = build(hour, [impossible, POTOMAC], tmp_path)
    assert [(failure.region, "no multiple" in str(failure.error)) for failure in outcome.failed] == [
        ("impossible", True)
    ]
    assert [built.meta.region.name for built in outcome.tiles] == ["potomac"]


def test_a_tile_that_cannot_be_written_is_named_by_its_path(hour: Path, tmp_path: Path) -> None:
    place = build(hour, [POTOMAC], tmp_path).tiles[0].path
    place.unlink()
    local(place).mkdir()
    (failure,) = build(hour, [POTOMAC], tmp_path).failed
    assert str(failure.error) == f"{place} cannot be written: Is a directory"


def test_a_damaged_file_leaves_nothing(hour: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.grib2"
    broken.write_bytes(hour.read_bytes()[:-500])
    with pytest.raises(GribError, match="message 4"):
        build(broken, [POTOMAC], tmp_path)
    assert not (tmp_path / "tiles").exists()


def test_several_runs_and_hours_in_one_file_give_several_tiles(tmp_path: Path) -> None:
    later = datetime(2026, 9, 1, 18, tzinfo=UTC)
    messages = [
        make_message("gfs-small", "2t", step=3),
        make_message("gfs-small", "2t", step=6),
        make_message("gfs-small", "2t", step=3, reference=later),
        make_message("gfs-small", "2d", step=3),
    ]
    outcome = build(write(tmp_path / "many.grib2", messages), [AFRICA], tmp_path, model="gfs")
    found = {(built.meta.run, built.meta.hour): sorted(built.meta.variables) for built in outcome.tiles}
    assert found == {
        ("20260901_12", 3): ["d2m", "t2m"],
        ("20260901_12", 6): ["t2m"],
        ("20260901_18", 3): ["t2m"],
    }


@pytest.mark.parametrize("edition", [1, 2])
def test_spherical_harmonics_are_left_out_and_do_not_stop_the_rest(edition: int, tmp_path: Path) -> None:
    handle = eccodes.codes_grib_new_from_samples(f"sh_ml_grib{edition}")
    try:
        eccodes.codes_set_values(handle, np.ones(eccodes.codes_get_size(handle, "values")))
        harmonics = eccodes.codes_get_message(handle)
    finally:
        eccodes.codes_release(handle)
    path = write(tmp_path / "both.grib", [harmonics, make_message("gfs-small", "2t", step=3)])
    outcome = build(path, [AFRICA], tmp_path, model="gfs", everything=True)
    assert [sorted(built.meta.variables) for built in outcome.tiles] == [["t2m"]]
    (note,) = outcome.skipped
    assert "spherical harmonics" in note.reason
    first, second = inventory(path, stats=True)
    assert first.grid is not None and first.grid.startswith("spherical harmonics")
    assert first.reason is None and second.reason is None


@pytest.mark.parametrize(("year", "step", "runs"), [(5, 3, ["00051231_23"]), (9999, 3, []), (9999, 0, ["99991231_23"])])
def test_runs_at_either_end_of_the_calendar(year: int, step: int, runs: list[str], tmp_path: Path) -> None:
    message = bytearray(make_message("hrrr-ne", "2t", step=step, packing="grid_simple"))
    message[16 + 12 : 16 + 17] = year.to_bytes(2, "big") + bytes((12, 31, 23))
    outcome = build(write(tmp_path / "odd.grib2", [bytes(message)]), [POTOMAC], tmp_path)
    assert [built.meta.run for built in outcome.tiles] == runs
    assert [note.reason for note in outcome.skipped] == ([] if runs else ["its forecast time is unknown"])


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"forecastTime": -1}, "it is for 2026-09-01 11:00, before its run began"),
        ({"productDefinitionTemplateNumber": 53}, "product template 4.53 is not supported"),
        ({"indicatorOfUnitOfTimeRange": 3, "forecastTime": 2}, "its forecast time is unknown"),
    ],
)
def test_a_field_that_has_no_place_among_the_steps_is_skipped_with_the_reason(
    keys: dict[str, int], reason: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "odd.grib2", [make_message("gfs-small", "2t", keys=keys)])
    outcome = build(path, [AFRICA], tmp_path, everything=True)
    assert not outcome.tiles
    assert [note.reason for note in outcome.skipped] == [reason]


def test_steps_between_hours_have_their_own_names(tmp_path: Path) -> None:
    messages = [
        make_message("hrrr-ne", "refc", step=step, step_units="m", keys={"typeOfFirstFixedSurface": 10})
        for step in (15, 75)
    ]
    outcome = build(write(tmp_path / "subh.grib2", messages), [POTOMAC], tmp_path, model="hrrr")
    assert [built.path.name for built in outcome.tiles] == ["000m15.npz", "001m15.npz"]
    assert outcome.tiles[1].meta.valid_time == datetime(2026, 9, 1, 13, 15, tzinfo=UTC)


def test_a_duplicate_field_is_kept_once_and_reported(tmp_path: Path) -> None:
    first, second = make_message("gfs-small", "2t", 280.0), make_message("gfs-small", "2t", 281.0)
    path = write(tmp_path / "twice.grib2", [first, first, second])
    tile = tile_of(build(path, [AFRICA], tmp_path), "africa")
    assert (tile.read("t2m") == 280.0).all()
    assert [(note.name, note.message) for note in tile.meta.duplicates] == [("t2m", 2), ("t2m", 3)]
    assert "is identical to message 1" in tile.meta.duplicates[0].reason
    assert "other values" in tile.meta.duplicates[1].reason


def test_members_of_an_ensemble_are_not_confused(tmp_path: Path) -> None:
    messages = [
        make_message("gfs-small", "2t", 280.0 + member, keys={"productDefinitionTemplateNumber": 1, "number": member})
        for member in (1, 2, 3)
    ]
    path = write(tmp_path / "members.grib2", messages)
    tile = tile_of(build(path, [AFRICA], tmp_path, model="gfs"), "africa")
    assert (tile.read("t2m") == 281.0).all()
    assert len(tile.meta.duplicates) == 2
    assert all("another" in note.reason for note in tile.meta.duplicates)
    everything = tile_of(build(path, [AFRICA], tmp_path / "all", everything=True, model="gfs"), "africa")
    assert [float(everything.read(name)[0, 0]) for name in everything.names] == [281.0, 282.0, 283.0]


def test_fields_on_another_grid_get_a_separate_tile(tmp_path: Path) -> None:
    path = write(tmp_path / "two.grib2", [make_message("gfs-small", "2t"), make_message("gfswave-atlantic", "2t")])
    west = Region("bermuda", Box(-80.0, 20.0, -65.0, 35.0))
    outcome = build(path, [west], tmp_path, model="gfs")
    assert [(built.meta.model, built.meta.grid.source_shape) for built in outcome.tiles] == [
        ("gfs", (73, 144)),
        ("gfs-g2", (331, 301)),
    ]


def test_longitudes_continue_across_the_date_line_from_any_first_longitude(tmp_path: Path) -> None:
    values = np.broadcast_to(np.arange(144.0), (73, 144))
    for grid, first in (("gfs-small", 0.0), ("ecmwf-small", 180.0)):
        path = write(tmp_path / f"{grid}.grib2", [make_message(grid, "2t", values, packing="grid_ieee")])
        tile = tile_of(build(path, [FIJI], tmp_path, model=grid), "fiji")
        np.testing.assert_allclose(tile.x, np.arange(170.0, 191.0, 2.5))
        np.testing.assert_allclose(tile.read("t2m")[0], ((tile.x - first) % 360) / 2.5)
        assert (np.diff(tile.y) > 0).all()


def test_ecmwf_data_carry_their_attribution_and_others_do_not(tmp_path: Path) -> None:
    for grid, attribution in (("ecmwf-small", ECMWF_ATTRIBUTION), ("gfs-small", None)):
        path = write(tmp_path / f"{grid}.grib2", [make_message(grid, "2t")])
        assert tile_of(build(path, [AFRICA], tmp_path, model=grid), "africa").meta.attribution == attribution


def test_cells_of_a_regular_grid_have_mean_minimum_and_maximum(hour: Path, tmp_path: Path) -> None:
    coarse = replace(POTOMAC, resolution=0.25, method="cells")
    tile = tile_of(build(hour, [coarse], tmp_path, variables=["t2m"]))
    assert tile.names == ["t2m", "t2m_max", "t2m_min"]
    mean, low, high = (tile.read(name) for name in ("t2m", "t2m_min", "t2m_max"))
    inside = ~np.isnan(mean)
    assert inside.sum() > 50
    assert (low[inside] <= mean[inside]).all()
    assert (mean[inside] <= high[inside]).all()
    np.testing.assert_allclose(tile.x, np.arange(-79.5, -76.4, 0.25))
    assert tile.meta.variables["t2m"].method == "cells"


def test_maximum_over_time_is_not_confused_with_the_maximum_of_a_cell(tmp_path: Path) -> None:
    over_the_hour = {"productDefinitionTemplateNumber": 8, "typeOfStatisticalProcessing": 2, "stepRange": "0-1"}
    messages = [make_message("hrrr-ne", "2t", 280.0), make_message("hrrr-ne", "2t", 285.0, keys=over_the_hour)]
    path = write(tmp_path / "max.grib2", messages)
    assert tile_of(build(path, [POTOMAC], tmp_path / "plain")).names == ["t2m", "t2m_max"]
    tile = tile_of(build(path, [replace(POTOMAC, resolution=0.5, method="cells")], tmp_path))
    assert tile.names == ["t2m", "t2m_max", "t2m_max_max", "t2m_max_mean", "t2m_max_min", "t2m_min"]
    assert np.nanmax(tile.read("t2m_max")) == 280.0
    assert np.nanmax(tile.read("t2m_max_mean")) == 285.0


def test_variables_renamed_by_cells_are_not_absent(tmp_path: Path) -> None:
    over_the_hour = {"productDefinitionTemplateNumber": 8, "typeOfStatisticalProcessing": 2, "stepRange": "0-1"}
    path = write(tmp_path / "max.grib2", [make_message("hrrr-ne", "2t", 285.0, keys=over_the_hour)])
    cells = replace(POTOMAC, resolution=0.5, method="cells")
    tile = tile_of(build(path, [cells], tmp_path, variables=["t2m_max", "u10"]))
    assert tile.names == ["t2m_max_max", "t2m_max_mean", "t2m_max_min"]
    assert tile.meta.absent == ("u10",)


def test_packed_tiles_give_back_every_bit_and_are_smaller(hour: Path, tmp_path: Path) -> None:
    plain = tile_of(build(hour, [POTOMAC], tmp_path / "plain"))
    packed = tile_of(build(hour, [replace(POTOMAC, encoding="packed")], tmp_path / "packed"))
    for name in plain.names:
        assert packed.read(name).tobytes() == plain.read(name).tobytes()
    assert packed.meta.variables["vis"].packed is not None
    assert packed.meta.variables["u10"].packed is None  # rotated winds no longer equal the source's integers
    assert packed.archive.size < plain.archive.size


def test_an_unknown_quantity_is_kept_only_with_everything(tmp_path: Path) -> None:
    odd = make_message("gfs-small", "2t", 5.0, keys={"parameterCategory": 191, "parameterNumber": 77})
    path = write(tmp_path / "odd.grib2", [odd, make_message("gfs-small", "2t")])
    assert tile_of(build(path, [AFRICA], tmp_path), "africa").names == ["t2m"]
    names = tile_of(build(path, [AFRICA], tmp_path / "all", everything=True), "africa").names
    assert len(names) == 2
    assert any("77" in name for name in names)


def test_two_precipitation_time_ranges_of_a_real_hrrr_hour_are_distinguished(tmp_path: Path) -> None:
    northeast = Region("ne", Box(-80.6, 38.8, -66.8, 47.6))
    path = real("noaa/hrrr.20201214.t00z.wrfsfcf12.APCP-0-12h+11-12h.grib2")
    tile = tile_of(build(path, [northeast], tmp_path), "ne")
    assert tile.meta.model == "hrrr"
    assert tile.meta.variables["tp"].step_minutes == (0, 720)
    assert tile.meta.variables["tp_bucket"].step_minutes == (660, 720)
    assert (tile.read("tp_bucket") <= tile.read("tp") + 0.01).all()


def test_the_land_under_real_waves_is_missing_not_zero(tmp_path: Path) -> None:
    path = real("noaa/gfswave.20230823.t18z.atlocn.0p16.f001.grib2")
    tile = tile_of(build(path, [Region("ne", Box(-80.6, 38.8, -66.8, 47.6))], tmp_path), "ne")
    swh = tile.read("swh")
    assert 0.5 < np.isnan(swh).mean() < 0.95
    assert tile.meta.variables["swh"].missing == np.isnan(swh).sum()


def test_meta_of_a_real_ecmwf_file_is_complete_json(tmp_path: Path) -> None:
    path = real("ecmwf/ifs.20260310.00z.oper.0p25.0h.surface.grib2")
    tile = tile_of(build(path, [AFRICA], tmp_path), "africa")
    meta = json.loads(tile.archive.read("meta").tobytes())
    for key in (
        "format",
        "model",
        "run",
        "hour",
        "valid_time",
        "region",
        "grid",
        "variables",
        "absent",
        "winds",
        "source",
        "gribmill",
        "attribution",
    ):
        assert key in meta
    assert meta["model"] == "ifs"
    assert len(meta["source"]["sha256"]) == 64


def test_spreads_are_named_as_such_where_a_file_has_nothing_else(tmp_path: Path) -> None:
    spread = make_message("gfs-small", "2t", 1.5, keys={"productDefinitionTemplateNumber": 2, "derivedForecast": 4})
    plain = make_message("gfs-small", "2t", 280.0)
    alone = write(tmp_path / "spread.grib2", [spread])
    both = write(tmp_path / "both.grib2", [spread, plain])
    assert tile_of(build(alone, [AFRICA], tmp_path / "alone"), "africa").names == ["t2m_spread"]
    assert tile_of(build(both, [AFRICA], tmp_path / "both"), "africa").names == ["t2m"]
    named = tile_of(build(both, [AFRICA], tmp_path / "named", variables=["t2m_spread"]), "africa")
    assert named.names == ["t2m_spread"]


@pytest.mark.parametrize(("number", "wanted"), [(8, "t2m_lowest"), (9, "t2m_highest"), (193, "t2m_derived193")])
def test_extremes_and_unknown_statistics_of_an_ensemble_are_not_the_quantity(
    number: int, wanted: str, tmp_path: Path
) -> None:
    keys = {"productDefinitionTemplateNumber": 2, "derivedForecast": number}
    statistic, plain = make_message("gfs-small", "2t", 270.0, keys=keys), make_message("gfs-small", "2t", 280.0)
    path = write(tmp_path / "both.grib2", [statistic, plain])
    (tile,) = build(path, [AFRICA], tmp_path, model="gfs", everything=True).tiles
    assert {name: read_tile(tile.path).read(name).max() for name in tile.meta.variables} == {wanted: 270, "t2m": 280}
    assert "of the ensemble" in tile.meta.variables[wanted].long_name


def test_a_part_of_an_hour_can_be_filed_under_the_models_own_hour(tmp_path: Path) -> None:
    message = make_message("gfs-small", "2t", step=15, step_units="m")
    path = write(tmp_path / "subh.grib2", [message])
    (built,) = build(path, [AFRICA], tmp_path, model="hrrr_subh.m15", hour=1).tiles
    assert built.path == tmp_path / "tiles/hrrr_subh.m15/20260901_12/africa/001.npz"
    assert built.meta.valid_time == datetime(2026, 9, 1, 12, 15, tzinfo=UTC)


def test_a_region_without_data_is_distinguished_from_one_outside_the_grid(tmp_path: Path) -> None:
    path = write(tmp_path / "t.grib2", [make_message("hrrr-ne", "10u")])
    outcome = build(path, [POTOMAC, FIJI], tmp_path)
    assert (outcome.tiles, outcome.outside, outcome.empty) == ((), ("fiji",), ("potomac",))


def test_without_any_known_field_regions_are_not_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "u.grib2", [make_message("hrrr-ne", "2t", keys={"parameterNumber": 250})])
    outcome = build(path, [POTOMAC, FIJI], tmp_path)
    assert (outcome.tiles, outcome.outside, outcome.empty) == ((), (), ())


def test_an_unsupported_grid_is_reported_without_the_folder_of_the_file(tmp_path: Path) -> None:
    (part,) = sections2(make_message("rrfs-na-small", "2t", packing="grid_simple"))
    staggered = part._replace(grid=part.grid[:12] + (32768).to_bytes(2, "big") + part.grid[14:]).message()
    tiles = []
    for folder in ("one", "two"):
        path = write(tmp_path / folder / "mixed.grib2", [staggered, make_message("gfs-small", "2d")])
        tiles.append(tile_of(build(path, [AFRICA], tmp_path / folder), "africa"))
    (note,) = tiles[0].meta.skipped
    assert "not supported" in note.reason
    assert str(tmp_path) not in note.reason
    assert tiles[0].path.read_bytes() == tiles[1].path.read_bytes()


@pytest.mark.parametrize("method", ["bilinear", "cells"])
def test_directions_are_never_averaged(tmp_path: Path, method: Method) -> None:
    directions = np.where(np.arange(144) % 2, 350.0, 10.0) * np.ones((73, 1))
    path = write(tmp_path / "d.grib2", [make_message("gfs-small", "2t", directions, packing="grid_ieee")])
    region = replace(AFRICA, resolution=1.0, method=method)
    averaged = tile_of(build(path, [region], tmp_path / "t"), "africa").read("t2m")
    wave = make_message("gfs-small", "swh", directions, packing="grid_ieee", keys={"parameterNumber": 10})
    tile = tile_of(build(write(tmp_path / "w.grib2", [wave]), [region], tmp_path / "w"), "africa")
    (name,) = tile.names
    assert tile.meta.variables[name].units == "degree"
    assert set(np.unique(tile.read(name))) == {10.0, 350.0}
    assert tile.meta.variables[name].method == "nearest"
    if method == "bilinear":
        assert ((averaged > 11) & (averaged < 349)).any()
