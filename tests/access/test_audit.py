"""The audit trail, and idempotency keys."""

from __future__ import annotations

import pytest

from gribmill.access.audit import Actor, AuditedChange, AuditTrail
from gribmill.access.idempotency import IdempotencyKeys, RequestKey, StoredAnswer
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.tested_backend import REFUSED, BackendUnderTest

ACTOR = Actor("deploy", "abcd1234", "192.0.2.7")


def test_entry_records_caller_action_address_before_and_after_without_secrets(backend: BackendUnderTest) -> None:
    trail = AuditTrail(backend.store.database)
    change = AuditedChange("edit_webhook", "acme", "webhook 3", {"secret": "whsec_x"}, {"secret": "whsec_y", "n": 1})
    trail.record(ACTOR, change, 200)
    (entry,) = trail.list()
    assert (entry.actor, entry.token_id, entry.address, entry.tenant_id) == ("deploy", "abcd1234", "192.0.2.7", "acme")
    assert (entry.operation, entry.object, entry.status) == ("edit_webhook", "webhook 3", 200)
    assert (entry.before, entry.after) == ({"secret": "[redacted]"}, {"secret": "[redacted]", "n": 1})


def test_unfinished_change_is_recorded_without_a_status(backend: BackendUnderTest) -> None:
    trail = AuditTrail(backend.store.database)
    entry_id = trail.begin(ACTOR, AuditedChange("cancel_job"))
    assert [one.status for one in trail.list()] == [None]
    trail.finish(entry_id, AuditedChange("cancel_job", "acme", "job 1"), 200)
    assert [(one.status, one.object) for one in trail.list()] == [(200, "job 1")]


def test_a_finished_entry_cannot_be_changed(backend: BackendUnderTest) -> None:
    trail = AuditTrail(backend.store.database)
    trail.record(ACTOR, AuditedChange("cancel_job"), 200)
    trail.finish(1, AuditedChange("cancel_job", object="another"), 500)
    assert [one.object for one in trail.list()] == [None]
    with pytest.raises((*REFUSED, Exception), match="cannot be changed"):
        backend.by_hand("UPDATE audit_entries SET actor = 'nobody'")


def test_entries_are_listed_newest_first_by_tenant_and_page(backend: BackendUnderTest) -> None:
    trail = AuditTrail(backend.store.database)
    for n in range(5):
        trail.record(ACTOR, AuditedChange("cancel_job", "acme" if n % 2 else "other", f"job {n}"), 200)
    assert [one.object for one in trail.list(tenant_id="acme")] == ["job 3", "job 1"]
    page = trail.list(limit=2)
    assert [one.object for one in page] == ["job 4", "job 3"]
    assert [one.object for one in trail.list(limit=2, before_id=page[-1].id)] == ["job 2", "job 1"]


def test_long_values_are_left_out(backend: BackendUnderTest) -> None:
    trail = AuditTrail(backend.store.database)
    trail.record(ACTOR, AuditedChange("create_job", after={"text": "x" * 30_000}), 201)
    assert "left out" in str(trail.list()[0].after)


def test_a_repeated_request_gets_the_first_answer(backend: BackendUnderTest, clock: FakeClock) -> None:
    keys = IdempotencyKeys(backend.store.database)
    request = RequestKey("token a", "k1", "create_job", "hash")
    assert keys.begin(request, 60) == "new"
    assert keys.begin(request, 60) == "busy"
    keys.finish(request, 201, '{"id": 1}', "/jobs/1")
    assert keys.begin(request, 60) == StoredAnswer("create_job", "hash", 201, '{"id": 1}', "/jobs/1")
    assert keys.begin(RequestKey("token a", "k1", "create_job", "other"), 60) == "different"
    assert keys.begin(RequestKey("token b", "k1", "create_job", "hash"), 60) == "new"
    clock.advance(25 * 3600)
    assert keys.begin(request, 60) == "new"


def test_request_of_a_dead_server_can_be_repeated_after_a_while(backend: BackendUnderTest, clock: FakeClock) -> None:
    keys = IdempotencyKeys(backend.store.database)
    request = RequestKey("token a", "k1", "create_job", "hash")
    assert keys.begin(request, 60) == "new"
    clock.advance(61)
    assert keys.begin(request, 60) == "new"
    assert keys.begin(request, 60) == "busy"
    keys.forget(request)
    assert keys.begin(request, 60) == "new"
