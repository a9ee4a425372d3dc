"""How each publisher's sums, means and extremes are shown at a point, with their time ranges."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import gribmill
from gribmill.cli.main import cli
from gribmill.tiles.errors import TileError
from tests.tiles.make_tile import Fields, make_tile

LAT, LON = 42.36, -71.06
RAIN: dict[str, Any] = {
    "units": "kg m-2", "long_name": "Precipitation since the run began", "standard_name": None, "level": "surface",
}  # fmt: skip


def over(start: int, end: int, value: float, statistic: str = "accum", **changes: Any) -> tuple[float, dict[str, Any]]:
    """A value over a time range in minutes."""
    return value, {**RAIN, "statistic": statistic, "step_minutes": (start, end), **changes}


def make_run(root: Path, hours: Mapping[float, Fields], model: str = "hrrr") -> None:
    for hour, fields in hours.items():
        make_tile(root, fields, minutes=round(hour * 60), model=model)


def nbm(root: Path) -> None:
    """Hourly sums to 36 h, then files of three hours with sums of six."""
    hourly: dict[float, Fields] = {hour: {"tp_bucket": over((hour - 1) * 60, hour * 60, 0.5)} for hour in range(2, 37)}
    hourly[1] = {"tp": over(0, 60, 0.5)}
    hourly[36] |= {"tp_6h": over(30 * 60, 36 * 60, 3.0)}
    later: dict[float, Fields] = {39: {"t2m": (280.0, {})}, 42: {"tp_bucket": over(36 * 60, 42 * 60, 10.5)}}
    make_run(root, hourly | later | {45: {"t2m": (280.0, {})}, 48: {"tp_bucket": over(42 * 60, 48 * 60, 1.0)}})


def test_nbm_sums_of_six_hours_in_files_of_three_are_shown_at_their_end(tmp_path: Path) -> None:
    nbm(tmp_path)
    column = gribmill.point(LAT, LON, data=tmp_path, variables=["tp"]).columns["tp"]
    assert column.values[:36] == (0.5,) * 36
    assert column.windows is not None
    assert column.windows[36:] == (None, (36 * 60, 42 * 60), None, (42 * 60, 48 * 60))
    assert [value for value in column.values[36:] if not math.isnan(value)] == [10.5, 1.0]
    assert math.fsum(value for value in column.values if not math.isnan(value)) == 29.5


def test_nbm_sums_are_found_by_a_name_with_their_length(tmp_path: Path) -> None:
    nbm(tmp_path)
    series = gribmill.point(LAT, LON, data=tmp_path, variables=["tp_6h", "tp_24h"])
    six, day = series.columns["tp_6h"], series.columns["tp_24h"]
    assert six.values[series.steps.index(36 * 60)] == 3.0
    assert six.values[series.steps.index(12 * 60)] == 3.0  # six sums of an hour
    assert six.values[series.steps.index(42 * 60)] == 10.5
    assert math.isnan(six.values[series.steps.index(39 * 60)])
    assert day.values[-1] == 6 + 10.5 + 1.0
    assert day.windows is not None
    assert day.windows[-1] == (24 * 60, 48 * 60)
    assert day.long_name == "Precipitation over 24 h"


def test_the_first_quarter_of_an_hour_of_hrrr_and_every_later_one_are_shown(tmp_path: Path) -> None:
    make_run(
        tmp_path,
        {quarter / 4: {"tp_bucket": over(15 * (quarter - 1), 15 * quarter, quarter)} for quarter in range(1, 9)},
    )
    column = gribmill.point(LAT, LON, data=tmp_path).columns["tp_bucket"]
    assert column.values == tuple(range(1, 9))
    assert column.windows == tuple((15 * (quarter - 1), 15 * quarter) for quarter in range(1, 9))
    hourly = gribmill.point(LAT, LON, data=tmp_path, variables=["tp_1h"]).columns["tp_1h"]
    assert hourly.values[3::4] == (10.0, 26.0)


def quarters_in_members(root: Path) -> None:
    """Hours 1 and 2 as the chain files them: four members, each with a tile per hour."""
    for quarter in range(1, 9):
        minutes, model = 15 * quarter, f"hrrr_subh.m{15 * quarter % 60:02d}"
        fields: Fields = {"t2m": (280.0 + quarter, {}), "tp_bucket": over(minutes - 15, minutes, float(quarter))}
        path = make_tile(root, fields, minutes=minutes, model=model)
        path.rename(path.with_name(f"{-(-minutes // 60):03d}.npz"))


def test_the_quarters_of_an_hour_of_hrrr_are_one_series_over_its_members(tmp_path: Path) -> None:
    quarters_in_members(tmp_path)
    for model in ("hrrr_subh", None):
        series = gribmill.point(LAT, LON, data=tmp_path, model=model, units="si")
        assert series.model == "hrrr_subh"
        assert series.steps == tuple(range(15, 121, 15))
        assert series.columns["t2m"].values == tuple(281.0 + number for number in range(8))
        assert series.columns["tp_bucket"].values == tuple(range(1, 9))
        assert series.columns["tp_bucket"].minutes == (15,) * 8
    run = gribmill.open_run("hrrr_subh", data=tmp_path)
    assert run["tp_bucket"][:, 0, 0].values.tolist() == list(range(1, 9))
    assert "time_15min" in run.coords
    alone = gribmill.point(LAT, LON, data=tmp_path, model="hrrr_subh.m30")
    assert (alone.model, alone.steps) == ("hrrr_subh.m30", (30, 90))


def test_a_damaged_quarter_of_an_hour_leaves_its_own_row_empty(tmp_path: Path) -> None:
    quarters_in_members(tmp_path)
    path = tmp_path / "tiles/hrrr_subh.m45/20230722_06/boston/002.npz"
    path.write_bytes(path.read_bytes()[:-40])
    series = gribmill.point(LAT, LON, data=tmp_path, model="hrrr_subh")
    assert series.steps == tuple(range(15, 121, 15))
    assert [math.isnan(value) for value in series.columns["t2m"].values] == [False] * 6 + [True, False]


def test_members_of_an_ensemble_are_never_one_series(tmp_path: Path) -> None:
    for number in (1, 2):
        make_run(tmp_path, {number: {"t2m": (280.0, {})}}, model=f"toy.m{number:02d}")
    assert gribmill.point(LAT, LON, data=tmp_path).model == "toy.m01"
    with pytest.raises(TileError, match="toy is an ensemble with 2 members"):
        gribmill.point(LAT, LON, data=tmp_path, model="toy")


def test_quarters_of_an_hour_in_hourly_files_keep_their_own_time_range(tmp_path: Path) -> None:
    make_run(tmp_path, {1.25: {"tp_bucket": over(60, 75, 1.0)}, 2.25: {"tp_bucket": over(120, 135, 2.0)}})
    column = gribmill.point(LAT, LON, data=tmp_path).columns["tp_bucket"]
    assert column.values == (1.0, 2.0)
    assert column.windows == ((60, 75), (120, 135))


def test_gfs_buckets_that_reset_every_six_hours_are_differenced(tmp_path: Path) -> None:
    rates = [1.0, 0.0, 2.0, 0.5, 0.5, 1.0, 3.0, 0.25, 0.0]
    hours: dict[float, Fields] = {}
    for hour in range(1, 10):
        reset = (hour - 1) // 6 * 6
        hours[hour] = {"tp_bucket": over(reset * 60, hour * 60, sum(rates[reset:hour]))}
    make_run(tmp_path, hours)
    column = gribmill.point(LAT, LON, data=tmp_path).columns["tp_bucket"]
    assert column.values == tuple(rates)
    assert column.minutes == (60,) * 9


def test_ecmwf_sums_from_the_start_are_differenced_and_also_shown_whole(tmp_path: Path) -> None:
    make_run(tmp_path, {hour: {"tp": over(0, hour * 60, float(hour**2))} for hour in (0, 3, 6, 9, 15)})
    series = gribmill.point(LAT, LON, data=tmp_path, variables=["tp", "tp_run"])
    assert series.columns["tp"].values[1:] == (9.0, 27.0, 45.0, 144.0)
    assert series.columns["tp"].minutes == (0, 180, 180, 180, 360)
    assert series.columns["tp_run"].values == (0.0, 9.0, 36.0, 81.0, 225.0)
    assert series.columns["tp_run"].windows is not None
    assert series.columns["tp_run"].windows[1:] == tuple((0, hour * 60) for hour in (3, 6, 9, 15))


def test_gfs_means_that_reset_are_those_of_each_hour(tmp_path: Path) -> None:
    hourly = [0.0, 100.0, 200.0, 300.0, 200.0, 100.0, 50.0, 0.0]
    hours: dict[float, Fields] = {}
    for hour in range(1, 9):
        reset = (hour - 1) // 6 * 6
        mean = sum(hourly[reset:hour]) / (hour - reset)
        hours[hour] = {"dswrf_avg": over(reset * 60, hour * 60, mean, "avg", units="W m-2")}
    make_run(tmp_path, hours)
    column = gribmill.point(LAT, LON, data=tmp_path, units="si").columns["dswrf_avg"]
    assert column.values == pytest.approx(hourly, abs=1e-3)
    assert column.minutes == (60,) * 8
    six = gribmill.point(LAT, LON, data=tmp_path, units="si", variables=["dswrf_avg_6h"]).columns["dswrf_avg_6h"]
    assert six.values[5] == 150.0


def test_means_of_signed_quantities_and_percentages_stay_on_their_scale(tmp_path: Path) -> None:
    for hour, wind, cloud in ((1, 2.0, 100.0), (2, -1.0, 100.4)):
        make_tile(
            tmp_path,
            {
                "u10_avg": over(0, hour * 60, wind, "avg", units="m s-1"),
                "tcc_avg": over(0, hour * 60, cloud, "avg", units="%"),
            },
            minutes=hour * 60,
        )
    columns = gribmill.point(LAT, LON, data=tmp_path, units="si", variables=["u10_avg", "tcc_avg"]).columns
    assert columns["u10_avg"].values == (2.0, -4.0)
    assert columns["tcc_avg"].values == (100.0, 100.0)


def test_extremes_have_the_time_range_of_their_message(tmp_path: Path) -> None:
    def warmest(start: int, end: int, value: float) -> tuple[float, dict[str, Any]]:
        return over(start * 60, end * 60, value, "max", units="K")

    make_run(
        tmp_path,
        {
            6: {"t2m_max": warmest(0, 6, 290.0)},
            12: {"t2m_max": warmest(6, 12, 295.0), "t2m_max_12h": warmest(0, 12, 295.0)},
            18: {"t2m_max": warmest(6, 18, 299.0)},
        },
    )
    series = gribmill.point(LAT, LON, data=tmp_path, units="si", variables=["t2m_max", "t2m_max_12h"])
    assert series.columns["t2m_max"].values == (290.0, 295.0, 299.0)
    assert series.columns["t2m_max"].windows == ((0, 360), (360, 720), (360, 1080))
    assert series.columns["t2m_max_12h"].windows == (None, (0, 720), (360, 1080))
    assert list(gribmill.point(LAT, LON, data=tmp_path).columns) == ["t2m_max"]


def point_of(root: Path, *words: str) -> str:
    found = CliRunner().invoke(cli, ["--data", str(root), "point", str(LAT), str(LON), *words], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def test_table_json_and_csv_say_what_a_value_covers(tmp_path: Path) -> None:
    nbm(tmp_path)
    table = point_of(tmp_path, "--vars", "tp").splitlines()
    assert any("+42" in line and line.rstrip().endswith("10.5/6h") for line in table)
    assert any("+36" in line and line.rstrip().endswith(" 0.5") for line in table)
    assert any(
        "+42" in line and line.rstrip().endswith(" 10.5") for line in point_of(tmp_path, "--vars", "tp_6h").splitlines()
    )
    plain = json.loads(point_of(tmp_path, "--vars", "tp", "--json"))
    assert plain["window_minutes"]["tp"][-3:] == [[36 * 60, 42 * 60], None, [42 * 60, 48 * 60]]
    rows = list(csv.DictReader(io.StringIO(point_of(tmp_path, "--vars", "tp", "--csv"))))
    assert [(row["tp [mm]"], row["tp interval [h]"]) for row in rows[-4:]] == [
        ("", "0"),
        ("10.5", "6"),
        ("", "0"),
        ("1", "6"),
    ]
