"""Job definitions: values declared in code, operators' changes, and effective values."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gribmill.queue.errors import BadDefinition, NotAllowed, UnknownJobType
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Failed, NewJob, Succeeded
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import PLAIN, TYPES
from tests.queue.store.store_driver import LEASE, add, claim, fail, report, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def reopened(store: Store, *types: Any) -> Store:
    """The queue as the next process opens it, possibly with changed declarations."""
    return Store(store.database, Registry(*types) if types else TYPES)


def test_an_edit_survives_the_next_start_and_a_reset_ends_it(store: Store) -> None:
    made = store.definitions.edit("plain", {"timeout_seconds": 17, "max_attempts": 9}, changed_by="ann")
    assert (made.timeout_seconds, made.max_attempts, made.version) == (17, 9, 1)
    again = reopened(store)
    found = again.definitions.get("plain").definition
    assert (found.timeout_seconds, found.overrides) == (17, {"timeout_seconds": 17, "max_attempts": 9})
    assert found.declared["timeout_seconds"] == PLAIN.timeout_seconds
    partly = again.definitions.reset("plain", ["timeout_seconds"])
    assert (partly.timeout_seconds, partly.max_attempts) == (PLAIN.timeout_seconds, 9)
    assert again.definitions.reset("plain").overrides == {}


def test_new_code_changes_only_what_the_operator_did_not_edit(store: Store) -> None:
    store.definitions.edit("plain", {"timeout_seconds": 17})
    newer = dataclasses.replace(PLAIN, timeout_seconds=99, max_attempts=8)
    found = reopened(store, newer).definitions.get("plain")
    assert (found.definition.timeout_seconds, found.definition.max_attempts) == (17, 8)
    assert [one.change for one in found.versions] == ["edit", "changed by the code"]
    reopened(store)


def test_every_change_is_a_version_with_author_and_time(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("plain", {"max_running": 2}, changed_by="ann")
    clock.advance(10)
    store.definitions.edit("plain", {"max_running": 2}, changed_by="bob")
    store.definitions.set_active("plain", active=False, changed_by="bob")
    store.definitions.set_active("plain", active=True, changed_by="bob")
    store.definitions.reset("plain", changed_by="cid")
    versions = store.definitions.get("plain").versions
    assert [(one.version, one.change, one.changed_by) for one in versions] == [
        (1, "edit", "ann"), (2, "deactivate", "bob"), (3, "activate", "bob"), (4, "reset", "cid"),
    ]  # fmt: skip
    first, second = versions[0], versions[1]
    assert first.changed_at is not None
    assert second.changed_at is not None
    assert (second.changed_at - first.changed_at).total_seconds() == 10
    assert first.definition["overrides"] == {"max_running": 2}
    assert second.definition["active"] is False


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"timeout_seconds": 0}, "timeout_seconds: must be at least 1"),
        ({"max_attempts": 1001}, "max_attempts: must be at most 1000"),
        ({"backoff_base_s": 100.0}, "backoff_base_s 100 is greater than backoff_cap_s 45"),
        ({"backoff_jitter": 1.5}, "backoff_jitter: must be at most 1"),
        ({"batch_max": 4}, "batch_max has no effect: jobs of this type are not grouped"),
        ({"lane": "No Way"}, "lane: use lower-case letters"),
        ({"resources": ["a b"]}, "resources.0: use lower-case letters"),
        ({"on_lost": "shrug"}, "on_lost: must be 'retry' or 'fail'"),
        ({"retry_as": "x"}, "retry_as: must be 'same_row' or 'new_job'"),
        ({"colour": "red"}, "'colour' cannot be set; these can: timeout_seconds, "),
        ({"default_args": {"m": 1}}, "no argument 'm'; there are: n"),
    ],
    ids=repr,
)
def test_invalid_value_is_refused_with_one_sentence(store: Store, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadDefinition, match=r"^plain: ") as refused:
        store.definitions.edit("plain", changes)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert store.definitions.get("plain").definition.version == 0


def test_an_unknown_type_cannot_be_edited(store: Store) -> None:
    for act in (
        lambda: store.definitions.edit("nope", {}),
        lambda: store.definitions.get("nope"),
        lambda: store.definitions.set_active("nope", active=False),
    ):
        with pytest.raises(UnknownJobType, match="no job type 'nope'"):
            act()


def test_claim_carries_the_effective_timeout(store: Store) -> None:
    store.definitions.edit("plain", {"timeout_seconds": 17})
    store.definitions.edit("tile", {"timeout_seconds": 18})
    add(store)
    add(store, timeout_seconds=5)
    assert [take(store).timeout_seconds for _ in range(2)] == [17, 5]
    for region in ("a", "b"):
        add(store, "tile", {"region": region})
    assert [job.timeout_seconds for job in claim(store)] == [18, 18]


def test_new_jobs_and_follow_ups_get_the_effective_max_attempts(store: Store) -> None:
    store.definitions.edit("plain", {"max_attempts": 7})
    add(store)
    assert add(store, max_attempts=2) == 2
    succeed(store, take(store), then=(NewJob("plain"),))
    assert [store.jobs.get(job_id).max_attempts for job_id in (1, 2, 3)] == [7, 2, 7]


def test_another_process_uses_the_edit_at_its_next_read(store: Store) -> None:
    other = reopened(store)
    store.definitions.edit("plain", {"max_attempts": 7})
    other.registry.forget()  # a second has passed
    assert store.jobs.get(add(other)).max_attempts == 7


def test_effective_limits_and_batch_sizes_apply_to_claims(store: Store) -> None:
    store.definitions.edit("plain", {"max_running": 1})
    store.definitions.edit("tile", {"batch_max": 1})
    add(store), add(store)
    for region in ("a", "b"):
        add(store, "tile", {"region": region})
    assert len(claim(store, types=("plain",))) == 1
    assert claim(store, types=("plain",)) == ()
    assert len(claim(store, types=("tile",))) == 1


def test_effective_backoff_is_exact_without_jitter(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("plain", {"backoff_base_s": 4.0, "backoff_cap_s": 8.0, "backoff_jitter": 0.0})
    job_id = add(store, max_attempts=9)
    for wait in (4, 8, 8):
        fail(store, take(store))
        due = store.jobs.get(job_id).next_run_at
        assert due is not None
        assert round(due.timestamp() - clock(), 3) == wait
        clock.advance(wait)


def test_an_inactive_type_accepts_and_starts_nothing_until_it_is_activated(store: Store) -> None:
    add(store)
    store.definitions.set_active("plain", active=False)
    with pytest.raises(NotAllowed, match="plain is inactive"):
        add(store)
    assert claim(store) == ()
    store.definitions.set_active("plain", active=True)
    add(store)
    assert len({take(store).id, take(store).id}) == 2


def test_default_arguments_fill_in_what_a_job_does_not_give(store: Store) -> None:
    store.definitions.edit("tile", {"default_args": {"hour": 7, "region": "sw"}})
    assert store.jobs.get(add(store, "tile", {"region": "ne"})).args == {"hour": 7, "region": "ne"}


# Resources


def test_types_with_a_tag_share_its_limit(store: Store) -> None:
    store.definitions.set_resource_limits({"gpu": 2})
    for key in ("plain", "unique"):
        store.definitions.edit(key, {"resources": ["gpu", "disk"]})
    for n in range(2):
        add(store, "plain", {"n": n})
        add(store, "unique", {"n": n})
    add(store, "fragile")
    first, second, free = take(store), take(store), take(store)
    assert {first.type, second.type, free.type} == {"plain", "unique", "fragile"}
    assert claim(store) == (), "two of the tag run"
    waiting = store.jobs.get(3)
    assert store.jobs.readiness().why_not(waiting) == "limit: 2 at once of the resource gpu"
    succeed(store, first)
    assert take(store).type in ("plain", "unique")
    assert claim(store) == ()
    store.definitions.set_resource_limits({})
    assert len(claim(store)) == 1


# A retry as a new job


def test_a_failed_job_is_followed_by_one_new_job_up_to_its_attempts(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("unique", {"retry_as": "new_job", "max_attempts": 3})
    first = add(store, "unique", {"n": 5}, priority=4, tenant_id="acme", timeout_seconds=9)
    chain = [first]
    for _ in range(2):
        job = take(store)
        assert job.id == chain[-1]
        fail(store, job)
        old = store.jobs.get(job.id)
        assert (old.status, old.dead_lettered_at) == ("failed", None)
        new = store.jobs.get(chain[-1] + 1)
        assert (new.status, new.retry_of, new.args, new.priority) == ("pending", job.id, {"n": 5}, 4)
        assert (new.tenant_id, new.timeout_seconds, new.dedupe_key) == ("acme", 9, old.dedupe_key)
        assert new.next_run_at is not None
        assert report(store, job, Failed("late")).fenced == (job.ref,), "a second report makes no second retry"
        clock.advance(1000)
        chain.append(new.id)
    fail(store, take(store))
    assert store.jobs.get(chain[-1]).dead_lettered_at is not None
    assert [one.id for one in store.jobs.history(first).chain] == chain
    assert claim(store) == ()
    assert store.jobs.retry(first).id == chain[1], "the retry that was made is found"


def test_dependents_follow_the_end_of_the_chain(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job"})
    parent = add(store)
    child = add(store, "fragile", after=(parent,))
    fail(store, take(store))
    clock.advance(1000)
    assert store.jobs.get(child).status == "pending"
    job = take(store)
    assert job.id == child + 1
    report(store, job, Succeeded())
    assert take(store).id == child


def test_dependents_are_cancelled_when_the_chain_ends_in_failure(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job", "max_attempts": 2})
    child = add(store, "fragile", after=(add(store),))
    for _ in range(2):
        fail(store, take(store))
        clock.advance(1000)
    assert store.jobs.get(child).status == "cancelled"


def test_permanent_failure_and_cancellation_create_no_new_job(store: Store) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job"})
    add(store), add(store)
    fail(store, take(store), permanent=True)
    job = take(store)
    store.jobs.cancel(job.id)
    fail(store, job)
    assert len(store.jobs.list().jobs) == 2


def test_a_lost_job_is_followed_by_one_new_job(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job"})
    job_id = add(store)
    take(store)
    clock.advance(LEASE)
    assert store.maintenance.recover().ended == (job_id,)
    assert store.maintenance.recover().ended == ()
    assert [(one.id, one.status, one.retry_of) for one in store.jobs.list().jobs] == [
        (2, "pending", 1), (1, "failed", None),
    ]  # fmt: skip


def test_a_damaged_definition_does_not_stop_the_queue(backend: BackendUnderTest) -> None:
    backend.by_hand("UPDATE job_definitions SET overrides = 'x', declared = '[]', default_args = '3'")
    store = Store(backend.store.database, TYPES)
    assert store.definitions.get("plain").definition.overrides == {}
    add(store)
    assert take(store).type == "plain"
