"""Files without a usable index: scanned by their headers, fetched whole, or read from local folders."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gribmill.ingest.download.download import download
from gribmill.ingest.download.download_plan import Downloaded, Limits
from gribmill.ingest.download.errors import DownloadFailed, NotYet, Permanent, Retryable
from gribmill.ingest.download.verify_message import member_of
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import wanted
from gribmill.ingest.mirror import Mirror, hosts
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import OwnModels, load_models
from tests.ingest.conftest import hrrr_at, key_of, publish
from tests.ingest.server import Publisher
from tests.ingest.small_grib import FIELDS, RUN, WANTED, make_file, message, usual_file
from tests.make_grib import make_message

FILE = usual_file()
TMP_TOO = {*WANTED, "t500"}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "spool" / "001.grib2"


def _download(model: Model, target: Path, names: tuple[str, ...] = WANTED, **limits: float) -> Downloaded:
    with SourceSession() as session:
        chosen = Limits(retry_pause_seconds=0.0, **limits)  # type: ignore[arg-type]
        return download(model, RUN, 1, wanted(names), target, session=session, limits=chosen)


def _without_index(model: Model) -> Model:
    return replace(model, layouts=tuple(replace(layout, index="none") for layout in model.layouts))


@pytest.mark.parametrize("ranges", [True, False])
def test_a_source_without_an_index_is_fetched_whole(publisher: Publisher, target: Path, ranges: bool) -> None:
    publisher.ranges = ranges
    publisher.put(key_of(FILE), FILE.data)
    got = _download(_without_index(hrrr_at(publisher)), target)
    assert target.read_bytes() == FILE.spool(TMP_TOO)
    assert (got.way, got.url, got.mirror) == ("whole", publisher.url + key_of(FILE), "aws-hrrr")
    assert got.requested_bytes == len(FILE.data)
    assert got.etag == publisher.objects[key_of(FILE)].etag
    assert [path.name for path in target.parent.iterdir()] == ["001.grib2"]


def test_a_quantity_at_another_level_only_is_missing(publisher: Publisher, target: Path) -> None:
    file = make_file([("t500",), ("d2m",), ("tp",)], [900, 900, 900], RUN, 1, 0)
    publisher.put(key_of(file), file.data)
    got = _download(_without_index(hrrr_at(publisher)), target, ("t2m", "d2m", "tp", "u10"))
    assert (set(got.found), set(got.missing)) == ({"d2m", "tp"}, {"t2m", "u10"})


def test_whole_file_is_read_only_up_to_its_content_length(publisher: Publisher, target: Path) -> None:
    publisher.ranges = False
    publisher.put(key_of(FILE), FILE.data)
    publisher.fault("endless", skip=1, times=1)  # after the HEAD
    most: list[int] = []

    def seen(done: int, total: int) -> None:
        most.append(done)
        assert done <= len(FILE.data)

    model = _without_index(hrrr_at(publisher))
    with SourceSession() as session:
        got = download(model, RUN, 1, wanted(WANTED), target, session=session, progress=seen)
    assert target.read_bytes() == FILE.spool(TMP_TOO)
    assert (got.way, max(most)) == ("whole", len(FILE.data))


def test_a_whole_file_may_be_written_to_a_relative_path(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    publisher.put(key_of(FILE), FILE.data)
    _download(_without_index(hrrr_at(publisher)), Path("001.grib2"))
    assert (tmp_path / "001.grib2").read_bytes() == FILE.spool(TMP_TOO)


@pytest.mark.parametrize("index", [True, False])
def test_a_host_that_ignores_ranges_gives_the_whole_file(publisher: Publisher, target: Path, index: bool) -> None:
    publish(publisher, FILE)
    publisher.fault("no206", ranged=True)
    got = _download(hrrr_at(publisher) if index else _without_index(hrrr_at(publisher)), target)
    assert target.read_bytes() == FILE.spool(TMP_TOO)
    assert got.way == "whole"


def test_whole_file_resumes_after_a_failure(
    publisher: Publisher, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gribmill.ingest.download.without_index.BLOCK_BYTES", 10_000)
    publisher.put(key_of(FILE), FILE.data)
    publisher.fault("truncate", ranged=True, times=1, value=35_000)
    fault = publisher.fault("status", ranged=True, value=500)
    model = _without_index(hrrr_at(publisher))
    with pytest.raises(Retryable):
        _download(model, target)
    publisher.faults.remove(fault)
    got = _download(model, target)
    assert target.read_bytes() == FILE.spool(TMP_TOO)
    assert got.requested_bytes == len(FILE.data) - 30_000


def test_a_whole_file_beyond_the_limit_is_refused(publisher: Publisher, target: Path) -> None:
    publisher.put(key_of(FILE), FILE.data)
    with pytest.raises(DownloadFailed, match="limit of 1000"):
        _download(_without_index(hrrr_at(publisher)), target, whole_bytes=1000)
    assert not any(request.sent for request in publisher.asked())


@pytest.mark.parametrize(
    "damage",
    [
        FILE.data[:-5], FILE.data[5:], FILE.data[:4000] + FILE.data[4001:], b"<html>no GRIB</html>" * 500,
        FILE.messages[0] + bytes(10_000) + FILE.messages[1],
    ],
    ids=["end missing", "start missing", "a byte missing", "a page", "a hole"],
)  # fmt: skip
def test_a_damaged_whole_file_is_refused(publisher: Publisher, target: Path, damage: bytes) -> None:
    publisher.put(key_of(FILE), damage)
    with pytest.raises(Retryable):
        _download(_without_index(hrrr_at(publisher)), target)
    assert not target.exists()


def test_a_file_without_messages_of_the_run_gives_nothing(publisher: Publisher, target: Path) -> None:
    publisher.put(key_of(FILE), usual_file(reference=RUN - timedelta(hours=6)).data)
    with pytest.raises(Permanent):
        _download(_without_index(hrrr_at(publisher)), target)


def test_headers_are_not_scanned_on_a_rate_limited_host(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE, ("nomads",), idx=b"stale")
    got = _download(hrrr_at(publisher, ("nomads",)), target)
    assert got.way == "whole"
    assert len(publisher.requests) < 6


def test_a_header_scan_is_bounded(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE, idx=b"stale")
    with pytest.raises(Retryable, match="more than 3 messages"):
        _download(hrrr_at(publisher), target, walked_messages=3)


def test_local_file_may_have_more_messages(publisher: Publisher, target: Path) -> None:
    publisher.put(key_of(FILE), FILE.data)
    _download(_without_index(hrrr_at(publisher)), target, walked_messages=3)
    assert target.read_bytes() == FILE.spool(TMP_TOO)
    with pytest.raises(Retryable, match="more than 3 messages"):
        _download(_without_index(hrrr_at(publisher)), target, local_messages=3)


def test_a_header_scan_requests_few_bytes(publisher: Publisher, target: Path) -> None:
    file = usual_file(size=100_000)
    publish(publisher, file, idx=b"stale")
    got = _download(hrrr_at(publisher), target)
    assert (got.way, target.read_bytes()) == ("walk", file.spool(TMP_TOO))
    assert got.requested_bytes < len(file.spool(TMP_TOO)) * 1.1


def test_a_header_scan_finds_both_fields_of_a_message(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE, idx=b"stale")
    assert set(_download(hrrr_at(publisher), target, ("v10",)).found) == {"v10"}
    assert target.read_bytes() == FILE.messages[4]


def _own(model: Model, folder: Path) -> Model:
    return replace(model, mirrors=(Mirror("mine", folder.as_uri() + "/", hosts()["other"]),))


@pytest.mark.parametrize("with_index", [True, False])
def test_local_files_are_a_source(hrrr: Model, tmp_path: Path, target: Path, with_index: bool) -> None:
    path = tmp_path / "own" / key_of(FILE).removeprefix("aws/")
    path.parent.mkdir(parents=True)
    path.write_bytes(FILE.data)
    if with_index:
        path.with_name(path.name + ".idx").write_bytes(FILE.idx)
    got = _download(_own(hrrr, tmp_path / "own"), target)
    assert target.read_bytes() == (FILE.spool() if with_index else FILE.spool(TMP_TOO))
    assert (got.way, got.mirror) == ("index" if with_index else "walk", "mine")
    assert path.read_bytes() == FILE.data


def test_missing_local_files_and_folders_are_refused(hrrr: Model, tmp_path: Path, target: Path) -> None:
    model = _own(hrrr, tmp_path / "own")
    with pytest.raises(NotYet):
        _download(model, target)
    (tmp_path / "own" / key_of(FILE).removeprefix("aws/")).mkdir(parents=True)
    with pytest.raises(Retryable, match="not a regular file"):
        _download(model, target)


def test_local_grib1_file_is_read(hrrr: Model, tmp_path: Path, target: Path) -> None:
    messages = [
        make_message("gfs-small", name, reference=RUN, step=step, edition=1, packing="grid_simple")
        for name, step in (("2t", 1), ("2t", 2), ("sp", 1), ("msl", 1))
    ]
    path = tmp_path / "own" / key_of(FILE).removeprefix("aws/")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(messages))
    _download(_own(hrrr, tmp_path / "own"), target, ("t2m", "sp"))
    assert messages[0] in target.read_bytes()
    assert messages[1] not in target.read_bytes()


def _ensemble(publisher: Publisher) -> tuple[dict[str, Model], str, list[bytes], str]:
    models = load_models(OwnModels(roots={"aws-ecmwf": f"{publisher.url}ec/"}))
    model = models["ifs_enfo.pf02"]
    only = replace(model, mirrors=(model.mirrors[0],))
    key = only.urls(RUN, 3)[0].grib_url.removeprefix(publisher.url)
    messages = [
        message(FIELDS[name], bytes([member]) * 500, hour=3, member=member)
        for member in (1, 2, 3)
        for name in ("t2m", "u10")
    ]
    lines, offset = [], 0
    for at, one in enumerate(messages):
        row = {
            "domain": "g", "date": f"{RUN:%Y%m%d}", "time": f"{RUN:%H}00", "expver": "0001", "class": "od",
            "type": "pf", "stream": "enfo", "step": "3", "levtype": "sfc", "number": str(at // 2 + 1),
            "param": ("2t", "10u")[at % 2], "_offset": offset, "_length": len(one),
        }  # fmt: skip
        lines.append(json.dumps(row))
        offset += len(one)
    return {"model": only}, key, messages, "\n".join(lines)


@pytest.mark.parametrize("usable", [True, False])
def test_one_member_is_read_from_a_file_of_all(publisher: Publisher, target: Path, usable: bool) -> None:
    models, key, messages, index = _ensemble(publisher)
    publisher.put(key, b"".join(messages))
    stale = index.replace(f'"_length": {len(messages[0])}', f'"_length": {len(messages[0]) - 30}')
    publisher.put(key.replace(".grib2", ".index"), (index if usable else stale).encode())
    with SourceSession() as session:
        got = download(models["model"], RUN, 3, wanted(["t2m", "u10"]), target, session=session)
    assert target.read_bytes() == messages[2] + messages[3]
    assert (got.way, set(got.found)) == ("index" if usable else "walk", {"t2m", "u10"})


def test_a_truncated_ecmwf_index_is_detected(publisher: Publisher, target: Path) -> None:
    models, key, messages, index = _ensemble(publisher)
    publisher.put(key, b"".join(messages))
    publisher.put(key.replace(".grib2", ".index"), "\n".join(index.splitlines()[:3]).encode())
    with SourceSession() as session:
        got = download(models["model"], RUN, 3, wanted(["t2m", "u10"]), target, session=session)
    assert (got.way, target.read_bytes()) == ("walk", messages[2] + messages[3])


def test_only_the_members_own_messages_are_fetched() -> None:
    endings = {"pf:7": 7, "cf": 0, "ENS=+1": 1, "fc": None, "": None, "ENS=low-res ctl": None, "ens mean": None}
    assert {ending: member_of((ending,)) for ending in endings} == endings
