"""Siblings are claimed together, and limits count batches."""

from __future__ import annotations

from gribmill.queue.model import NewJob, Report, Succeeded
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, asks, attempts, claim, fail, succeed, take


def tiles(store: Store, hour: int, count: int, kind: str = "tile", **fields: object) -> list[int]:
    jobs = [NewJob(kind, {"hour": hour, "region": f"r{n}"}, **fields) for n in range(count)]  # type: ignore[arg-type]
    return [made.id for made in store.jobs.enqueue_many(jobs)]


def test_head_brings_its_ready_siblings_up_to_the_types_limit(store: Store) -> None:
    ids = tiles(store, 1, 6)
    other = tiles(store, 2, 1)
    first = claim(store)
    assert [job.id for job in first] == ids[:4]
    assert {job.batch_id for job in first} == {ids[0]}
    assert [job.id for job in claim(store)] == ids[4:]
    assert [job.id for job in claim(store)] == other


def test_siblings_come_in_queue_order_and_the_head_is_the_best_of_all(store: Store) -> None:
    plain = add(store, priority=3)
    ids = tiles(store, 1, 5)
    store.jobs.set_priority(ids[3], 2)
    store.jobs.move_to_back(ids[0])
    assert take(store).id == plain
    assert [job.id for job in claim(store)] == [ids[3], ids[1], ids[2], ids[4]]


def test_delayed_siblings_and_other_types_are_not_claimed_along(store: Store) -> None:
    parent = add(store, "fragile", priority=-5)
    head = tiles(store, 1, 1)
    tiles(store, 1, 1, delay_seconds=5)
    tiles(store, 1, 1, after=(parent,))
    tiles(store, 1, 1, kind="limited", priority=-9)
    assert [job.id for job in claim(store)] == head


def test_workers_own_batch_limit_is_kept(store: Store) -> None:
    ids = tiles(store, 1, 4)
    assert [job.id for job in claim(store, limit=2)] == ids[:2]
    assert [job.id for job in claim(store, limit=1)] == ids[2:3]


def test_siblings_end_independently(store: Store) -> None:
    ids = tiles(store, 1, 3)
    batch = claim(store)
    succeed(store, batch[0])
    fail(store, batch[1], permanent=True)
    assert [store.jobs.get(job_id).status for job_id in ids] == ["completed", "failed", "processing"]
    assert [relative.id for relative in store.jobs.history(ids[0]).siblings] == ids[1:]


def test_top_up_takes_siblings_that_arrived_meanwhile(store: Store) -> None:
    tiles(store, 1, 1)
    head = take(store)
    late = tiles(store, 1, 3)
    tiles(store, 2, 1)
    more = store.claim_siblings(asks(), head, 2)
    assert [job.id for job in more] == late[:2]
    assert {job.batch_id for job in more} == {head.id}
    assert attempts(store, late[0]) == ["running"]
    assert [job.id for job in store.claim_siblings(asks(), head, 5)] == late[2:]
    assert store.claim_siblings(asks(), head, 5) == ()
    assert store.claim_siblings(asks(), head, 0) == ()


def test_no_top_up_for_a_paused_type_or_without_a_batching_key(store: Store) -> None:
    tiles(store, 1, 1)
    add(store)
    head, plain = take(store), take(store)
    tiles(store, 1, 1)
    store.types.pause("tile")
    assert store.claim_siblings(asks(), head, 5) == ()
    assert store.claim_siblings(asks(), plain, 5) == ()


def test_max_running_counts_batches_not_jobs(store: Store) -> None:
    first, second, third = (tiles(store, hour, 2, "limited") for hour in (1, 2, 3))
    one = claim(store)
    two = claim(store)
    assert [[job.id for job in batch] for batch in (one, two)] == [first, second]
    assert claim(store) == ()
    succeed(store, one[0])
    assert claim(store) == (), "the batch still runs while one of it does"
    succeed(store, one[1])
    assert [job.id for job in claim(store)] == third


def test_top_up_joins_its_batch_even_at_the_limit(store: Store) -> None:
    for hour in (1, 2):
        tiles(store, hour, 1, "limited")
    one = take(store)
    take(store)
    late = tiles(store, 1, 1, "limited")
    assert [job.id for job in store.claim_siblings(asks(), one, 1)] == late
    tiles(store, 3, 1, "limited")
    assert claim(store) == ()


def test_worker_that_lost_its_head_gets_no_siblings(store: Store, clock: FakeClock) -> None:
    tiles(store, 1, 1)
    lost = take(store)
    clock.advance(LEASE + 1)
    assert store.maintenance.recover().requeued == (lost.id,)
    tiles(store, 1, 2)
    assert store.claim_siblings(asks(), lost, 2) == ()
    assert len(claim(store, "w2")) == 2


def test_top_up_of_an_ended_batch_does_not_exceed_the_limit(store: Store) -> None:
    for hour in (1, 2, 3):
        tiles(store, hour, 1, "limited")
    one = take(store)
    take(store)
    succeed(store, one)
    take(store)
    tiles(store, 1, 1, "limited")
    assert store.claim_siblings(asks(), one, 1) == ()


def test_limit_does_not_affect_other_types(store: Store) -> None:
    for hour in (1, 2, 3):
        tiles(store, hour, 1, "limited", priority=5)
    claim(store)
    claim(store)
    plain = add(store)
    assert take(store).id == plain


def test_follow_up_siblings_become_visible_together(store: Store, clock: FakeClock) -> None:
    add(store)
    job = take(store)
    then = tuple(NewJob("tile", {"hour": 5, "region": str(n)}) for n in range(3))
    exchange = store.exchange("w1", [Report(job.ref, Succeeded(then=then))], [asks(), asks()])
    assert [len(batch) for batch in exchange.batches] == [3, 0]
    assert exchange.accepted == (job.ref,)


def test_exchange_reports_and_claims_in_one_transaction(store: Store) -> None:
    ids = tiles(store, 1, 4)
    waiting = [add(store), add(store)]
    batch = claim(store)
    exchange = store.exchange(
        "w1",
        [Report(job.ref, Succeeded()) for job in batch],
        [asks(types=("plain",)), asks(types=("plain",)), asks(types=("plain",))],
    )
    assert [[job.id for job in given] for given in exchange.batches] == [[waiting[0]], [waiting[1]], []]
    assert {store.jobs.get(job_id).status for job_id in ids} == {"completed"}


def test_job_that_failed_runs_alone_so_that_its_crash_costs_no_sibling(store: Store, clock: FakeClock) -> None:
    ids = tiles(store, 1, 3)
    for job in claim(store):
        fail(store, job)
    clock.advance(3600)
    late = tiles(store, 1, 1)
    first = claim(store)
    assert [job.id for job in first] == ids[:1]
    assert store.claim_siblings(asks(), first[0], 5) == ()
    assert [[job.id for job in claim(store)] for _ in range(3)] == [ids[1:2], ids[2:3], late]


def test_fresh_siblings_are_claimed_without_one_that_failed(store: Store, clock: FakeClock) -> None:
    bad = tiles(store, 1, 1)
    fail(store, take(store))
    clock.advance(3600)
    fresh = tiles(store, 1, 2, priority=1)
    assert [job.id for job in claim(store)] == fresh
    assert [job.id for job in claim(store)] == bad


def test_top_up_takes_ready_siblings_and_leaves_delayed_ones(store: Store, clock: FakeClock) -> None:
    (head,) = claim(store, types=("tile",)) if add(store, "tile", {"hour": 0, "region": "a"}) else ()
    sibling = add(store, "tile", {"hour": 0, "region": "b"}, delay_seconds=5)
    other = add(store, delay_seconds=5)
    clock.advance(5)
    assert store.claim_siblings(asks(), head, 3) == ()
    assert store.jobs.get(other).next_run_at is not None
    assert [job.id for job in claim(store, types=("tile",))] == [sibling]
