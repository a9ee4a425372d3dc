"""Any fault of a mirror gives the right bytes or a clear failure, never wrong bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gribmill.ingest.available_hours import published
from gribmill.ingest.download import fetch
from gribmill.ingest.download.download import download
from gribmill.ingest.download.download_plan import Downloaded, Limits
from gribmill.ingest.download.errors import DownloadFailed, NotYet, Retryable
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.deadline import Timeouts
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.model import Model
from tests.ingest.conftest import hrrr_at, key_of, publish
from tests.ingest.server import Publisher, Request, serving
from tests.ingest.small_grib import RUN, WANTED, SmallFile, message, usual_file

pytestmark = pytest.mark.slow

FILE = usual_file()
QUICK = Limits(retry_pause_seconds=0.0)


def _download(publisher: Publisher, target: Path, mirrors: tuple[str, ...] = ("aws",), **options: object) -> Downloaded:
    timeouts = Timeouts(read=5.0)
    with SourceSession(timeouts=timeouts) as session:
        return download(
            hrrr_at(publisher, mirrors),
            RUN,
            1,
            wanted(WANTED),
            target,
            session=session,
            limits=QUICK,
            **options,  # type: ignore[arg-type]
        )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "001.grib2"


@pytest.mark.parametrize(("kind", "value"), [("truncate", 100), ("truncate", 1), ("reset", None), ("status", 502)])
def test_a_broken_connection_is_resumed_on_the_same_mirror(
    publisher: Publisher, target: Path, kind: str, value: object
) -> None:
    publish(publisher, FILE)
    publisher.fault(kind, match=".grib2", ranged=True, times=2, value=value)
    got = _download(publisher, target)
    assert target.read_bytes() == FILE.spool()
    assert got.mirror == "aws-hrrr"


def test_after_a_broken_connection_only_the_rest_is_requested(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE)
    publisher.fault("truncate", match=".grib2", ranged=True, times=1, value=1000)
    _download(publisher, target)
    ranges = [request.range for request in publisher.asked() if request.range]
    cut = next(request for request in publisher.asked() if request.range and request.sent == 1000)
    assert cut.range is not None
    assert (cut.range[0] + 1000, cut.range[1]) in ranges


def test_a_connection_that_breaks_after_the_last_byte_costs_no_further_request(
    publisher: Publisher, target: Path
) -> None:
    publish(publisher, FILE)
    publisher.fault("no end", match=".grib2", ranged=True)
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()
    ranges = [request.range for request in publisher.asked() if request.range]
    assert len(ranges) == len({*ranges})


FAULTS = [
    ("truncate", 10), ("reset", None), ("status", 500), ("status", 404), ("status", 403), ("retry", (503, "3")),
    ("no206", None), ("redirect", "http://localhost:1/robots.html"), ("html", None), ("range", "bytes 0-9/10"),
    ("length", 9), ("length", -9), ("etag", '"other"'), ("encoding", None), ("flip", 0), ("flip", 7), ("flip", 12),
    ("flip", 20),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), FAULTS)
def test_ranges_that_keep_failing_are_fetched_from_the_next_mirror(
    publisher: Publisher, target: Path, kind: str, value: object
) -> None:
    publish(publisher, FILE, ("aws", "gcs"))
    publisher.fault(kind, match="aws/", ranged=True, value=value)
    got = _download(publisher, target, ("aws", "gcs"))
    assert target.read_bytes() == FILE.spool()
    assert got.mirror == "gcs-hrrr"


@pytest.mark.parametrize(("kind", "value"), FAULTS)
def test_ranges_that_fail_everywhere_leave_nothing_or_the_right_bytes(
    publisher: Publisher, target: Path, kind: str, value: object
) -> None:
    publish(publisher, FILE)
    publisher.fault(kind, match="aws/", ranged=True, value=value)
    if kind in ("no206", "html"):
        # Without ranges the whole file is sent, and is used instead.
        assert _download(publisher, target).way == "whole"
        assert target.read_bytes() == FILE.spool({*WANTED, "t500"})
        return
    with pytest.raises(DownloadFailed) as caught:
        _download(publisher, target)
    assert isinstance(caught.value, NotYet) == (kind == "status" and value != 500)
    assert not target.exists()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("html", None), ("redirect", "http://localhost:1/"), ("status", 500), ("status", 404), ("truncate", 50),
        ("reset", None), ("endless", None), ("length", 20),
    ],
)  # fmt: skip
def test_an_unavailable_index_is_fetched_from_the_next_mirror(
    publisher: Publisher, target: Path, kind: str, value: object
) -> None:
    publish(publisher, FILE, ("aws", "gcs"))
    publisher.fault(kind, match="aws/hrrr.20260901/conus/hrrr.t12z.wrfsfcf01.grib2.idx", value=value)
    got = _download(publisher, target, ("aws", "gcs"))
    assert target.read_bytes() == FILE.spool()
    assert (got.mirror, got.way) == ("gcs-hrrr", "index")
    # A mirror that sends HTML pages is failing; one that does not have the file yet is not.
    assert got.health_updates[0].ok == (value == 404)


@pytest.mark.parametrize("kind", ["html", "encoding"])
def test_if_the_index_is_another_kind_of_file_the_headers_are_scanned(
    publisher: Publisher, target: Path, kind: str
) -> None:
    publish(publisher, FILE)
    publisher.fault(kind, match=".idx")
    assert _download(publisher, target).way == "walk"
    assert target.read_bytes() == FILE.spool({*WANTED, "t500"})


def test_a_slow_mirror_is_abandoned_for_the_next(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE, ("aws", "gcs"))
    publisher.fault("drip", match="aws/", ranged=True)
    with SourceSession(timeouts=Timeouts(base=-1.0)) as slow, pytest.raises(DownloadFailed, match="too slow"):
        download(hrrr_at(publisher), RUN, 1, wanted(WANTED), target, session=slow, limits=QUICK)
    assert not target.exists()


def test_a_file_that_vanishes_after_its_index_is_fetched_elsewhere(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE, ("aws", "gcs"))

    def vanish(request: Request) -> None:
        if request.path.endswith(".idx") and "aws" in request.path:
            del publisher.objects[key_of(FILE)]

    publisher.on_request = vanish
    assert _download(publisher, target, ("aws", "gcs")).mirror == "gcs-hrrr"
    assert target.read_bytes() == FILE.spool()


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_replaced_object_restarts_the_download(publisher: Publisher, target: Path, after: int, tags: bool) -> None:
    publisher.etags = tags
    publish(publisher, FILE)
    new = FILE.longer(13)
    count = 0

    def swap(request: Request) -> None:
        nonlocal count
        with publisher.lock:
            count += request.range is not None
            if count == after and request.range:
                publish(publisher, new)
                publisher.objects[key_of(new)].modified = publisher.objects[key_of(new)].modified.replace(hour=23)

    publisher.on_request = swap
    got = _download(publisher, target)
    assert target.read_bytes() == new.spool()
    assert got.way == "index"


def test_an_object_that_keeps_changing_is_given_up(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE)
    numbers = iter(range(1000))
    publisher.on_request = lambda request: setattr(publisher.objects[key_of(FILE)], "etag", f'"{next(numbers)}"')
    with pytest.raises(Retryable, match="replaced"):
        _download(publisher, target)
    assert not target.exists()


@pytest.mark.parametrize("by", [-20, 5000])
def test_a_listing_may_be_out_of_date(
    publisher: Publisher, target: Path, session: SourceSession, hrrr: Model, by: int
) -> None:
    publish(publisher, FILE)
    known = published(hrrr, RUN, hrrr.mirrors[0], session)[1]
    new = FILE.longer(by)
    publish(publisher, new)
    assert _download(publisher, target, known=known).way == "index"
    assert target.read_bytes() == new.spool()


def _stale(by: int) -> tuple[SmallFile, bytes]:
    """A file that was packed again, beside the index of the old one."""
    return FILE.longer(by), FILE.idx


@pytest.mark.parametrize("by", [1, -1, 100, -500])
def test_a_stale_index_is_detected_and_the_headers_are_scanned(publisher: Publisher, target: Path, by: int) -> None:
    new, idx = _stale(by)
    publish(publisher, new, idx=idx)
    got = _download(publisher, target)
    # Header scans do not compare levels, so t500 is fetched too.
    assert target.read_bytes() == new.spool({*WANTED, "t500"})
    assert (got.way, got.missing, set(got.found)) == ("walk", (), set(WANTED))
    assert got.requested_bytes < len(new.data)


def test_a_stale_index_on_one_mirror_is_replaced_from_the_next(publisher: Publisher, target: Path) -> None:
    new, idx = _stale(100)
    publish(publisher, new, ("aws",), idx=idx)
    publish(publisher, new, ("gcs",))
    got = _download(publisher, target, ("aws", "gcs"))
    assert target.read_bytes() == new.spool()
    assert (got.mirror, got.way) == ("gcs-hrrr", "index")
    assert all(one.ok for one in got.health_updates)


def _swapped(idx: bytes, one: bytes, other: bytes) -> bytes:
    return idx.replace(one, b"?").replace(other, one).replace(b"?", other)


@pytest.mark.parametrize(
    "lie",
    [
        lambda file: file.idx.replace(b"d=2026090112", b"d=2026090106"),
        lambda file: file.idx.replace(b"1 hour", b"2 hour"),
        lambda file: b"\n".join(file.idx.splitlines()[:5]) + b"\n",
        lambda file: b"\n".join(line for line in file.idx.splitlines() if b"LAND" not in line) + b"\n",
        lambda file: b"\n".join(line for line in file.idx.splitlines() if not line.startswith(b"5.2:")) + b"\n",
        lambda file: b"",
        lambda file: b"GRIB" + file.idx,
        lambda file: _swapped(file.idx, b"TMP:2 m above ground", b"DPT:2 m above ground"),
        lambda file: _swapped(file.idx, b"TMP:2 m above ground", b"TMP:500 mb"),
        lambda file: _swapped(file.idx, b"GUST:surface", b"LAND:surface"),
    ],
    ids=[
        "other run",
        "other hour",
        "cut off",
        "gaps",
        "one field of two",
        "empty",
        "impostor",
        "other name",
        "other level",
        "name of something unwanted",
    ],
)
def test_a_wrong_index_is_detected(publisher: Publisher, target: Path, lie: object) -> None:
    publish(publisher, FILE, idx=lie(FILE))  # type: ignore[operator]
    got = _download(publisher, target)
    assert target.read_bytes() == FILE.spool({*WANTED, "t500"})
    assert got.way == "walk"


def test_a_file_of_another_run_behind_a_good_index_is_refused(publisher: Publisher, target: Path) -> None:
    other = usual_file(reference=RUN.replace(hour=6))
    publisher.put(key_of(FILE), other.data)
    publisher.put(key_of(FILE) + ".idx", FILE.idx)
    with pytest.raises(DownloadFailed):
        _download(publisher, target)
    assert not target.exists()


def test_a_file_of_another_hour_behind_a_good_index_is_refused(publisher: Publisher, target: Path) -> None:
    messages = tuple(
        one.replace((1).to_bytes(4, "big") + bytes([103, 0]), (2).to_bytes(4, "big") + bytes([103, 0]))
        for one in FILE.messages
    )
    data = b"".join(messages)
    assert len(data) == len(FILE.data) and data != FILE.data
    publisher.put(key_of(FILE), data)
    publisher.put(key_of(FILE) + ".idx", FILE.idx)
    got = _download(publisher, target)
    assert got.way == "walk"
    assert set(got.missing) == {"t2m", "d2m", "u10", "v10"} - set(got.found)
    assert messages[1] not in target.read_bytes()


def test_a_truncated_file_is_refused_until_it_is_whole(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE)
    publisher.put(key_of(FILE), FILE.data[:-10])
    with pytest.raises(Retryable):
        _download(publisher, target)
    assert not target.exists()
    publish(publisher, FILE)
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()


def test_empty_file_counts_as_not_published(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE)
    publisher.put(key_of(FILE), b"")
    with pytest.raises(DownloadFailed):
        _download(publisher, target)
    assert not target.exists()


KINDS = [
    ("truncate", 30), ("reset", None), ("status", 500), ("status", 404), ("status", 412), ("retry", (429, "1")),
    ("no206", None), ("html", None), ("length", 3), ("etag", '"x"'), ("range", "bytes 5-6/7"), ("encoding", None),
]  # fmt: skip
FAULTY = st.tuples(
    st.sampled_from(KINDS), st.sampled_from(["aws/", "gcs/", ".idx", ""]), st.integers(1, 4), st.integers(0, 6),
    st.sampled_from([None, True, False]),
)  # fmt: skip


@pytest.fixture(scope="module")
def shared() -> Iterator[Publisher]:
    with serving() as one:
        yield one


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(faults=st.lists(FAULTY, max_size=5), stale=st.booleans())
def test_any_mix_of_faults_gives_the_right_bytes_or_none(
    shared: Publisher,
    tmp_path_factory: pytest.TempPathFactory,
    faults: list[tuple[tuple[str, object], str, int, int, bool | None]],
    stale: bool,
) -> None:
    target = tmp_path_factory.mktemp("spool") / "001.grib2"
    shared.faults.clear()
    publish(shared, FILE, ("aws",), idx=FILE.longer(9).idx if stale else None)
    publish(shared, FILE, ("gcs",))
    for (kind, value), match, times, skip, ranged in faults:
        shared.fault(kind, match=match, times=times, skip=skip, ranged=ranged, value=value)
    for _ in range(2):
        try:
            _download(shared, target, ("aws", "gcs"))
        except DownloadFailed:
            assert not target.exists()
        else:
            assert target.read_bytes() in (FILE.spool(), FILE.spool({*WANTED, "t500"}))
            target.unlink()


@pytest.mark.parametrize("place", [0, 60, 100, 500, 2500, -1])
def test_a_flipped_byte_anywhere_is_found_by_the_checksum_of_the_range(
    publisher: Publisher, target: Path, place: int
) -> None:
    """Damage to packed values is detectable only if the host sends checksums."""
    publisher.digests = True
    publish(publisher, FILE, ("aws", "gcs"))
    fault = publisher.fault("flip", match="aws/", ranged=True, value=place)
    with pytest.raises(Retryable):
        _download(publisher, target)
    assert not target.exists()
    assert _download(publisher, target, ("aws", "gcs")).mirror == "gcs-hrrr"
    assert target.read_bytes() == FILE.spool()
    target.unlink()
    with pytest.raises(Retryable):
        _download(publisher, target)
    publisher.faults.remove(fault)
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()


def test_bytes_before_a_broken_connection_are_not_trusted_without_their_checksum(
    publisher: Publisher, target: Path
) -> None:
    publisher.digests = True
    publish(publisher, FILE)
    # The first responses end after a whole message with one byte changed: only the checksum could detect it.
    publisher.fault("cut flip", match=".grib2", ranged=True, times=2, value=(3500, 1500))
    seen: list[int] = []
    _download(publisher, target, progress=lambda done, total: seen.append(done))
    assert target.read_bytes() == FILE.spool()
    assert seen[-1] == len(FILE.spool())
    cuts = [request for request in publisher.asked() if request.range and request.sent == 3500]
    assert cuts
    assert all([one.range for one in publisher.asked()].count(cut.range) >= 2 for cut in cuts)


def test_messages_may_contain_any_bytes(publisher: Publisher, target: Path) -> None:
    """Payloads that spell GRIB and 7777 do not confuse a walk."""
    evil = message(payload=message() * 3)
    file = SmallFile((("t2m",),), (evil,))
    publish(publisher, file, idx=b"")
    assert _download(publisher, target).way == "walk"
    assert target.read_bytes() == evil


def test_a_file_whose_requests_are_slow_one_by_one_is_fetched_from_the_next_mirror(
    publisher: Publisher, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No single request exceeds its time limit, but together they exceed that of the file."""
    model = hrrr_at(publisher, ("aws", "gcs"))
    publish(publisher, usual_file(), ("aws", "gcs"))
    slow: list[float] = []

    def answer_slowly(request: Request) -> None:
        if "aws/" in request.path and request.range:
            slow.append(60.0)

    monkeypatch.setattr(fetch, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + sum(slow)))
    publisher.on_request = answer_slowly
    with SourceSession(timeouts=Timeouts(base=100.0, slowest_bytes_per_second=1e9)) as session:
        got = download(model, RUN, 1, wanted(WANTED), target, session=session, limits=Limits(connections=1))
    assert got.mirror == "gcs-hrrr"
    assert "too slow" in got.health_updates[0].reason
    assert target.read_bytes() == usual_file().spool()
