"""A transaction as the queue sees it: statements by name, and the verbs."""

from __future__ import annotations

from gribmill.database.postgres.session import PostgresSession
from gribmill.database.postgres.verbs import claims, completion, due, enqueue, reservations
from gribmill.database.verbs import (
    cancellation,
    copies,
    dependents,
    events,
    ordering,
    recovery,
    tenants,
    triggers,
    verification,
    workers,
)
from gribmill.database.verbs import completion as common_completion
from gribmill.database.verbs import reservations as common_reservations


class PostgresTransaction(PostgresSession):
    """Each verb is a function in the file of its noun. The protocol says what it promises."""

    __slots__ = ()

    insert_jobs = enqueue.insert_jobs
    retry = copies.retry
    cancel = cancellation.cancel
    cancel_group = cancellation.cancel_group
    check_tenant_limits = tenants.check_tenant_limits
    rearrange = ordering.rearrange

    claim = claims.claim
    claim_job = claims.claim_job
    claim_siblings = claims.claim_siblings
    complete = completion.complete
    fail = common_completion.fail
    snooze = common_completion.snooze
    stop = common_completion.stop
    settle = dependents.settle_dependents
    any_lost = recovery.any_lost
    recover = recovery.recover
    recover_worker = recovery.recover_worker

    heartbeat = workers.heartbeat
    take_lease = workers.take_lease
    reserve = reservations.reserve
    share_reservation = common_reservations.share_reservation

    list_triggers = triggers.list_triggers
    get_trigger = triggers.get_trigger
    insert_trigger = triggers.insert_trigger
    any_trigger_due = due.any_trigger_due
    due_triggers = triggers.due_triggers
    event_triggers = triggers.event_triggers
    fire = triggers.fire

    publish = events.publish
    take_events = events.take_events
    begin_condition = events.begin_condition
    end_condition = events.end_condition

    violations = verification.violations
