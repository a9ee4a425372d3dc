"""`gribmill db move` is killed repeatedly: the same command resumes, and every row arrives once."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gribmill.queue.model import NewJob
from tests.chain.chain_driver import environment
from tests.queue.store.store_driver import add
from tests.queue.test_move import contents, file, fill, open_file, open_server, url
from tests.waiting import wait_until

__all__ = ["file", "url"]  # fixtures
pytestmark = [pytest.mark.process, pytest.mark.postgres]

# Several batches of 2000 rows.
JOBS = 15_000
KILLS = 3
COPIED = "SELECT coalesce(sum(row_count), 0) FROM move_progress"


class Mover:
    """The command, with the source in its settings."""

    def __init__(self, source: str | Path, target: str | Path) -> None:
        self._words = [sys.executable, "-m", "gribmill.cli.main", "db", "move", "--to", str(target), "--json"]
        place = {"GRIBMILL_DATA": str(source.parent)} if isinstance(source, Path) else {"GRIBMILL_DATABASE": source}
        self._environment = {**environment(), **place}

    def kill_after(self, progress: Callable[[], int]) -> None:
        """Start it, and kill it as soon as it has copied more rows."""
        before = progress()
        moving = subprocess.Popen(
            self._words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self._environment
        )
        try:
            wait_until(lambda: moving.poll() is not None or progress() > before, what="some rows to be copied")
        finally:
            moving.kill()
            moving.wait()

    def finish(self) -> dict[str, Any]:
        done = subprocess.run(
            self._words, capture_output=True, text=True, env=self._environment, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)  # type: ignore[no-any-return]


def copied_to_server(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            row = connection.execute(COPIED).fetchone()
        except psycopg.errors.UndefinedTable:
            return 0
    return int(row[0]) if row else 0


def copied_to_file(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as connection:
        try:
            return int(connection.execute(COPIED).fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_killed_move_resumes_and_loses_nothing_in_either_direction(file: Path, url: str, tmp_path: Path) -> None:
    before = open_file(file)
    fill(before)
    before.jobs.enqueue_many([NewJob("plain", {"n": n}) for n in range(JOBS)])
    count = add(before)
    seen = contents(before)
    before.close()

    there = Mover(file, url)
    for _ in range(KILLS):
        there.kill_after(lambda: copied_to_server(url))
    assert copied_to_server(url) >= KILLS, "the kills came in the middle"
    moved = there.finish()
    rows = {table["name"]: table["rows"] for table in moved["tables"]}
    assert rows["jobs"] == count, "ids are assigned in order: no job was lost"
    server = open_server(url)
    assert contents(server) == seen
    assert server.verify() == [] and not server.reservations.list()
    server.close()

    target = tmp_path / "back" / "jobs.db"
    back = Mover(url, target)
    for _ in range(KILLS):
        back.kill_after(lambda: copied_to_file(target))
    again = {table["name"]: table["rows"] for table in back.finish()["tables"]}
    # The command declares gribmill's own job types besides those of the tests.
    assert {**again, "job_definitions": 0} == {**rows, "job_definitions": 0}
    copy = open_file(target)
    assert contents(copy) == seen
    assert copy.verify() == []
    copy.close()
