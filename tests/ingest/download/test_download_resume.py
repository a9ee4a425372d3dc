"""Verified messages are not fetched again after a broken connection, a failure or kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gribmill.ingest.download.download import download
from gribmill.ingest.download.download_plan import Downloaded, Limits
from gribmill.ingest.download.errors import DownloadFailed, Retryable
from gribmill.ingest.download.spool import Spool
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import wanted
from tests.ingest.conftest import hrrr_at, key_of, publish
from tests.ingest.server import Publisher
from tests.ingest.small_grib import RUN, WANTED, usual_file
from tests.waiting import wait_until

FILE = usual_file(size=50_000)
ROOT = Path(__file__).parents[3]
Ranges = list[tuple[int, int]]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "001.grib2"


def _download(publisher: Publisher, target: Path, mirrors: tuple[str, ...] = ("aws",)) -> Downloaded:
    with SourceSession() as session:
        limits = Limits(retry_pause_seconds=0.0)
        return download(hrrr_at(publisher, mirrors), RUN, 1, wanted(WANTED), target, session=session, limits=limits)


def _ranges(publisher: Publisher) -> Ranges:
    return [request.range for request in publisher.asked() if request.range]


def _verified(target: Path) -> Ranges:
    """The source ranges of the messages recorded in the journal."""
    offsets, place = [], 0
    for names, one in zip(FILE.names, FILE.messages, strict=True):
        if set(WANTED).intersection(names):
            offsets.append((place, place + len(one)))
        place += len(one)
    lines = target.with_name(f".{target.name}.journal").read_text().splitlines()[1:]
    return [offsets[json.loads(line)[0]] for line in lines]


def _overlap(some: Ranges, others: Ranges) -> bool:
    return any(start < end2 and start2 < end for start, end in some for start2, end2 in others)


def _interrupted(publisher: Publisher, target: Path) -> None:
    """A download that failed after some of its ranges were verified."""
    publish(publisher, FILE)
    fault = publisher.fault("status", match=".grib2", ranged=True, skip=2, value=500)
    with pytest.raises(DownloadFailed):
        _download(publisher, target)
    publisher.faults.remove(fault)
    assert _verified(target)
    assert not target.exists()
    publisher.requests.clear()


@pytest.mark.process
def test_a_process_killed_in_the_middle_is_taken_over(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE)
    held = publisher.fault("hold", match=".grib2", ranged=True, skip=2)
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.ingest.download.downloader", publisher.url, str(target)], cwd=ROOT
    )
    try:
        journal = target.with_name(f".{target.name}.journal")

        def held_now() -> bool:
            return len([one for one in publisher.asked() if one.range and one.sent]) >= 4

        wait_until(lambda: held_now() and journal.exists() and journal.read_text().count("\n") >= 3, what="progress")
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    publisher.release.set()
    publisher.faults.remove(held)
    verified = _verified(target)
    assert verified
    assert not target.exists()
    publisher.requests.clear()
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()
    assert not _overlap(verified, _ranges(publisher))
    assert [path.name for path in target.parent.iterdir()] == ["001.grib2"]


def test_a_second_try_fetches_only_what_is_missing(publisher: Publisher, target: Path) -> None:
    _interrupted(publisher, target)
    verified = _verified(target)
    got = _download(publisher, target)
    assert target.read_bytes() == FILE.spool()
    assert not _overlap(verified, _ranges(publisher))
    assert got.requested_bytes < got.bytes


def test_progress_resumes_where_it_was(publisher: Publisher, target: Path) -> None:
    _interrupted(publisher, target)
    there = sum(end - start for start, end in _verified(target))
    seen: list[int] = []
    with SourceSession() as session:
        download(
            hrrr_at(publisher), RUN, 1, wanted(WANTED), target,
            session=session, progress=lambda done, total: seen.append(done),
        )  # fmt: skip
    assert seen[0] == there


def test_bytes_that_the_disk_lost_are_fetched_again(publisher: Publisher, target: Path) -> None:
    _interrupted(publisher, target)
    part = target.with_name(".001.grib2.part")
    data = bytearray(part.read_bytes())
    data[100] ^= 1
    part.write_bytes(data)
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()


@pytest.mark.parametrize("damage", ["part gone", "part short", "journal gone", "journal torn", "journal nonsense"])
def test_damaged_partial_files_do_no_harm(publisher: Publisher, target: Path, damage: str) -> None:
    _interrupted(publisher, target)
    part, journal = target.with_name(".001.grib2.part"), target.with_name(".001.grib2.journal")
    if damage == "part gone":
        part.unlink()
    elif damage == "part short":
        part.write_bytes(part.read_bytes()[:50])
    elif damage == "journal gone":
        journal.unlink()
    elif damage == "journal torn":
        journal.write_bytes(journal.read_bytes()[:-20])
    else:
        journal.write_bytes(journal.read_bytes() + b'{"a": 1}\n[99999, "x"]\n[0]\n\xff\xfe\n[0, 5]\n')
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()


def test_partial_files_of_another_object_are_not_used(publisher: Publisher, target: Path) -> None:
    _interrupted(publisher, target)
    new = FILE.longer(0)
    assert len(new.data) == len(FILE.data)
    assert new.idx == FILE.idx
    publish(publisher, new)
    _download(publisher, target)
    assert target.read_bytes() == new.spool()


def test_partial_files_of_another_selection_are_not_used(publisher: Publisher, target: Path) -> None:
    _interrupted(publisher, target)
    with SourceSession() as session:
        download(hrrr_at(publisher), RUN, 1, wanted(["t2m", "tp"]), target, session=session)
    assert target.read_bytes() == FILE.spool({"t2m", "tp"})


def test_without_any_identity_of_the_object_nothing_is_kept(publisher: Publisher, target: Path) -> None:
    publisher.etags = False
    publish(publisher, FILE)
    _interrupted(publisher, target)
    publisher.objects[key_of(FILE)].modified = publisher.objects[key_of(FILE)].modified.replace(hour=22)
    got = _download(publisher, target)
    assert target.read_bytes() == FILE.spool()
    assert got.requested_bytes > got.bytes


def test_concurrent_download_of_the_same_file_is_not_disturbed(publisher: Publisher, target: Path) -> None:
    publish(publisher, FILE)
    with Spool(target), pytest.raises(Retryable, match="another process") as caught:
        _download(publisher, target)
    assert caught.value.retry_after_seconds
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()


def test_existing_target_is_replaced_atomically(publisher: Publisher, target: Path) -> None:
    target.write_bytes(b"older")
    publish(publisher, FILE)
    _download(publisher, target)
    assert target.read_bytes() == FILE.spool()


def test_download_that_could_not_start_leaves_no_lock(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "000.grib2")
    spool.part.mkdir()
    with pytest.raises(IsADirectoryError), spool:
        pass
    spool.part.rmdir()
    with Spool(spool.target):
        pass


def test_folder_removed_before_use_is_created_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the previous hour's last tile is built at that moment and its messages are removed."""
    spool = Spool(tmp_path / "run" / "001.grib2")
    really = os.open
    opened: list[str] = []

    def late(path: str, flags: int, *mode: int) -> int:
        opened.append(str(path))
        if len(opened) == 1:
            spool.target.parent.rmdir()
        return really(path, flags, *mode)

    monkeypatch.setattr(os, "open", late)
    with spool:
        assert opened == [str(spool.journal), str(spool.journal), str(spool.part)]
