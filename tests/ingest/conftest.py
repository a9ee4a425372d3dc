"""A publisher and models that read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from gribmill.ingest.model import Model
from gribmill.ingest.registry import OwnModels, load_models
from gribmill.ingest.session import Session
from tests.ingest.server import Publisher, serving
from tests.ingest.small_grib import SmallFile

ModelAt = Callable[..., Model]


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with serving() as one:
        yield one


@pytest.fixture
def session() -> Iterator[Session]:
    with Session() as one:
        yield one


@pytest.fixture
def hrrr(publisher: Publisher) -> Model:
    return hrrr_at(publisher)


def hrrr_at(publisher: Publisher, mirrors: Sequence[str] = ("aws",)) -> Model:
    """HRRR with some of its mirrors, each a folder of the publisher."""
    roots = {f"{name}-hrrr": f"{publisher.url}{name}/" for name in ("aws", "gcs", "nomads")}
    model = load_models(OwnModels(roots=roots))["hrrr"]
    return replace(model, mirrors=tuple(one for one in model.mirrors if one.name.split("-")[0] in mirrors))


def publish(publisher: Publisher, file: SmallFile, mirrors: Sequence[str] = ("aws",), idx: bytes | None = None) -> None:
    """The file and its index on each of these mirrors."""
    for mirror in mirrors:
        publisher.put(key_of(file, mirror), file.data)
        publisher.put(key_of(file, mirror) + ".idx", file.idx if idx is None else idx)


def key_of(file: SmallFile, mirror: str = "aws") -> str:
    run = file.reference
    return f"{mirror}/hrrr.{run:%Y%m%d}/conus/hrrr.t{run:%H}z.wrfsfcf{file.hour:02d}.grib2"
