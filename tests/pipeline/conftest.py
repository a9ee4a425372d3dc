"""A data root of its own for every test, and a hand that writes into its catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gribmill.catalogue.reads import Catalogue, write
from gribmill.pipeline.context import Context, make_context
from gribmill.settings import Settings


class Scribe:
    """Writes rows as the completing transactions of jobs do."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def run(self, run_id: str, hours: Sequence[int], model_id: str = "hrrr", *, final: bool = True) -> None:
        run = {"model_id": model_id, "run_id": run_id}
        self.catalogue.apply([write("see_run", **run, hours=json.dumps(hours), final=int(final))])

    def hour(self, run_id: str, hour: int, regions: Sequence[str], model_id: str = "hrrr") -> None:
        """A downloaded hour that wants these tiles."""
        facts = {
            "mirror": "aws-hrrr", "url": "http://x/y", "etag": None, "bytes": 1, "requested_bytes": 1, "requests": 1,
            "sha256": "", "found": json.dumps(["t2m"]), "missing": "[]", "keep_grib": 0,
        }  # fmt: skip
        key = {"model_id": model_id, "run_id": run_id, "hour": hour}
        self.catalogue.apply([write("record_ingest", **key, **facts, regions=json.dumps(regions), asked="[]")])

    def asked(self, run_id: str, hour: int, region: str, model_id: str = "hrrr") -> None:
        """A region that the hour's file turned out not to reach."""
        key = {"model_id": model_id, "run_id": run_id, "hour": hour}
        wants = write("want_regions", **key, regions="[]", asked=json.dumps([region]), keep_grib=0)
        self.catalogue.apply([wants, write("finish_hour", **key)])

    def tile(self, run_id: str, hour: int, region: str, model_id: str = "hrrr") -> None:
        key = {"model_id": model_id, "run_id": run_id, "hour": hour}
        self.catalogue.apply(
            [
                write("record_tile", **key, region=region, bytes=10),
                write("finish_hour", **key),
                write("finish_run", **key),
            ]
        )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
def context(settings: Settings) -> Iterator[Context]:
    yield make_context(settings)


@pytest.fixture
def scribe(context: Context) -> Scribe:
    return Scribe(context.catalogue)
