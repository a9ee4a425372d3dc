"""Collections: one for each model and region, with its newest complete run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gribmill.identity import run_time
from gribmill.server.data.point_answer import PointSource
from gribmill.server.edr.query import QueryBox, QueryTimes
from gribmill.server.problems import HttpProblem
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.kept_tiles import OpenFolder
from gribmill.tiles.read.point.point import Candidate, PointRequest
from gribmill.tiles.read.tile import Tile

FORMAT = "CoverageJSON"
MEDIA_TYPE = "application/prs.coverage+json"
QUERIES = ("position", "area", "cube")
WKT = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],'
    'UNIT["degree",0.0174532925199433],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]'
)


@dataclass(frozen=True, slots=True)
class Collection:
    """The tiles of one run over one region."""

    candidate: Candidate
    state: OpenFolder

    @property
    def id(self) -> str:
        folder = self.candidate.choice.folders[0]
        return f"{folder.model}:{folder.region}"

    @property
    def tile(self) -> Tile:
        return self.candidate.tile

    @property
    def run(self) -> str:
        return self.candidate.choice.run

    @property
    def times(self) -> dict[int, datetime]:
        """The valid time of each step."""
        begin = run_time(self.run)
        return {step: begin + timedelta(minutes=step) for step in self.state.paths}

    def fits(self, bounds: QueryBox | None, times: QueryTimes) -> bool:
        """Whether it overlaps the box (None: anywhere) and the times."""
        moments = [*self.times.values()]
        inside = bounds is None or bounds.overlaps(QueryBox(*map(float, self.tile.meta.region.box)))
        return inside and bool(moments) and times.overlaps(moments[0], moments[-1])

    @property
    def variables(self) -> dict[str, VariableMeta]:
        """Variables by name, as described in the last hour that has each: the first hour may lack accumulations."""
        tiles = self.state.tiles or (self.tile,)
        return {name: meta for tile in tiles for name, meta in sorted(tile.meta.variables.items())}


def collections(source: PointSource) -> list[Collection]:
    """Every model and region that has tiles."""
    found = source.source.candidates(PointRequest(source.tiles.root))
    return [Collection(one, source.tiles.folder(one.choice.folders[0], wait=source.wait)) for one in found]


def collection(source: PointSource, name: str) -> Collection:
    """The collection with this id; raises a problem 404 if there is none."""
    model, _, region = name.partition(":")
    for candidate in source.source.candidates(PointRequest(source.tiles.root)):
        folder = candidate.choice.folders[0]
        if (folder.model, folder.region) == (model, region):
            return Collection(candidate, source.tiles.folder(folder, wait=source.wait))
    raise HttpProblem(404, f"there is no collection {name}")


def time_of(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def description(base: str, one: Collection) -> dict[str, Any]:
    """A collection as EDR describes it, with its newest complete run."""
    address = f"{base}/collections/{one.id}"
    found = _described(address, one.id, one)
    found["links"].append({"href": f"{address}/instances", "rel": "data", "type": "application/json"})
    found["data_queries"]["instances"] = {
        "link": {"href": f"{address}/instances", "rel": "data", "variables": {"query_type": "instances"}}
    }
    return found


def instance_description(base: str, one: Collection) -> dict[str, Any]:
    """One run of a collection, as EDR describes instances."""
    address = f"{base}/collections/{one.id}"
    found = _described(f"{address}/instances/{one.run}", one.run, one)
    found["links"].append({"href": address, "rel": "collection", "type": "application/json"})
    return found


def _described(address: str, name: str, one: Collection) -> dict[str, Any]:
    choice, region = one.candidate.choice, one.tile.meta.region
    moments = [time_of(moment) for moment in one.times.values()]
    model = choice.folders[0].model
    whole = {True: "complete", False: "incomplete", None: "not known to be complete"}[choice.complete]
    return {
        "id": name,
        "title": f"{model.upper()}, {region.title or region.name}",
        "description": f"Run {one.run} of {model}, {whole}: {choice.sentence}. Values are those of the nearest grid "
        f"point, in the units of the GRIB file.",
        "keywords": [model, region.name, one.run],
        "links": [
            {"href": address, "rel": "self", "type": "application/json"},
            *({"href": f"{address}/{query}", "rel": "data", "type": MEDIA_TYPE} for query in QUERIES),
        ],
        "extent": {
            "spatial": {"bbox": [_bbox(region.box)], "crs": "CRS84"},
            "temporal": {"interval": [[moments[0], moments[-1]]], "values": moments, "trs": "Gregorian"},
        },
        "data_queries": {query: {"link": _query_link(address, query)} for query in QUERIES},
        "crs": ["CRS84"],
        "output_formats": [FORMAT],
        "parameter_names": {name: _parameter(name, meta) for name, meta in one.variables.items()},
    }


def _bbox(box: Sequence[float]) -> list[float]:
    return [float(edge) for edge in box]


def _query_link(address: str, query: str) -> dict[str, Any]:
    variables: dict[str, Any] = {
        "query_type": query,
        "output_formats": [FORMAT],
        "default_output_format": FORMAT,
        "crs_details": [{"crs": "CRS84", "wkt": WKT}],
    }
    if query == "cube":
        variables["height_units"] = []  # required; there is no vertical axis
    return {"href": f"{address}/{query}", "rel": "data", "variables": variables}


def _parameter(name: str, meta: VariableMeta) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "Parameter",
        "description": text_of(meta),
        "unit": {"symbol": meta.units or "1"},
        "observedProperty": {"id": meta.standard_name or name, "label": meta.long_name or name},
    }
    if meta.statistic != "instant":
        start, end = meta.step_minutes
        found["measurementType"] = {"method": meta.statistic, "duration": f"-PT{end - start}M"}
    return found


def text_of(meta: VariableMeta) -> str:
    """Name and level; for sums, means and extremes also the period."""
    over = "" if meta.statistic == "instant" else f", {meta.statistic} over the time range of its message"
    return f"{meta.long_name}, {meta.level}{over}"
