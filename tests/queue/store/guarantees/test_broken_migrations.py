"""Broken variants of later migrations: without each change, the tests of its behaviour fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest

from gribmill.queue.errors import QueueError
from tests.queue.store.claims import test_due_retries, test_order
from tests.queue.store.guarantees.mutant import Mutant
from tests.queue.store.guarantees.postgres_mutant import PostgresMutant, without
from tests.queue.store.jobs import test_waits
from tests.queue.store.tested_backend import BackendUnderTest, PostgresUnderTest, SqliteUnderTest

pytestmark = pytest.mark.slow

RED = (AssertionError, QueueError, psycopg.Error, pytest.fail.Exception)
Scenario = Callable[[BackendUnderTest], None]
DUE_RETRIES = "migrations/0017_due_retries"
WAITS = "migrations/0040_waits_of_attempts"
BUDGET = "IF NEW.status = 'failed' AND NEW.dead_lettered_at IS NULL"


def jobs_queue_up_when_they_are_due(backend: BackendUnderTest) -> None:
    test_order.test_failed_job_goes_behind_waiting_jobs_and_ahead_of_later_ones(backend.store, backend.clock)


def waits_are_those_of_each_attempt(backend: BackendUnderTest) -> None:
    test_waits.test_wait_of_each_attempt_begins_when_it_could_have_started(backend.store, backend.clock)


def reset_job_waits_from_then_on(backend: BackendUnderTest) -> None:
    test_waits.test_manually_reset_job_waits_from_the_reset_on(backend, backend.store, backend.clock)


def failure_by_hand_gets_its_retry(backend: BackendUnderTest) -> None:
    backend.store.definitions.edit("plain", {"retry_as": "new_job", "max_attempts": 3})
    test_due_retries.test_recovery_creates_the_retry_when_no_worker_claims(backend, backend.store)


def no_retry_is_made(backend: BackendUnderTest, how: str) -> None:
    backend.store.definitions.edit("plain", {"retry_as": "new_job", "max_attempts": 3})
    test_due_retries.test_no_retry_is_created_when_none_is_due(backend, backend.store, how)


IN_SQLITE: dict[str, tuple[Mutant, Scenario]] = {
    "jobs_that_are_due_in_the_order_of_arrival": (
        Mutant({"jobs/park_due": (("queue_order = 'due'", "queue_order = 'never'"),)}),
        jobs_queue_up_when_they_are_due,
    ),
    "failure_by_hand_without_a_retry": (
        Mutant({DUE_RETRIES: (("AND status = 'failed' AND dead", "AND 0 AND dead"),)}),
        failure_by_hand_gets_its_retry,
    ),
    "retry_beyond_the_budget": (
        Mutant({DUE_RETRIES: (("retry_count + 1 < max_attempts", "1"),)}),
        partial(no_retry_is_made, how="used up"),
    ),
    "retry_of_a_cancelled_job": (
        Mutant({DUE_RETRIES: ((" AND cancel_requested_at IS NULL", ""),)}),
        partial(no_retry_is_made, how="cancelled"),
    ),
    "retry_of_a_type_that_reuses_its_rows": (
        Mutant({DUE_RETRIES: ((" AND retry_as = 'new_job'", ""),)}),
        partial(no_retry_is_made, how="same row"),
    ),
    "attempt_that_forgets_when_it_could_start": (
        Mutant({"attempts/end_requeued": (("coalesce(j.ready_at, j.created_at)", "NULL"),)}),
        waits_are_those_of_each_attempt,
    ),
    "lost_attempt_that_forgets_when_it_could_start": (
        Mutant({"attempts/lose": (("coalesce(ready_at, created_at)", "NULL"),)}),
        waits_are_those_of_each_attempt,
    ),
    "snooze_of_no_time_that_waits_since_before": (
        Mutant({"jobs/set_ready": (("WHERE id", "WHERE 0 AND id"),)}),
        waits_are_those_of_each_attempt,
    ),
    "promotion_that_forgets_the_parent": (
        Mutant({"jobs/promote_due": (("max(coalesce(ready_at, next_run_at), next_run_at)", "next_run_at"),)}),
        waits_are_those_of_each_attempt,
    ),
    "reset_that_waits_since_the_first_time": (
        Mutant({WAITS: (("WHEN NEW.new_status = 'pending' BEGIN", "WHEN 0 BEGIN"),)}),
        reset_job_waits_from_then_on,
    ),
}

IN_POSTGRES: dict[str, tuple[PostgresMutant, Scenario]] = {
    "jobs_that_are_due_in_the_order_of_arrival": (
        PostgresMutant({"claims/promote": (("queue_order = 'due'", "queue_order = 'never'"),)}),
        jobs_queue_up_when_they_are_due,
    ),
    "failure_by_hand_without_a_retry": (
        PostgresMutant(by_hand=(without("gribmill_change_manually", BUDGET),)),
        failure_by_hand_gets_its_retry,
    ),
    "attempt_that_forgets_when_it_could_start": (
        PostgresMutant({"attempts/end_requeued": (("coalesce(j.ready_at, j.created_at)", "NULL::timestamptz"),)}),
        waits_are_those_of_each_attempt,
    ),
    "lost_attempt_that_forgets_when_it_could_start": (
        PostgresMutant({"attempts/lose": (("coalesce(ready_at, created_at)", "NULL::timestamptz"),)}),
        waits_are_those_of_each_attempt,
    ),
    "promotion_that_forgets_the_parent": (
        PostgresMutant({"claims/promote": (("greatest(ready_at, next_run_at)", "next_run_at"),)}),
        waits_are_those_of_each_attempt,
    ),
    "reset_that_waits_since_the_first_time": (
        PostgresMutant(
            by_hand=(without("gribmill_change_manually", "IF NEW.status = 'pending' AND (OLD.status = 'failed'"),)
        ),
        reset_job_waits_from_then_on,
    ),
}


@pytest.mark.parametrize("name", IN_SQLITE)
def test_broken_variant_goes_red(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, scenario = IN_SQLITE[name]
    mutant.apply(monkeypatch)
    backend = SqliteUnderTest(tmp_path, prepared=False)
    with pytest.raises(RED):
        scenario(backend)
    monkeypatch.undo()
    backend.close()


@pytest.mark.postgres
@pytest.mark.parametrize("name", IN_POSTGRES)
def test_broken_variant_goes_red_in_postgres(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, scenario = IN_POSTGRES[name]
    backend = PostgresUnderTest()
    mutant.alter(backend)
    mutant.apply(monkeypatch)
    with pytest.raises(RED):
        scenario(backend)
    monkeypatch.undo()
    backend.close()
