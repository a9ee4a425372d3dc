"""Sums, means and extremes of one quantity over several time ranges in one tile, under names that say which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gribmill
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.read.tile import Tile, read_tile
from tests.make_grib import make_message, write

AFRICA = Region("africa", Box(10.0, -10.0, 30.0, 10.0))
AIFS, IFS = 4, 158


def rain(start: int, end: int, value: float, **options: Any) -> bytes:
    return make_message("gfs-small", "tp", value, window=(start, end), **options)


def warmest(start: int, end: int, value: float) -> bytes:
    keys = {"parameterCategory": 0, "parameterNumber": 4}
    return make_message("gfs-small", "2t", value, window=(start, end), statistic="max", keys=keys)


def cut(folder: Path, *messages: bytes, variables: list[str] | None = None, everything: bool = False) -> Tile:
    path = write(folder / "made.grib2", messages)
    outcome = build(path, [AFRICA], folder, variables=variables, everything=everything)
    (built,) = outcome.tiles
    assert not outcome.failed
    return read_tile(built.path)


def windows(tile: Tile) -> dict[str, tuple[float, float]]:
    return {name: (item.step_minutes[0] / 60, item.step_minutes[1] / 60) for name, item in tile.meta.variables.items()}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_every_sum_of_an_hour_is_in_the_tile_and_the_shortest_has_the_plain_name(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    messages = [rain(11, 12, 1.0), rain(6, 12, 6.0), rain(0, 12, 12.0)]
    tile = cut(tmp_path, *(messages[number] for number in order))
    assert windows(tile) == {"tp": (0, 12), "tp_6h": (6, 12), "tp_bucket": (11, 12)}
    assert [float(tile.read(name).max()) for name in ("tp_bucket", "tp_6h", "tp")] == [1.0, 6.0, 12.0]
    assert tile.meta.duplicates == ()
    assert tile.meta.variables["tp_6h"].long_name == "Precipitation over 6 h"


def test_extremes_over_two_time_ranges_are_both_kept(tmp_path: Path) -> None:
    tile = cut(tmp_path, warmest(6, 18, 299.0), warmest(12, 18, 295.0))
    assert windows(tile) == {"t2m_max": (12, 18), "t2m_max_12h": (6, 18)}


def test_probabilities_over_two_time_ranges_have_distinct_names(tmp_path: Path) -> None:
    wet = {
        "productDefinitionTemplateNumber": 9, "probabilityType": 1, "scaleFactorOfUpperLimit": 3,
        "scaledValueOfUpperLimit": 254,
    }  # fmt: skip

    def chance(start: int) -> bytes:
        more = {"forecastTime": start, "lengthOfTimeRange": 12 - start, "typeOfStatisticalProcessing": 1}
        return make_message("gfs-small", "tp", 50.0, window=(start, 12), keys=wet | more)

    messages = [chance(6), chance(11), chance(0), rain(11, 12, 1.0)]
    tile = cut(tmp_path, *messages, everything=True)
    assert windows(tile) == {
        "tp_bucket": (11, 12),
        "tp_bucket_prob_gt_0p254": (11, 12),
        "tp_6h_prob_gt_0p254": (6, 12),
        "tp_prob_gt_0p254": (0, 12),
    }
    some = cut(tmp_path / "some", *messages, variables=["tp_6h_prob_gt_0p254", "tp_prob_gt_0p254"])
    assert windows(some) == {"tp_6h_prob_gt_0p254": (6, 12), "tp_prob_gt_0p254": (0, 12)}


@pytest.mark.parametrize(
    ("asked", "ranges", "names"),
    [
        (["tp_6h"], [(11, 12), (6, 12), (0, 12)], {"tp_6h": (6, 12)}),
        (["tp_12h"], [(11, 12), (6, 12), (0, 12)], {"tp_12h": (0, 12)}),
        (["tp_run"], [(11, 12), (6, 12), (0, 12)], {"tp": (0, 12)}),
        (["tp", "tp_12h"], [(11, 12), (0, 12)], {"tp": (0, 12)}),
        (["tp_bucket", "tp_6h"], [(6, 12)], {"tp_bucket": (6, 12)}),
        (["tp_bucket"], [(0, 12)], {"tp_bucket": (0, 12)}),
        (["tp_bucket"], [(0, 12), (6, 12)], {"tp_bucket": (6, 12)}),
    ],
)
def test_sum_is_found_by_a_name_with_its_time_range(
    tmp_path: Path, asked: list[str], ranges: list[tuple[int, int]], names: dict[str, tuple[int, int]]
) -> None:
    tile = cut(tmp_path, *(rain(*pair, 1.0) for pair in ranges), variables=asked)
    assert windows(tile) == names
    assert tile.meta.absent == ()
    for name in asked:
        assert tile.read(name).max() == 1.0


def test_a_length_that_the_file_does_not_have_is_absent(tmp_path: Path) -> None:
    tile = cut(tmp_path, rain(6, 12, 1.0), make_message("gfs-small", "2t", step=12), variables=["tp_3h", "t2m"])
    assert tile.names == ["t2m"]
    assert tile.meta.absent == ("tp_3h",)


def aifs_rain(start: int, length: int, process: int = AIFS) -> bytes:
    keys = {
        "typeOfGeneratingProcess": 2, "generatingProcessIdentifier": process, "forecastTime": start,
        "lengthOfTimeRange": length,
    }  # fmt: skip
    return make_message("ecmwf-small", "tp", 4.0, window=(0, 12), keys=keys)


@pytest.mark.parametrize(("start", "length"), [(6, 6), (12, 0)])
def test_sums_of_aifs_count_from_the_start_of_the_run_whatever_range_is_stated(
    tmp_path: Path, start: int, length: int
) -> None:
    tile = cut(tmp_path, aifs_rain(start, length), variables=["tp"])
    assert windows(tile) == {"tp": (0, 12)}
    assert tile.meta.variables["tp"].stated_minutes == (start * 60, 12 * 60)
    assert tile.meta.absent == ()


def test_sums_of_other_models_keep_the_range_that_is_stated(tmp_path: Path) -> None:
    tile = cut(tmp_path, aifs_rain(6, 6, IFS))
    assert windows(tile) == {"tp_bucket": (6, 12)}
    assert tile.meta.variables["tp_bucket"].stated_minutes is None
    assert windows(cut(tmp_path / "empty", aifs_rain(12, 0, IFS))) == {"tp": (0, 12)}
    right = cut(tmp_path / "right", aifs_rain(0, 12))
    assert (windows(right), right.meta.variables["tp"].stated_minutes) == ({"tp": (0, 12)}, None)


def of_ensemble(start: int, end: int, value: float, **keys: int) -> bytes:
    more = {"forecastTime": start, "lengthOfTimeRange": end - start, "typeOfStatisticalProcessing": 1}
    return make_message("gfs-small", "tp", value, window=(start, end), keys=keys | more)


def percentile(start: int, end: int, number: int, value: float) -> bytes:
    return of_ensemble(start, end, value, productDefinitionTemplateNumber=10, percentileValue=number)


def spread(start: int, end: int, value: float) -> bytes:
    return of_ensemble(start, end, value, productDefinitionTemplateNumber=12, derivedForecast=4)


@pytest.mark.parametrize("back", [False, True])
def test_percentiles_over_two_time_ranges_have_distinct_names(tmp_path: Path, back: bool) -> None:
    messages = [percentile(start, 12, number, start + number) for start in (11, 6, 0) for number in (10, 90)]
    messages.append(rain(11, 12, 1.0))
    tile = cut(tmp_path, *(reversed(messages) if back else messages), everything=True)
    assert windows(tile) == {
        "tp_bucket": (11, 12),
        "tp_bucket_p10": (11, 12), "tp_bucket_p90": (11, 12),
        "tp_6h_p10": (6, 12), "tp_6h_p90": (6, 12),
        "tp_p10": (0, 12), "tp_p90": (0, 12),
    }  # fmt: skip
    assert tile.meta.variables["tp_6h_p90"].identity["percentile"] == 90
    assert float(tile.read("tp_6h_p90").max()) == 96.0 and float(tile.read("tp_6h_p10").max()) == 16.0
    some = cut(tmp_path / "some", *messages, variables=["tp_6h_p10", "tp_bucket_p90"])
    assert windows(some) == {"tp_6h_p10": (6, 12), "tp_bucket_p90": (11, 12)}
    opened = gribmill.open_tile(tile.path)
    assert opened["tp_6h_p90"].attrs["step_hours"] == [6, 12] and opened["tp_p90"].attrs["step_hours"] == [0, 12]


@pytest.mark.parametrize("back", [False, True])
def test_spreads_over_two_time_ranges_have_distinct_names(tmp_path: Path, back: bool) -> None:
    """As in a file of GEFS's spread, which has no other fields."""
    messages = [spread(9, 12, 0.5), spread(6, 12, 1.5)]
    tile = cut(tmp_path, *(reversed(messages) if back else messages))
    assert windows(tile) == {"tp_bucket_spread": (9, 12), "tp_6h_spread": (6, 12)}
    assert [float(tile.read(name).max()) for name in ("tp_bucket_spread", "tp_6h_spread")] == [0.5, 1.5]
    assert tile.meta.identity["derived"] == "spread"


@pytest.mark.parametrize(("name", "made"), [("tp_p90", percentile), ("tp_spread", spread)])
def test_statistics_of_sums_since_the_start_are_never_subtracted(tmp_path: Path, name: str, made: Any) -> None:
    """The 90th percentile of 12 hours less that of 6 is not that of the last 6."""
    hours = ((6, 4.0), (12, 9.0))
    messages = [made(0, hour, 90, value) if made is percentile else made(0, hour, value) for hour, value in hours]
    outcome = build(write(tmp_path / "made.grib2", messages), [AFRICA], tmp_path, model="gfs", variables=[name])
    assert len(outcome.tiles) == 2
    series = gribmill.point(0, 20, data=tmp_path, variables=[name], units="native")
    assert [float(value) for value in series.columns[name].values] == [4.0, 9.0]
