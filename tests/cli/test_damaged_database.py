"""A damaged jobs.db: every command prints the same sentence, and none prints the file's content."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gribmill.pipeline.context import make_context
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings
from tests.cli.conftest import Run
from tests.pipeline.conftest import Scribe

SENTENCE = "the file is damaged, or is not an SQLite database"
ADVICE = "Restore a backup (`gribmill jobs backup` makes them) or move it away"


@pytest.fixture
def rubbish(data: Path, store: Store) -> None:
    """A row whose texts are arbitrary bytes, as in overwritten pages."""
    context = make_context(Settings(data=data))
    scribe = Scribe(context.catalogue, context.root)
    scribe.run("20261101_12", [0])
    scribe.hour("20261101_12", 0, ["ne"])
    with closing(sqlite3.connect(data / "jobs.db")) as connection:
        connection.execute("UPDATE hours SET found = CAST(x'5B1B5B324Aff00fe' AS TEXT)")
        connection.execute("INSERT INTO jobs (type, error_message) VALUES ('sleep', CAST(x'1B5B324Aff00fe' AS TEXT))")
        connection.commit()


@pytest.mark.parametrize("words", [["status", "hrrr"], ["jobs", "list"], ["jobs", "list", "--queue"]])
def test_texts_that_cannot_be_read_are_damage_and_are_not_printed(
    gribmill: Run, rubbish: None, words: list[str]
) -> None:
    answer = gribmill(*words)
    assert answer.code == 1
    assert SENTENCE in answer.err
    assert ADVICE in answer.err
    assert answer.err.strip().isprintable()


@pytest.fixture
def damaged_pages(data: Path, store: Store) -> None:
    """The pages of one table are overwritten."""
    store.close()
    path = data / "jobs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'mirrors'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    raw = bytearray(path.read_bytes())
    raw[(page - 1) * size : page * size] = b"\xa5" * size
    path.write_bytes(raw)


@pytest.mark.parametrize("words", [["work", "--drain"], ["run", "--model", "hrrr", "--region", "ne"]])
def test_workers_refuse_to_start_on_a_file_with_damaged_pages(
    gribmill: Run, damaged_pages: None, words: list[str]
) -> None:
    answer = gribmill(*words)
    assert answer.code == 1
    assert SENTENCE in answer.err
    assert ADVICE in answer.err


def _doctor(gribmill: Run) -> dict[str, Any]:
    answer = gribmill("doctor", "--json")
    assert answer.code == 1
    assert answer.out.count(SENTENCE) == 1
    found = {one["check"]: one for one in answer.json}
    assert found["jobs.db"]["good"] is False
    assert ADVICE in found["jobs.db"]["detail"]
    assert "stop the workers first" in found["jobs.db"]["remedy"]
    return found


def test_doctor_runs_the_checks_that_damaged_pages_allow(gribmill: Run, damaged_pages: None) -> None:
    found = _doctor(gribmill)
    assert "Not checked without it: queue" in found["jobs.db"]["detail"]
    assert {"Python", "disk", "workers", "schedules", "tiles", "leftovers"} <= found.keys()


def test_doctor_runs_the_checks_that_need_no_database(gribmill: Run, data: Path) -> None:
    data.mkdir(exist_ok=True)
    (data / "jobs.db").write_bytes(b"not a database" * 100)
    found = _doctor(gribmill)
    assert {"Python", "SQLite", "disk", "permissions", "leftovers"} <= found.keys()
    assert (
        "Not checked without it: clock, queue, workers, schedules, mirrors, hours, tiles, tiles without record,"
        " downloads, logs" in found["jobs.db"]["detail"]
    )
    assert "schedules" not in found
