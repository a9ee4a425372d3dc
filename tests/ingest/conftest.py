"""A publisher and models that read from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest

from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import load_models
from tests.ingest.server import Publisher, serving
from tests.ingest.small_grib import SmallFile


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with serving() as one:
        yield one


@pytest.fixture
def session() -> Iterator[SourceSession]:
    with SourceSession() as one:
        yield one


@pytest.fixture
def hrrr(publisher: Publisher) -> Model:
    return hrrr_at(publisher)


def hrrr_at(publisher: Publisher, mirrors: Sequence[str] = ("aws",)) -> Model:
    """HRRR with some of its mirrors, each a folder of the publisher."""
    model = _hrrr()
    chosen = [one for one in model.mirrors if one.name.split("-")[0] in mirrors]
    return replace(
        model, mirrors=tuple(replace(one, root=f"{publisher.url}{one.name.split('-')[0]}/") for one in chosen)
    )


@cache
def _hrrr() -> Model:
    return load_models()["hrrr"]


def publish(publisher: Publisher, file: SmallFile, mirrors: Sequence[str] = ("aws",), idx: bytes | None = None) -> None:
    """The file and its index on each of these mirrors."""
    for mirror in mirrors:
        publisher.put(key_of(file, mirror), file.data)
        publisher.put(key_of(file, mirror) + ".idx", file.idx if idx is None else idx)


def key_of(file: SmallFile, mirror: str = "aws") -> str:
    run = file.reference
    return f"{mirror}/hrrr.{run:%Y%m%d}/conus/hrrr.t{run:%H}z.wrfsfcf{file.hour:02d}.grib2"
