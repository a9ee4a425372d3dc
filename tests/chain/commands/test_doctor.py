"""`gribmill doctor` finds what is wrong in a data root, and --fix repairs it."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gribmill.catalogue.events import MirrorObserved
from gribmill.database.sqlite.files import check_sqlite_version
from gribmill.errors import GribmillError
from gribmill.pipeline.checkup import doctor as room
from gribmill.pipeline.checkup.finding import Examination
from gribmill.pipeline.checkup.machine import check_sqlite
from gribmill.queue.model import ClaimRequest, NewJob, NewTrigger
from gribmill.storage.layout import SPOOL
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model
from tests.pseudo_terminal import COLUMNS, run_in_terminal


@pytest.fixture
def chain(new_chain: NewChain) -> ChainDriver:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    return chain


def findings(chain: ChainDriver, *words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    answer = chain.command("doctor", "--json", *words)
    return answer.returncode, {one["check"]: one for one in json.loads(answer.stdout)}


def leave(path: Path) -> Path:
    """Leave a file, like a process that was killed long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half")
    os.utime(path, (0, 0))
    return path


def test_sound_data_root_passes(chain: ChainDriver) -> None:
    answer = chain.command("doctor")
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.splitlines()[-1] == "all is well, but no worker is running"
    assert "WRONG" not in answer.stdout
    _, found = findings(chain)
    assert len(found) == len(room.CHECKS)
    assert found["tiles"]["detail"].startswith("6 as recorded")


def test_lost_tiles_are_reported_until_fixed(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    chain.tile("hrrr", "ne", 1).unlink()
    chain.tile("hrrr", "texas", 2).write_bytes(b"")
    code, found = findings(chain)
    assert (code, found["tiles"]["good"]) == (1, False)
    assert "2 of 6 are lost or damaged" in found["tiles"]["detail"] and "--fix" in found["tiles"]["remedy"]
    code, found = findings(chain, "--fix")
    assert (code, found["tiles"]["detail"]) == (0, "2 of 2 lost tiles are back")
    assert chain.tiles() == of_model(reference, "hrrr")


@pytest.mark.process
def test_every_line_fits_a_terminal(chain: ChainDriver) -> None:
    chain.tile("hrrr", "ne", 1).unlink()
    shown = run_in_terminal(*chain.words("doctor"), cwd=chain.root)
    assert shown.code == 1
    assert "WRONG tiles: 1 of 6 is lost or damaged" in shown.text
    assert all(len(line) <= COLUMNS for line in shown.lines if str(chain.data) not in line), "a path stays in one piece"


def test_leftovers_are_removed_only_by_fix(chain: ChainDriver) -> None:
    folder = chain.tile("hrrr", "ne", 1).parent
    spool = chain.data / "grib" / "hrrr" / chain.run_id
    half = [leave(folder / ".001.npz.17.abcd.part"), leave(spool / ".001.g9.grib2.part")]
    whole = leave(spool / "001.g9.grib2")
    young = folder / ".002.npz.18.abcd.part"
    young.write_bytes(b"being written")
    _, found = findings(chain)
    assert found["leftovers"]["detail"].startswith("2 half-written files")
    assert found["downloads"]["detail"].startswith("1 downloaded file that no tile waits for")
    assert all(path.exists() for path in (*half, whole))
    code, _ = findings(chain, "--fix")
    assert code == 0
    assert not any(path.exists() for path in (*half, whole))
    assert young.exists()


def test_tiles_without_a_record_are_only_noted(chain: ChainDriver) -> None:
    stranger = chain.tile("hrrr", "ne", 1).with_name("099.npz")
    stranger.write_bytes(chain.tile("hrrr", "ne", 1).read_bytes())
    code, found = findings(chain, "--fix")
    assert (code, found["tiles without record"]["good"]) == (0, None)
    assert stranger.exists()


def test_check_that_fails_does_not_stop_the_others(chain: ChainDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Examination) -> Any:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(room, "CHECKS", (broken, *room.CHECKS))
    code, found = findings(chain)
    assert code == 1
    assert found["broken"]["detail"] == "it could not be checked: the disk is on fire"
    assert found["tiles"]["good"] is True


def test_known_faults_of_sqlite_are_named_by_version() -> None:
    assert check_sqlite((3, 36, 0)).good is False
    check_sqlite_version((3, 37, 0))  # the queue accepts it, so doctor must not call it wrong
    for faulty in ((3, 37, 0), (3, 40, 1), (3, 44, 5), (3, 50, 6), (3, 51, 2)):
        found = check_sqlite(faulty)
        assert found.good is None and "WAL-reset bug" in found.detail and found.remedy
    for sound in ((3, 44, 6), (3, 50, 7), (3, 51, 3), (3, 53, 0)):
        assert check_sqlite(sound).good is True


def test_records_from_the_future_show_that_the_clock_is_behind(chain: ChainDriver) -> None:
    assert findings(chain)[1]["clock"]["good"] is True
    ahead = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%d %H:%M:%S.000")
    with sqlite3.connect(chain.context.root.jobs_db) as database:
        database.execute("UPDATE runs SET first_seen_at = ?", (ahead,))
    code, found = findings(chain)
    assert (code, found["clock"]["good"]) == (1, False)
    assert found["clock"]["detail"].startswith(f"the record of hrrr/{chain.run_id} is ")


def test_schedule_that_no_worker_fires_is_overdue(chain: ChainDriver) -> None:
    chain.store.triggers.add(NewTrigger("nightly", "sleep", cron="0 3 * * *"))
    assert findings(chain)[1]["schedules"]["detail"] == "1 enabled"
    with sqlite3.connect(chain.context.root.jobs_db) as database:
        database.execute("UPDATE job_triggers SET next_trigger_at = '2026-01-01 03:00:00.000'")
    code, found = findings(chain)
    assert (code, found["schedules"]["detail"]) == (1, "1 of 1 are overdue: 1 (nightly)")
    assert "gribmill run" in found["schedules"]["remedy"]


def test_mirrors_are_shown_as_they_were_last_seen(chain: ChainDriver) -> None:
    now = datetime.now(UTC)
    assert findings(chain)[1]["mirrors"]["good"] is True
    chain.context.catalogue.record([MirrorObserved("aws-hrrr", now, False, "it is down")])
    code, found = findings(chain)
    assert (code, found["mirrors"]["good"]) == (0, None), "the other one answers"
    chain.context.catalogue.record([MirrorObserved("gcs-hrrr", now, False, "it is down")])
    code, found = findings(chain)
    assert (code, found["mirrors"]["good"]) == (1, False)
    assert found["mirrors"]["detail"].startswith("no mirror of hrrr answers")


def test_silent_worker_with_jobs_is_reported(chain: ChainDriver) -> None:
    chain.store.jobs.enqueue(NewJob("sleep"))
    (job,) = chain.store.claim(ClaimRequest("host-9-dead", ("sleep",), 60))
    chain.store.workers.heartbeat("host-9-dead", 60, types=["sleep"])
    assert findings(chain)[1]["workers"]["good"] is not False
    with sqlite3.connect(chain.context.root.jobs_db) as database:
        database.execute("UPDATE workers SET last_heartbeat = '2026-01-01 00:00:00.000', running_count = 1")
    code, found = findings(chain)
    assert (code, found["workers"]["good"]) == (1, False)
    assert "host-9-dead" in found["workers"]["detail"] and job.id


def test_downloaded_hour_without_a_job_is_enqueued_by_fix(chain: ChainDriver) -> None:
    with sqlite3.connect(chain.context.root.jobs_db) as database:
        database.execute("UPDATE hours SET state = 'ingested' WHERE hour = 1")
    code, found = findings(chain)
    assert (code, found["hours"]["good"]) == (1, False)
    assert f"hrrr/{chain.run_id}" in found["hours"]["detail"] and "--fix" in found["hours"]["remedy"]
    findings(chain, "--fix")
    assert [job.args for job in chain.jobs("pending", "ingest_grib")] == [
        {"model_id": "hrrr", "run_id": chain.run_id, "hour": 1}
    ]
    assert findings(chain)[1]["hours"]["good"] is True


def _no_eccodes() -> str:
    raise GribmillError("ecCodes cannot be loaded")


@pytest.mark.parametrize(
    ("check", "place", "fault", "good", "remedy"),
    [
        ("Python", "OLDEST_PYTHON", (99, 0), False, "use Python"),
        ("ecCodes", "eccodes_version", _no_eccodes, False, "pip install eccodes"),
        ("kernel", "state", lambda: "not built", None, "C compiler"),
        ("disk", "shutil.disk_usage", lambda _: SimpleNamespace(total=10**12, free=0), False, "free some space"),
        (
            "permissions",
            "os.access",
            lambda place, mode, **_: Path(place).name != SPOOL,
            False,
            "account of the workers",
        ),
    ],
)
def test_fault_of_the_machine_is_named_with_its_remedy(
    chain: ChainDriver,
    monkeypatch: pytest.MonkeyPatch,
    check: str,
    place: str,
    fault: Any,
    good: bool | None,
    remedy: str,
) -> None:
    assert findings(chain)[1][check]["good"] is True
    with monkeypatch.context() as patch:
        patch.setattr(f"gribmill.pipeline.checkup.machine.{place}", fault)
        code, found = findings(chain)
    assert (code, found[check]["good"]) == (1 if good is False else 0, good)
    assert remedy in found[check]["remedy"]
    assert findings(chain)[1][check]["good"] is True, "and well again when it is gone"


def test_violated_invariant_is_reported_until_it_holds_again(chain: ChainDriver) -> None:
    def count(by: int) -> None:
        with closing(sqlite3.connect(chain.data / "jobs.db")) as connection, connection:
            connection.execute("UPDATE job_counts SET n = n + ? WHERE status = 'completed'", (by,))

    count(1)
    code, found = findings(chain)
    assert (code, found["queue"]["good"]) == (1, False)
    assert "gribmill jobs verify" in found["queue"]["remedy"]
    count(-1)
    assert findings(chain)[0] == 0


def test_log_of_a_removed_job_is_removed_by_fix(chain: ChainDriver) -> None:
    log = leave(chain.data / "logs" / "0" / "99999-1.log")
    _, found = findings(chain)
    assert found["logs"]["detail"].startswith("1 log of jobs that are gone")
    assert log.exists()
    findings(chain, "--fix")
    assert not log.exists()
