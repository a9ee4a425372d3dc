"""Enqueueing: validation, order, bulk inserts, deduplication, delays."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gribmill.queue.errors import BadArguments, JobNotFound, NotAllowed, StatementRefused, UnknownJobType
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, claim, drain, fail, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_new_job_has_its_given_values_and_the_defaults_of_its_type(store: Store, clock: FakeClock) -> None:
    made = store.jobs.enqueue(
        NewJob(
            "tile",
            {"region": "sw", "hour": 7},
            priority=3,
            tenant_id="t",
            source="event",
            source_ref="upload 5",
            correlation_id="c",
            created_by="ann",
        )
    )
    job = store.jobs.get(made.id)
    assert made.created
    assert job.args == {"hour": 7, "region": "sw"}
    assert (job.status, job.priority, job.position, job.retry_count, job.attempt_no) == ("pending", 3, 0, 0, 0)
    assert (job.max_attempts, job.group_key, job.dedupe_key) == (3, "hour/007", None)
    assert (job.tenant_id, job.source, job.source_ref) == ("t", "event", "upload 5")
    assert (job.correlation_id, job.created_by) == ("c", "ann")
    assert job.created_at is not None
    assert job.created_at.timestamp() == clock()
    empty = (job.worker_id, job.started_at, job.completed_at, job.error_message, job.next_run_at)
    assert empty == (None,) * 5


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("priority", -4),
        ("max_attempts", 7),
        ("tenant_id", "t"),
        ("source", "system"),
        ("source_ref", "upload 5"),
        ("correlation_id", ""),
        ("created_by", "ann"),
        ("dedupe_key", "k"),
    ],
)
def test_job_keeps_each_single_option(store: Store, field: str, value: Any) -> None:
    assert getattr(store.jobs.get(add(store, **{field: value})), field) == value


@pytest.mark.parametrize(
    ("kind", "args", "named"),
    [
        ("plain", {"n": "many"}, "n:"),
        ("plain", {"n": 1, "colour": 2}, "colour:"),
        ("tile", {"hour": None}, "hour:"),
        ("tile", {"region": ["ne"]}, "region:"),
        ("tile", {"region": "x" * 70_000}, "larger than 64000 bytes"),
        ("tile", {"region": "é" * 40_000}, "larger than 64000 bytes"),
        ("tile", {"region": "\ud800"}, "cannot be written as JSON"),
    ],
)
def test_invalid_arguments_are_refused_naming_the_field(
    store: Store, kind: str, args: dict[str, Any], named: str
) -> None:
    with pytest.raises(BadArguments, match=named):
        store.jobs.enqueue(NewJob(kind, args))
    assert store.jobs.list().jobs == ()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"priority": 2**31}, "priority"),
        ({"priority": -(2**40)}, "priority"),
        ({"delay_seconds": -1.0}, "delay"),
        ({"delay_seconds": float("nan")}, "delay"),
        ({"delay_seconds": float("inf")}, "delay"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": 1001}, "max_attempts"),
        ({"tenant_id": ""}, "tenant_id"),
        ({"tenant_id": "t" * 201}, "tenant_id"),
    ],
)
def test_numbers_out_of_bounds_are_refused(store: Store, fields: dict[str, Any], named: str) -> None:
    with pytest.raises(BadArguments, match=named):
        store.jobs.enqueue(NewJob("plain", **fields))
    assert store.jobs.list().jobs == ()


def test_unknown_type_is_refused_and_the_known_ones_are_named(store: Store) -> None:
    with pytest.raises(UnknownJobType, match=r"'rm -rf'.*plain.*unique"):
        store.jobs.enqueue(NewJob("rm -rf"))


def test_one_invalid_job_among_many_refuses_all(store: Store) -> None:
    with pytest.raises(BadArguments):
        store.jobs.enqueue_many([NewJob("plain"), NewJob("plain", {"n": "x"})])
    assert store.jobs.list().jobs == ()


def test_refused_row_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(StatementRefused, match="nothing was written"):
        store.jobs.enqueue_many([NewJob("plain"), NewJob("plain", source="nonsense")])  # type: ignore[arg-type]
    assert store.jobs.list().jobs == ()
    add(store)


def test_thousands_keep_their_order_over_several_transactions(store: Store) -> None:
    made = store.jobs.enqueue_many(NewJob("plain", {"n": n}) for n in range(2500))
    ids = [job.id for job in made]
    assert ids == sorted(ids)
    assert len(set(ids)) == 2500
    assert [job.args["n"] for job in store.jobs.upcoming(limit=1000)] == list(range(1000))
    assert store.jobs.enqueue_many([]) == []


def test_ids_are_never_reused(store: Store, clock: FakeClock) -> None:
    last = add(store)
    succeed(store, take(store))
    clock.advance(10)
    store.maintenance.prune(0, 0)
    assert add(store) == last + 1


def test_declared_types_and_their_argument_schemas_are_stored(store: Store, backend: BackendUnderTest) -> None:
    rows = backend.by_hand("SELECT key, batch_max, max_running, on_lost, arg_schema FROM job_definitions ORDER BY key")
    assert [row[0] for row in rows] == ["fragile", "limited", "needy", "plain", "polling", "tile", "unique"]
    assert [row[1:4] for row in rows] == [
        (1, None, "fail"),
        (2, 2, "retry"),
        (1, None, "retry"),
        (1, None, "retry"),
        (1, None, "retry"),
        (4, None, "retry"),
        (1, None, "retry"),
    ]
    assert json.loads(rows[5][4])["properties"].keys() == {"hour", "region"}


# Dedupe


def test_deduplicating_type_treats_equal_arguments_as_the_same_job(store: Store) -> None:
    first = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    assert store.jobs.enqueue(NewJob("unique", {"n": 1}, priority=9)).id == first.id
    assert store.jobs.enqueue(NewJob("unique", {"n": 2})).created
    assert store.jobs.enqueue(NewJob("unique", {"n": 1}, tenant_id="t")).created
    assert store.jobs.get(first.id).priority == 0, "the existing job stays as it is"
    assert store.jobs.get(first.id).dedupe_key == 'unique::global::{"n":1}'


def test_equal_jobs_of_one_call_become_one(store: Store) -> None:
    made = store.jobs.enqueue_many([NewJob("unique", {"n": 1})] * 3)
    assert [job.created for job in made] == [True, False, False]
    assert len({job.id for job in made}) == 1


def test_bulk_insert_keeps_the_columns_of_each_job(store: Store) -> None:
    """Similar jobs are inserted by one statement, which must keep their order and each job's own columns."""
    old = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    asked = [
        NewJob("tile", {"hour": 1, "region": 'a "quoted" ñame'}),
        NewJob("tile", {"hour": 2, "region": "\u2028"}),
        NewJob("unique", {"n": 0}),
        NewJob("unique", {"n": 1}),
        NewJob("unique", {"n": 2}),
        NewJob("unique", {"n": 0}),
        NewJob("plain", {"n": 3}, priority=5),
        NewJob("plain", {"n": 4}, priority=5, delay_seconds=60),
        NewJob("plain", {"n": 5}, priority=5, after=(old.id,)),
    ]
    made = store.jobs.enqueue_many(asked)
    assert [job.created for job in made] == [True, True, True, False, True, False, True, True, True]
    assert made[3].id == old.id
    assert made[5].id == made[2].id
    new = [job.id for job in made if job.created]
    assert new == sorted(new)
    stored = [store.jobs.get(job.id) for job in made]
    assert [job.args for job in stored] == [job.args for job in asked]
    assert [job.group_key for job in stored[:3]] == ["hour/001", "hour/002", None]
    assert [job.priority for job in stored] == [0, 0, 0, 0, 0, 0, 5, 5, 5]
    assert [job.next_run_at is not None for job in stored] == [False] * 7 + [True, False]
    assert [job.deps_left for job in stored] == [0] * 8 + [1]


def test_keys_with_a_nul_character_are_kept_in_a_batch(store: Store) -> None:
    made = store.jobs.enqueue_many([NewJob("plain", dedupe_key=f"a\0{n % 2}") for n in range(4)])
    assert [job.created for job in made] == [True, True, False, False]


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
def test_an_equal_job_may_be_enqueued_after_the_first_has_ended(store: Store, how: str) -> None:
    first = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    job = take(store)
    assert store.jobs.enqueue(NewJob("unique", {"n": 1})).id == first.id
    ends: dict[str, Callable[[], object]] = {
        "completed": lambda: succeed(store, job),
        "failed": lambda: fail(store, job, permanent=True),
        "cancelled": lambda: stop(store, job),
    }
    ends[how]()
    assert store.jobs.get(first.id).status == how
    second = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    assert second.created
    assert second.id != first.id


def test_jobs_without_a_key_are_all_different(store: Store) -> None:
    assert len({add(store) for _ in range(5)}) == 5


# Delays


def test_delayed_job_waits_and_then_takes_its_place(store: Store, clock: FakeClock) -> None:
    delayed = add(store, delay_seconds=10, priority=1)
    add(store, "tile", delay_seconds=20_000)
    now = add(store)
    assert store.jobs.seconds_to_next_due() == 10
    assert drain(store) == [now]
    clock.advance(10)
    later = add(store, priority=1)
    assert drain(store) == [delayed, later], "its age counts from its enqueue"
    assert store.jobs.seconds_to_next_due() == 19_990


def test_all_due_jobs_run_even_beyond_one_promotion(store: Store, clock: FakeClock) -> None:
    store.jobs.enqueue_many(NewJob("plain", delay_seconds=1) for _ in range(1100))
    clock.advance(1)
    assert len(drain(store)) == 1100


def test_zero_delay_means_no_delay(store: Store) -> None:
    job_id = add(store, delay_seconds=0)
    assert store.jobs.get(job_id).next_run_at is None
    assert take(store).id == job_id


def test_run_now_ends_the_wait(store: Store) -> None:
    job_id = add(store, delay_seconds=1000)
    store.jobs.run_now(job_id)
    assert take(store).id == job_id
    with pytest.raises(JobNotFound):
        store.jobs.run_now(99)


# Tenants


def test_tenants_share_the_queue_and_are_listed_separately(store: Store) -> None:
    ours = add(store, tenant_id="ours")
    theirs = add(store, tenant_id="theirs")
    assert [job.id for job in store.jobs.list(JobFilter(tenant_id="ours")).jobs] == [ours]
    assert [job.id for job in store.jobs.list(JobFilter(tenant_id="theirs")).jobs] == [theirs]
    assert [job.tenant_id for job in (take(store), take(store))] == ["ours", "theirs"]


def test_same_key_of_two_tenants_is_two_jobs_even_when_running(store: Store) -> None:
    a = store.jobs.enqueue(NewJob("plain", dedupe_key="k", tenant_id="a"))
    b = store.jobs.enqueue(NewJob("plain", dedupe_key="k", tenant_id="b"))
    assert a.created
    assert b.created
    claim(store)
    claim(store)
    assert store.jobs.enqueue(NewJob("plain", dedupe_key="k", tenant_id="b")).id == b.id


def test_jobs_of_an_inactive_type_are_neither_accepted_nor_run(backend: BackendUnderTest, store: Store) -> None:
    backend.by_hand("UPDATE job_definitions SET is_active = 0 WHERE key = 'plain'")
    attempts: list[Callable[[], object]] = [lambda: add(store), lambda: store.jobs.enqueue_many([NewJob("plain")])]
    for attempt in attempts:
        with pytest.raises(NotAllowed, match="plain is inactive"):
            attempt()
    assert store.types.inactive() == {"plain"}
    assert add(store, "tile")


def test_jobs_of_an_inactive_type_are_not_retried(store: Store) -> None:
    group = store.groups.open("some")
    (made,) = store.groups.add(group.id, [NewJob("plain")])
    store.jobs.cancel(made.id)
    store.definitions.set_active("plain", active=False)
    for retry in (lambda: store.jobs.retry(made.id), lambda: store.groups.retry(group.id, cancelled=True)):
        with pytest.raises(NotAllowed, match="plain is inactive"):
            retry()
    assert [job.id for job in store.jobs.list().jobs] == [made.id]


def test_a_job_may_start_at_an_absolute_time(store: Store, clock: FakeClock) -> None:
    moment = datetime.fromtimestamp(clock() + 90, UTC)
    add(store, run_at=moment)
    past = add(store, run_at=moment - timedelta(days=1))
    long_ago = add(store, run_at=datetime(999, 12, 31, tzinfo=UTC))
    assert [take(store).id, take(store).id] == [past, long_ago]
    clock.advance(90)
    assert take(store).id == 1
    with pytest.raises(BadArguments, match="not both"):
        add(store, run_at=moment, delay_seconds=1)
    with pytest.raises(BadArguments, match="aware"):
        add(store, run_at=moment.replace(tzinfo=None))


def test_job_may_have_its_own_timeout(store: Store) -> None:
    store.jobs.enqueue_many([NewJob("tile", {"hour": 1, "region": r}, timeout_seconds=7) for r in ("a", "b")])
    add(store, timeout_seconds=5)
    assert [(job.type, job.timeout_seconds) for job in (*claim(store), *claim(store))] == [
        ("tile", 7), ("tile", 7), ("plain", 5)
    ]  # fmt: skip
    with pytest.raises(BadArguments, match="timeout"):
        add(store, timeout_seconds=0)


def test_jobs_are_listed_by_source_and_by_correlation(store: Store) -> None:
    add(store)
    add(store, source="event", correlation_id="c")
    add(store, source="system", correlation_id="c")

    def ids(**wanted: Any) -> list[int]:
        return [job.id for job in store.jobs.list(JobFilter(**wanted)).jobs]

    assert ids(source="event") == [2]
    assert ids(correlation_id="c") == [3, 2]
    assert ids(status="pending", source="manual") == [1]
