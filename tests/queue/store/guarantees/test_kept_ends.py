"""The database protects every column of finished jobs and attempts, and each part of that guard is needed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.queue.model import NewTemplate
from gribmill.queue.store import Store
from tests.queue.store.store_driver import add, fail, stop, succeed, take
from tests.queue.store.tested_backend import REFUSED, BackendUnderTest, SqliteUnderTest

pytestmark = pytest.mark.slow

TIME = "'2020-01-01 00:00:00.000'"
# A changed value for each column.
OF_JOBS = {
    "worker_id": "'me'", "started_at": TIME, "completed_at": TIME, "error_message": "'no'", "retry_count": "7",
    "attempt_no": "9", "max_attempts": "99", "priority": "5", "dead_lettered_at": TIME, "source": "'event'",
    "source_ref": "'x'", "correlation_id": "'other'", "retry_of": "1", "created_by": "'me'", "dedupe_key": "'k'",
    "requested_by": "'t'", "timeout_seconds": "1", "group_id": "1",
}  # fmt: skip
ARGUMENTS = {"type": "'tile'", "args": "'{\"n\": 9}'", "created_at": TIME, "tenant_id": "'t'", "template_id": "1"}
OF_ATTEMPTS = {
    "attempt_no": "9", "worker_id": "'me'", "pid": "9", "started_at": TIME, "finished_at": TIME, "status": "'lost'",
    "exit_code": "9", "stdout_tail": "'x'", "stderr_tail": "'x'", "error_text": "'x'", "artifacts": "'[\"x\"]'",
    "downloaded_bytes": "9", "written_bytes": "9",
}  # fmt: skip


@pytest.fixture
def first(store: Store) -> int:
    """A job and a group that other rows can refer to."""
    store.groups.open("group")
    store.templates.add(NewTemplate("template", "plain"))
    job_id = add(store)
    succeed(store, take(store))
    return job_id


def finished(store: Store, end: Callable[..., object] = succeed) -> int:
    job_id = add(store, correlation_id="chain", max_attempts=1)
    end(store, take(store))
    return job_id


def is_refused(backend: BackendUnderTest, table: str, key: str, job_id: int, column: str, value: str) -> bool:
    try:
        backend.by_hand(f"UPDATE {table} SET {column} = {value} WHERE {key} = ?", job_id)
    except REFUSED as error:
        assert "cannot be changed" in str(error), error
        return True
    return False


@pytest.mark.parametrize("end", [succeed, fail, stop])
def test_no_column_of_a_finished_job_or_attempt_can_be_changed(
    backend: BackendUnderTest, store: Store, first: int, end: Callable[..., object]
) -> None:
    job_id = finished(store, end)
    before = store.jobs.history(job_id)
    for column, value in {**OF_JOBS, **ARGUMENTS}.items():
        assert is_refused(backend, "jobs", "id", job_id, column, value), column
    for column, value in OF_ATTEMPTS.items():
        assert is_refused(backend, "job_attempts", "job_id", job_id, column, value), column
    assert is_refused(backend, "jobs", "id", job_id, "correlation_id", "NULL"), "it is written once"
    backend.by_hand("UPDATE job_attempts SET log_path = 'logs/0/1-1.log' WHERE job_id = ?", job_id)
    assert is_refused(backend, "job_attempts", "job_id", job_id, "log_path", "'other'"), "it is written once"
    backend.by_hand("UPDATE job_attempts SET log_path = log_path WHERE job_id = ?", job_id)
    assert store.jobs.history(job_id).job == before.job
    assert store.verify() == []


class Guard:
    """A database trigger or function from which parts can be removed."""

    def __init__(self, backend: BackendUnderTest, column: str) -> None:
        self._backend, self._column = backend, column
        self._in_file = isinstance(backend, SqliteUnderTest)
        look = (
            "SELECT name, sql FROM sqlite_master WHERE name IN ('jobs_stay_as_they_ended', 'jobs_stay_as_they_came')"
            f" AND sql LIKE '%OLD.{column} %'"
            if self._in_file
            else "SELECT '', pg_get_functiondef('gribmill_keep_end'::regproc)"
        )
        ((self._name, self.text),) = backend.by_hand(look)

    def set(self, text: str) -> None:
        if self._in_file:
            self._backend.drop_trigger(self._name)
        self._backend.by_hand(text)

    def without_column(self) -> str:
        """Its source with the column replaced by NULL."""
        column = self._column
        null = "NULL" if self._in_file else "NULL::text"
        words = [
            (f"{row}.{column}{after}", f"{null}{after}") for row in ("OLD", "NEW") for after in (" ", ",", ")", "\n")
        ]
        text = str(self.text)
        for old, new in words:
            text = text.replace(old, new)
        assert text != self.text, column
        return text


def test_column_is_unprotected_without_its_part_of_the_guard(
    backend: BackendUnderTest, store: Store, first: int
) -> None:
    for column, value in OF_JOBS.items():
        job_id, guard = finished(store), Guard(backend, column)
        guard.set(guard.without_column())
        assert not is_refused(backend, "jobs", "id", job_id, column, value), column
        guard.set(guard.text)
        assert is_refused(backend, "jobs", "id", finished(store), column, value), column
        backend.by_hand("DELETE FROM jobs WHERE id = ?", job_id)
