"""Downloads over real HTTP: exactly the wanted messages, at little cost."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gribmill.ingest.download import download
from gribmill.ingest.model import Model
from gribmill.ingest.published import published
from gribmill.ingest.session import Session
from gribmill.pipeline.wanted import wanted
from tests.ingest.conftest import publish
from tests.ingest.server import Publisher
from tests.ingest.small_grib import RUN, WANTED, usual_file


def test_the_spool_is_the_wanted_messages_in_the_order_of_the_source(
    publisher: Publisher, hrrr: Model, session: Session, tmp_path: Path
) -> None:
    file = usual_file()
    publish(publisher, file)
    got = download(hrrr, RUN, 1, wanted(WANTED), tmp_path / "001.grib2", session=session)
    data = (tmp_path / "001.grib2").read_bytes()
    assert data == file.spool()
    assert got.sha256 == hashlib.sha256(data).hexdigest()
    assert (got.bytes, got.way, got.mirror) == (len(data), "index", "aws-hrrr")
    assert set(got.found) == set(WANTED)
    assert got.missing == ()
    for one in got.messages:
        assert data[one.offset : one.offset + one.length] == file.data[one.source_offset :][: one.length]
    assert [path.name for path in tmp_path.iterdir()] == ["001.grib2"]


def test_published_and_download(publisher: Publisher, hrrr: Model, session: Session, tmp_path: Path) -> None:
    for hour in (0, 1, 2):
        publish(publisher, usual_file(hour))
    found = published(hrrr, RUN, hrrr.mirrors[0], session)
    assert sorted(found) == [0, 1, 2]
    got = download(hrrr, RUN, 1, wanted(WANTED), tmp_path / "001.grib2", session=session, known=found[1])
    assert got.etag == found[1].etag
