"""A new data root for every test, and functions that write into its catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gribmill.catalogue.events import HourIngested, RegionsWanted, RunSeen, TileBuilt, TilesDone
from gribmill.catalogue.reads import Catalogue
from gribmill.identity import HourRef, RunRef
from gribmill.pipeline.context import Context, make_context
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot, TileFolder
from tests.local_path import local


def ingested(hour: HourRef, **facts: Any) -> HourIngested:
    """An hour downloaded with one variable."""
    usual = HourIngested(
        hour, "aws-hrrr", "http://x/y", etag=None, bytes=1, requested_bytes=1, requests=1, sha256="0" * 64,
        found=("t2m",), missing=(), regions=(), asked=(),
    )  # fmt: skip
    return replace(usual, **facts)


class Scribe:
    """Writes rows as the completing transactions of jobs do."""

    def __init__(self, catalogue: Catalogue, root: DataRoot) -> None:
        self.catalogue = catalogue
        self.root = root

    def run(self, run_id: str, hours: Sequence[int], model_id: str = "hrrr", *, final: bool = True) -> None:
        self.catalogue.record([RunSeen(RunRef(model_id, run_id), tuple(hours), final)])

    def hour(self, run_id: str, hour: int, regions: Sequence[str], model_id: str = "hrrr") -> None:
        """A downloaded hour that needs these tiles."""
        self.catalogue.record([ingested(HourRef(model_id, run_id, hour), regions=tuple(regions))])

    def asked(self, run_id: str, hour: int, region: str, model_id: str = "hrrr") -> None:
        """A region that turned out to be outside the hour's file."""
        ref = HourRef(model_id, run_id, hour)
        self.catalogue.record([RegionsWanted(ref, regions=(), asked=(region,)), TilesDone(ref)])

    def tile(self, run_id: str, hour: int, region: str, model_id: str = "hrrr") -> None:
        """A tile, with a file of the recorded size."""
        ref = HourRef(model_id, run_id, hour)
        path = self.place(run_id, hour, region, model_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0123456789")
        self.catalogue.record([TileBuilt(ref.tile(region), 10), TilesDone(ref)])

    def place(self, run_id: str, hour: int, region: str, model_id: str = "hrrr") -> Path:
        return local(TileFolder(self.root.path, model_id, run_id, region).tile(hour * 60))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
def context(settings: Settings) -> Iterator[Context]:
    yield make_context(settings)


@pytest.fixture
def scribe(context: Context) -> Scribe:
    return Scribe(context.catalogue, context.root)
