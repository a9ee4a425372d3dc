"""Downloads over real HTTP: exactly the wanted messages, with few requests."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gribmill.ingest.available_hours import published
from gribmill.ingest.download.download import download
from gribmill.ingest.download.download_plan import Limits
from gribmill.ingest.download.errors import NotYet, Permanent, Retryable
from gribmill.ingest.errors import without_addresses
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import wanted
from gribmill.ingest.mirror import MirrorHealth
from gribmill.ingest.models.model import Model
from tests.ingest.conftest import hrrr_at, key_of, publish
from tests.ingest.server import PUBLISHED_AT, Publisher
from tests.ingest.small_grib import RUN, WANTED, make_file, usual_file
from tests.make_grib import hrrr_hour

LATER = PUBLISHED_AT + timedelta(hours=1)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "spool" / "001.grib2"


def test_the_spool_is_the_wanted_messages_in_the_order_of_the_source(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    file = usual_file()
    publish(publisher, file)
    got = download(hrrr, RUN, 1, wanted(WANTED), target, session=session)
    data = target.read_bytes()
    assert data == file.spool()
    assert got.sha256 == hashlib.sha256(data).hexdigest()
    assert (got.path, got.bytes, got.way, got.mirror) == (target, len(data), "index", "aws-hrrr")
    assert (got.url, got.etag) == (publisher.url + key_of(file), publisher.objects[key_of(file)].etag)
    assert (set(got.found), got.missing) == (set(WANTED), ())
    for one in got.messages:
        assert data[one.offset : one.offset + one.length] == file.messages[one.message.number - 1]
    assert [path.name for path in target.parent.iterdir()] == ["001.grib2"]


def test_a_download_needs_few_requests_and_bytes(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    file = usual_file(size=30_000)
    publish(publisher, file)
    known = published(hrrr, RUN, hrrr.mirrors[0], session)[1]
    publisher.requests.clear()
    got = download(hrrr, RUN, 1, wanted(WANTED), target, session=session, known=known)
    assert got.requests == len(publisher.requests)
    assert got.requested_bytes == sum(request.sent for request in publisher.requests)
    assert got.requested_bytes <= 1.1 * got.bytes
    # The index, and one request for each stretch of wanted messages: t2m to d2m, u10 with v10, gust and sp, the rest.
    assert len(publisher.requests) == 1 + 4
    assert not publisher.asked(method="HEAD")
    etag = publisher.objects[key_of(file)].etag
    assert all(request.headers["If-Match"] == etag for request in publisher.asked() if request.range)


def test_real_messages_are_found_and_missing_ones_named(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    messages = hrrr_hour(6, grid="hrrr-small")
    lines, offset = [], 0
    words = ["TMP:2 m above ground", "DPT:2 m above ground", "UGRD:10 m above ground", "VGRD:10 m above ground",
             "GUST:surface", "MSLMA:mean sea level"]  # fmt: skip
    for number, (one, word) in enumerate(zip(messages, words, strict=True), 1):
        lines.append(f"{number}:{offset}:d=2026090112:{word}:1 hour fcst:\n")
        offset += len(one)
    publisher.put(key_of(usual_file()), b"".join(messages))
    publisher.put(key_of(usual_file()) + ".idx", "".join(lines).encode())
    got = download(hrrr, RUN, 1, wanted(["t2m", "u10", "cape", "mslp"]), target, session=session)
    assert target.read_bytes() == messages[0] + messages[2] + messages[5]
    assert (set(got.found), got.missing) == ({"t2m", "u10", "mslp"}, ("cape",))


def test_progress_counts_to_the_end_and_can_stop_the_download(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    publish(publisher, usual_file())
    seen: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        seen.append((done, total))

    got = download(hrrr, RUN, 1, wanted(WANTED), target, session=session, progress=note)
    assert (seen[0], seen[-1]) == ((0, got.bytes), (got.bytes, got.bytes))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    target.unlink()

    def refuse(done: int, total: int) -> None:
        if done:
            raise KeyError("the lease is lost")

    with pytest.raises(KeyError):
        download(hrrr, RUN, 1, wanted(WANTED), target, session=session, progress=refuse)
    assert not target.exists()


def test_hour_that_no_mirror_has_is_not_published_yet(
    publisher: Publisher, session: SourceSession, target: Path
) -> None:
    model = hrrr_at(publisher, ("aws", "gcs", "nomads"))
    with pytest.raises(NotYet) as caught:
        download(model, RUN, 1, wanted(WANTED), target, session=session)
    assert [reason.mirror for reason in caught.value.reasons] == ["aws-hrrr", "gcs-hrrr", "nomads-hrrr"]
    assert all(one.ok for one in caught.value.health_updates)
    assert "aws-hrrr" in str(caught.value)
    assert "hrrr 20260901_12 hour 1" in str(caught.value)


def test_an_index_that_lags_behind_its_file_is_waited_for(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    publisher.put(key_of(usual_file()), usual_file().data)
    with pytest.raises(NotYet):
        download(hrrr, RUN, 1, wanted(WANTED), target, session=session)


def test_a_file_without_any_wanted_message_is_not_retried(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    publish(publisher, usual_file())
    with pytest.raises(Permanent, match="nothing that is wanted") as found:
        download(hrrr, RUN, 1, wanted(["mslp"]), target, session=session)
    # Short lines, such as those of `status`, leave out the address and keep the reason.
    assert without_addresses(str(found.value)).endswith(
        "aws-hrrr: it holds nothing that is wanted for this run and hour"
    )


def test_the_next_mirror_is_used_and_observations_are_reported(
    publisher: Publisher, session: SourceSession, target: Path
) -> None:
    model = hrrr_at(publisher, ("aws", "gcs", "nomads"))
    publish(publisher, usual_file(), ("gcs",))
    publisher.fault("status", match="aws/", value=500)
    got = download(model, RUN, 1, wanted(WANTED), target, session=session)
    assert target.read_bytes() == usual_file().spool()
    assert got.mirror == "gcs-hrrr"
    assert [(one.mirror, one.ok) for one in got.health_updates] == [("aws-hrrr", False), ("gcs-hrrr", True)]
    assert "500" in got.health_updates[0].reason


def test_failing_mirrors_are_skipped(publisher: Publisher, session: SourceSession, target: Path) -> None:
    model = hrrr_at(publisher, ("aws", "gcs"))
    publish(publisher, usual_file(), ("aws", "gcs"))
    failing = {"aws-hrrr": MirrorHealth("aws-hrrr", 3, LATER + timedelta(seconds=40), "was down")}
    got = download(model, RUN, 1, wanted(WANTED), target, session=session, health=failing, now=LATER)
    assert got.mirror == "gcs-hrrr"
    assert not publisher.asked("aws/")
    failing["gcs-hrrr"] = MirrorHealth("gcs-hrrr", 3, LATER + timedelta(seconds=90), "down too")
    with pytest.raises(Retryable, match="was down") as caught:
        download(model, RUN, 1, wanted(WANTED), target, session=session, health=failing, now=LATER)
    assert caught.value.retry_after_seconds == 40
    later = LATER + timedelta(seconds=41)
    assert (
        download(model, RUN, 1, wanted(WANTED), target, session=session, health=failing, now=later).mirror == "aws-hrrr"
    )


def test_if_all_mirrors_failed_they_are_tried_and_another_failure_costs_no_attempt(
    publisher: Publisher, session: SourceSession, target: Path
) -> None:
    model = hrrr_at(publisher, ("aws", "gcs"))
    publish(publisher, usual_file(), ("aws", "gcs"))
    before = LATER - timedelta(minutes=1)
    failing = {
        "aws-hrrr": MirrorHealth("aws-hrrr", 9, LATER + timedelta(minutes=20), "was down", before),
        "gcs-hrrr": MirrorHealth("gcs-hrrr", 9, LATER + timedelta(minutes=9), "down too", before),
    }
    fault = publisher.fault("status", value=500)
    with pytest.raises(Retryable) as caught:
        download(model, RUN, 1, wanted(WANTED), target, session=session, health=failing, now=LATER)
    assert caught.value.retry_after_seconds == 30
    assert [one.mirror for one in caught.value.health_updates] == ["gcs-hrrr", "aws-hrrr"]
    publisher.faults.remove(fault)
    got = download(model, RUN, 1, wanted(WANTED), target, session=session, health=failing, now=LATER)
    assert got.mirror == "gcs-hrrr"


def test_the_mirror_where_it_was_seen_comes_first(publisher: Publisher, session: SourceSession, target: Path) -> None:
    model = hrrr_at(publisher, ("aws", "nomads"))
    publish(publisher, usual_file(), ("nomads",))
    known = published(model, RUN, model.mirrors[1], session, now=LATER)[1]
    assert download(model, RUN, 1, wanted(WANTED), target, session=session, known=known).mirror == "nomads-hrrr"
    assert not publisher.asked("aws/")


def test_a_host_that_asks_for_a_pause_says_when_to_come_back(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    publish(publisher, usual_file())
    publisher.fault("retry", value=(503, "77"))
    with pytest.raises(Retryable) as caught:
        download(hrrr, RUN, 1, wanted(WANTED), target, session=session)
    assert caught.value.retry_after_seconds == 77
    assert caught.value.health_updates[0].retry_after_seconds == 77


def test_size_limits_are_enforced(publisher: Publisher, hrrr: Model, session: SourceSession, target: Path) -> None:
    publish(publisher, usual_file())
    for limits in (Limits(spool_bytes=1000), Limits(index_bytes=100)):
        with pytest.raises(Retryable, match=r"limit of|limit is"):
            download(hrrr, RUN, 1, wanted(WANTED), target, session=session, limits=limits)
    assert not any(request.range for request in publisher.requests)


def test_a_failure_before_any_verified_message_leaves_nothing(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    publish(publisher, usual_file())
    publisher.fault("status", ranged=True, value=404)
    with pytest.raises(NotYet):
        download(hrrr, RUN, 1, wanted(WANTED), target, session=session)
    assert list(target.parent.iterdir()) == []


def test_time_limits_are_enforced(publisher: Publisher, hrrr: Model, session: SourceSession, target: Path) -> None:
    publish(publisher, usual_file())
    with pytest.raises(Retryable, match="no time left"):
        download(hrrr, RUN, 1, wanted(WANTED), target, session=session, limits=Limits(seconds=-1.0))


def test_a_folder_that_cannot_be_written_is_named(
    publisher: Publisher, hrrr: Model, session: SourceSession, tmp_path: Path
) -> None:
    publish(publisher, usual_file())
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(Retryable, match="cannot be written"):
        download(hrrr, RUN, 1, wanted(WANTED), tmp_path / "file" / "001.grib2", session=session)


def test_members_between_hours_are_verified_by_their_own_time(
    publisher: Publisher, hrrr: Model, session: SourceSession, target: Path
) -> None:
    """A message of the full hour is not accepted for a quarter past, whatever the index says."""
    file = make_file([("t2m",)], [100], hour=1)
    quarter = replace(hrrr, offset_minutes=-45)
    publish(publisher, file, idx=file.idx.replace(b"1 hour fcst", b"15 min fcst"))
    with pytest.raises(Permanent, match="nothing that is wanted"):
        download(quarter, RUN, 1, wanted(["t2m"]), target, session=session)
