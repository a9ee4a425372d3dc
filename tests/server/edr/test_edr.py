"""OGC API – EDR: published clients and schemas accept the responses, which hold the values of the tiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import xarray as xr
from covjson_pydantic.coverage import Coverage
from edr_pydantic.capabilities import ConformanceModel, LandingPageModel
from edr_pydantic.collections import Collection, Collections, Instance, Instances
from edr_pydantic.variables import CubeVariables
from owslib.ogcapi.edr import EnvironmentalDataRetrieval

import gribmill
from gribmill.server.edr.query import QueryTimes, parse_times
from gribmill.settings.schema import Settings
from gribmill.tiles.read.tile import read_tile
from tests.server.data.forecast_root import HOURS, LAT, LON, RUN, make_forecasts
from tests.server.live_server import LiveServer, serving

OLDER, OLDER_HOURS = "20260831_12", 4
FIRST, LAST = "2026-09-01T12:00:00Z", "2026-09-01T18:00:00Z"


@pytest.fixture(scope="module")
def forecast_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("forecasts")
    make_forecasts(root, OLDER, OLDER_HOURS)
    make_forecasts(root)
    return root


@pytest.fixture(scope="module")
def server(forecast_root: Path) -> Iterator[LiveServer]:
    with serving(Settings(data=forecast_root)) as found:
        yield found


@pytest.fixture(scope="module")
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as found:
        yield found


def coverage(client: httpx.Client, path: str, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/edr/collections/{path}", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/prs.coverage+json"
    assert (answer.headers["gribmill-run"], answer.headers["gribmill-complete"]) == (RUN, "true")
    Coverage.model_validate_json(answer.text)
    found: dict[str, Any] = answer.json()
    return found


def test_pages_are_valid_and_link_to_each_other(client: httpx.Client) -> None:
    landing = LandingPageModel.model_validate_json(client.get("/edr").text)
    rels = {link.rel: link.href for link in landing.links}
    assert client.get("/edr/").json() == client.get("/edr").json()
    ConformanceModel.model_validate_json(client.get(rels["conformance"]).text)
    every = Collections.model_validate_json(client.get(rels["data"]).text)
    assert {one.id for one in every.collections} == {"hrrr:boston", "gfs:new_england"}
    one = Collection.model_validate_json(client.get("/edr/collections/hrrr:boston").text)
    assert one.extent.temporal is not None
    assert (one.extent.temporal.values or [])[0] == FIRST
    assert {"t2m", "tp"} <= one.parameter_names.root.keys()
    assert client.get("/edr/collections/hrrr:texas").status_code == 404
    assert client.get("/edr/collections/no").status_code == 404
    assert one.data_queries is not None and one.data_queries.cube is not None
    CubeVariables.model_validate(one.data_queries.cube.link.variables.model_dump())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"bbox": "-72,42,-71,43"}, {"hrrr:boston", "gfs:new_england"}),
        ({"bbox": "-69.5,40.5,-68.5,41"}, {"gfs:new_england"}),
        ({"bbox": "170,-90,-73,90"}, {"gfs:new_england"}),
        ({"bbox": "287,42,290,43"}, {"hrrr:boston", "gfs:new_england"}),
        ({"bbox": "-10,-90,355,90"}, {"hrrr:boston", "gfs:new_england"}),
        ({"bbox": "0,40,10,45"}, set()),
        ({"bbox": "-72,42,-71,43", "datetime": "2026-09-01T18:00:00Z/.."}, {"hrrr:boston", "gfs:new_england"}),
        ({"datetime": "2026-09-01T18:00:01Z/.."}, set()),
        ({"datetime": "../2026-09-01T11:59:59Z"}, set()),
        ({"datetime": "2026-09-01"}, {"hrrr:boston", "gfs:new_england"}),
        ({"datetime": "../2026-09-01"}, {"hrrr:boston", "gfs:new_england"}),
        ({"datetime": "2026-09-01/.."}, {"hrrr:boston", "gfs:new_england"}),
        ({"datetime": "2026-08-30/2026-09-01"}, {"hrrr:boston", "gfs:new_england"}),
        ({"datetime": "../2026-08-31"}, set()),
        ({"datetime": "2026-09-02/.."}, set()),
    ],
)
def test_collections_are_filtered_by_box_and_time(
    client: httpx.Client, query: dict[str, str], expected: set[str]
) -> None:
    found = Collections.model_validate_json(client.get("/edr/collections", params=query).text)
    assert {one.id for one in found.collections} == expected


def test_invalid_filters_are_refused(client: httpx.Client) -> None:
    for query, words in (({"bbox": "1,2"}, "is not a box"), ({"datetime": "now"}, "is not a time")):
        for path in ("/edr/collections", "/edr/collections/hrrr:boston/instances"):
            answer = client.get(path, params=query)
            assert (answer.status_code, words in answer.json()["detail"]) == (400, True)


def test_runs_of_a_collection_are_its_instances(client: httpx.Client) -> None:
    collection = Collection.model_validate_json(client.get("/edr/collections/hrrr:boston").text)
    assert collection.data_queries is not None and collection.data_queries.instances is not None
    listed = Instances.model_validate_json(client.get(collection.data_queries.instances.link.href).text)
    assert [one.id for one in listed.instances] == [RUN, OLDER]
    for one in listed.instances:
        address = next(link.href for link in one.links if link.rel == "self")
        shown = Instance.model_validate_json(client.get(address).text)
        assert shown == one
    times = listed.instances[1].extent.temporal
    assert times is not None and (times.values or [])[-1] == "2026-08-31T15:00:00Z"
    assert "tp" in listed.instances[1].parameter_names.root
    early = client.get("/edr/collections/hrrr:boston/instances?datetime=../2026-09-01T00:00:00Z").json()
    assert [one["id"] for one in early["instances"]] == [OLDER]
    assert any("conf/instances" in one for one in client.get("/edr/conformance").json()["conformsTo"])


@pytest.mark.parametrize(
    ("query", "params"),
    [
        ("position", {"coords": f"POINT({LON} {LAT})"}),
        ("area", {"coords": "POLYGON((-71.4 42.1,-71 42.1,-71 42.4,-71.4 42.1))"}),
        ("cube", {"bbox": "-71.4,42.1,-71,42.4"}),
    ],
)
def test_an_instance_has_the_values_of_its_run(
    client: httpx.Client, forecast_root: Path, query: str, params: dict[str, str]
) -> None:
    path = f"/edr/collections/hrrr:boston/instances/{OLDER}/{query}"
    answer = client.get(path, params={**params, "parameter-name": "tp"})
    Coverage.model_validate_json(answer.text)
    assert answer.headers["gribmill-run"] == OLDER
    found = answer.json()
    assert found["domain"]["axes"]["t"]["values"][0] == "2026-08-31T12:00:00Z"
    shape = found["ranges"]["tp"]["shape"]
    assert shape[0] == OLDER_HOURS
    values = np.array(found["ranges"]["tp"]["values"], float).reshape(OLDER_HOURS, -1)
    np.testing.assert_array_equal(np.nanmax(values[1:], axis=1), [0.5, 2.0, 4.5])
    assert np.isnan(values[0]).all()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("hrrr:boston/instances/20200101_00", 404),
        ("hrrr:boston/instances/20269999_00", 404),
        ("hrrr:texas/instances", 404),
        (f"hrrr:texas/instances/{RUN}", 404),
        ("hrrr:boston/instances/20200101_00/cube?bbox=-72,42,-71,43", 404),
        ("hrrr:boston/instances/newest", 404),
        ("hrrr:boston/instances/..%2f..", 404),
    ],
)
def test_unknown_runs_are_not_found(client: httpx.Client, path: str, status: int) -> None:
    answer = client.get(f"/edr/collections/{path}")
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize("point", [f"{LON:.18f} {LAT:.18f}", f"{LON:e} {LAT:e}"])
def test_coordinates_may_have_all_digits_and_exponents(client: httpx.Client, point: str) -> None:
    usual = coverage(client, "hrrr:boston/position", coords=f"POINT({LON} {LAT})")
    assert coverage(client, "hrrr:boston/position", coords=f"POINT ({point})") == usual


@pytest.mark.parametrize("key", ["parameter-name", "parameter_names"])
def test_a_position_has_the_values_of_point(client: httpx.Client, forecast_root: Path, key: str) -> None:
    found = coverage(client, "hrrr:boston/position", coords=f"POINT({LON} {LAT})", **{key: "t2m,d2m,tp"})
    series = gribmill.point(LAT, LON, data=forecast_root, model="hrrr", units="si")
    assert found["domain"]["axes"]["x"]["values"] == [series.point_lon]
    assert found["domain"]["axes"]["t"]["values"][-1] == LAST
    for name in ("t2m", "d2m"):
        values = np.array(found["ranges"][name]["values"], np.float32)
        np.testing.assert_array_equal(values, np.array(series.columns[name].values, np.float32))
    assert found["ranges"]["d2m"]["values"][3] is None
    # Accumulations are as in their messages: since the start of the run.
    assert found["ranges"]["tp"]["values"] == [None, 0.5, 2.0, 4.5, 8.0, 12.5, 18.0]


def test_a_cube_of_a_regular_grid_has_its_points(client: httpx.Client, forecast_root: Path) -> None:
    found = coverage(client, "gfs:new_england/cube", bbox="-73,41,-70,43", **{"parameter-name": "t2m"})
    tile = read_tile(forecast_root / f"tiles/gfs/{RUN}/new_england/002.npz")
    axes = found["domain"]["axes"]
    assert (axes["x"]["values"], axes["y"]["values"]) == ([-73.0, -72.0, -71.0, -70.0], [41.0, 42.0, 43.0])
    values = np.array(found["ranges"]["t2m"]["values"], np.float32).reshape(found["ranges"]["t2m"]["shape"])
    rows = np.searchsorted(tile.y, [41, 42, 43])
    columns = np.searchsorted((tile.x + 180) % 360 - 180, [-73, -72, -71, -70])
    np.testing.assert_array_equal(values[2], tile.read("t2m")[np.ix_(rows, columns)])


def test_a_cube_of_a_projected_grid_has_the_nearest_points(client: httpx.Client, forecast_root: Path) -> None:
    when = {"datetime": "2026-09-01T14:00:00Z/..", "parameter-name": "t2m"}
    found = coverage(client, "hrrr:boston/cube", bbox="-71.4,42.1,-71,42.4", **when)
    shape = found["ranges"]["t2m"]["shape"]
    assert shape[0] == HOURS - 2
    values = np.array(found["ranges"]["t2m"]["values"], np.float32).reshape(shape)
    tile = read_tile(forecast_root / f"tiles/hrrr/{RUN}/boston/002.npz")
    x, y = (found["domain"]["axes"][axis]["values"] for axis in "xy")
    for j, i in ((0, 0), (3, 5), (shape[1] - 1, shape[2] - 1)):
        row, column = tile.locate(y[j], x[i])
        assert values[0, j, i] == tile.read("t2m")[round(float(row)), round(float(column))]


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("2026-11-19", "2026-11-19T00:00:00", "2026-11-19T23:59:59.999999"),
        ("2026-11-19/2026-11-20", "2026-11-19T00:00:00", "2026-11-20T23:59:59.999999"),
        ("../2026-11-19", None, "2026-11-19T23:59:59.999999"),
        ("/2026-11-19", None, "2026-11-19T23:59:59.999999"),
        ("2026-11-19/..", "2026-11-19T00:00:00", None),
        ("2026-11-19T06:00:00Z/2026-11-19", "2026-11-19T06:00:00", "2026-11-19T23:59:59.999999"),
        ("9999-12-31", "9999-12-31T00:00:00", "9999-12-31T23:59:59.999999"),
        ("2026-11-19T06:00:00+06:00", "2026-11-19T00:00:00", "2026-11-19T00:00:00"),
    ],
)
def test_a_date_is_its_whole_day(text: str, begin: str | None, end: str | None) -> None:
    ends = (None if one is None else datetime.fromisoformat(one).replace(tzinfo=UTC) for one in (begin, end))
    assert parse_times(text) == QueryTimes(*ends)


def test_values_of_a_date_are_those_of_its_day(client: httpx.Client) -> None:
    query = {"coords": f"POINT({LON} {LAT})", "parameter-name": "t2m"}
    day = coverage(client, "hrrr:boston/position", datetime="2026-09-01", **query)
    assert day == coverage(
        client, "hrrr:boston/position", datetime="2026-09-01T00:00:00Z/2026-09-01T23:59:59Z", **query
    )


def test_an_area_is_null_outside_its_polygon(client: httpx.Client) -> None:
    triangle = "POLYGON((-73 41,-70 41,-70 43.5,-73 41))"
    found = coverage(client, "gfs:new_england/area", coords=triangle, datetime=FIRST, **{"parameter-name": "t2m"})
    values = np.array(found["ranges"]["t2m"]["values"], float).reshape(found["ranges"]["t2m"]["shape"])[0]
    assert np.isnan(values[1:, 0]).all()
    assert np.isnan(values).any()
    assert not np.isnan(values).all()


@pytest.mark.parametrize("name", ["hrrr:boston", "gfs:new_england"])
def test_a_polygon_may_have_longitudes_up_to_360(client: httpx.Client, name: str) -> None:
    query = {"parameter-name": "t2m", "datetime": FIRST}
    usual = coverage(client, f"{name}/area", coords="POLYGON((-71.5 42,-70.9 42,-70.9 42.6,-71.5 42))", **query)
    other = coverage(client, f"{name}/area", coords="POLYGON((288.5 42,289.1 42,289.1 42.6,288.5 42))", **query)
    assert other == usual


def test_owslib_finds_collections_and_asks_for_a_position(server: LiveServer) -> None:
    edr = EnvironmentalDataRetrieval(f"{server.url}/edr/")
    assert set(edr.data()) == {"hrrr:boston", "gfs:new_england"}
    assert any("covjson" in one for one in edr.conformance()["conformsTo"])
    body = edr.query_data(
        "hrrr:boston", "position", coords=f"POINT({LON} {LAT})", parameter_names=["t2m"], datetime_=f"{FIRST}/{LAST}"
    )
    found = body if isinstance(body, dict) else json.loads(body.read() if hasattr(body, "read") else body)
    assert list(found["ranges"]) == ["t2m"]
    assert found["ranges"]["t2m"]["shape"] == [HOURS]


@pytest.mark.parametrize("name", ["gfs:new_england", "hrrr:boston"])
def test_edr_xarray_opens_a_collection_lazily(server: LiveServer, name: str) -> None:
    found = xr.open_dataset(
        f"{server.url}/edr/collections/{name}",
        engine="edr",
        parameter_names=["t2m", "tp"],
        bbox=(-71.6, 42.0, -70.9, 43.0),
        datetime=f"{FIRST}/{LAST}",
    )
    assert found.sizes["t"] == HOURS
    assert float(found["tp"].isel(t=2).max()) == 2.0
    part = found["t2m"].isel(t=3, y=slice(0, 2))
    np.testing.assert_array_equal(part.values, found["t2m"].values[3, :2])
    assert np.isnan(found["tp"].values[0]).all()


@pytest.mark.parametrize(
    ("path", "query", "status", "words"),
    [
        ("position", {}, 400, "a point is required"),
        ("position", {"coords": "POINT(200 95)"}, 400, "is not a longitude"),
        ("position", {"coords": "POINT(0 0)"}, 400, "outside the collection"),
        ("position", {"coords": f"POINT({LON} {LAT})", "parameter-name": "x"}, 400, "there is no parameter 'x'"),
        ("position", {"coords": f"POINT({LON} {LAT})", "datetime": "tomorrow"}, 400, "is not a time"),
        ("position", {"coords": f"POINT({LON} {LAT})", "datetime": "0001-01-01T00:00:00+14:00"}, 400, "is not a time"),
        (
            "position",
            {"coords": f"POINT({LON} {LAT})", "datetime": "../9999-12-31T23:59:59-01:00"},
            400,
            "is not a time",
        ),
        ("position", {"coords": f"POINT({LON} {LAT})", "datetime": "2020-01-01T00:00:00Z"}, 400, "no values at that"),
        ("position", {"coords": f"POINT({LON} {LAT})", "crs": "EPSG:3857"}, 400, "coordinates are in CRS84"),
        ("position", {"coords": f"POINT({LON} {LAT})", "f": "NetCDF"}, 400, "responses are CoverageJSON"),
        ("position", {"coords": f"POINT({LON} {LAT})", "z": "850"}, 400, "no vertical axis"),
        ("position", {"coords": ""}, 400, "'' is not a point"),
        ("area", {}, 400, "a polygon is required"),
        ("area", {"coords": "POLYGON((0 0,1 1,0 1))"}, 400, "must end where it begins"),
        ("area", {"coords": "POLYGON((0 0,1 x,0 1,0 0))"}, 400, "is not `longitude latitude`"),
        ("area", {"coords": "POLYGON((0 0,1 0,0 1,0 0))"}, 400, "no grid point in that area"),
        ("cube", {}, 400, "a box is required"),
        ("cube", {"bbox": "1,2,3"}, 400, "is not a box"),
        ("cube", {"bbox": "nan,0,1,1"}, 400, "is not a longitude"),
        ("cube", {"bbox": "0,5,1,1"}, 400, "north of its northern edge"),
    ],
)
def test_invalid_queries_are_refused_with_the_reason(
    client: httpx.Client, path: str, query: dict[str, str], status: int, words: str
) -> None:
    answer = client.get(f"/edr/collections/hrrr:boston/{path}", params=query)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
