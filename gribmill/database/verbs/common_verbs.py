"""Verbs that are the same in every dialect, as methods of the transaction."""

from __future__ import annotations

from gribmill.database.verbs import (
    cancellation,
    completion,
    copies,
    dependents,
    events,
    ordering,
    recovery,
    reservations,
    tenants,
    triggers,
    verification,
    workers,
)


class CommonVerbs:
    """Each verb is implemented by a function in the file of its noun; see the protocol for what it guarantees."""

    __slots__ = ()

    retry = copies.retry
    cancel = cancellation.cancel
    cancel_group = cancellation.cancel_group
    check_tenant_limits = tenants.check_tenant_limits
    rearrange = ordering.rearrange

    fail = completion.fail
    snooze = completion.snooze
    stop = completion.stop
    settle = dependents.settle_dependents
    any_lost = recovery.any_lost
    recover = recovery.recover
    recover_worker = recovery.recover_worker

    heartbeat = workers.heartbeat
    take_lease = workers.take_lease
    share_reservation = reservations.share_reservation

    list_triggers = triggers.list_triggers
    get_trigger = triggers.get_trigger
    insert_trigger = triggers.insert_trigger
    due_triggers = triggers.due_triggers
    event_triggers = triggers.event_triggers
    fire = triggers.fire

    publish = events.publish
    take_events = events.take_events
    begin_condition = events.begin_condition
    end_condition = events.end_condition

    violations = verification.violations
