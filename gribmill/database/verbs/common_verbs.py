"""Verbs that are the same in every dialect, as methods of the transaction."""

from __future__ import annotations

from gribmill.database.verbs import completion, events, jobs, new_jobs, reservations, workers


class CommonVerbs:
    """Each verb is implemented by a function in the file of its noun; see the protocol for what it guarantees."""

    __slots__ = ()

    retry = jobs.retry
    cancel = jobs.cancel
    cancel_group = jobs.cancel_group
    check_tenant_limits = new_jobs.check_tenant_limits
    rearrange = jobs.rearrange

    fail = completion.fail
    snooze = completion.snooze
    stop = completion.stop
    settle = completion.settle_dependents
    any_lost = workers.any_lost
    recover = workers.recover
    recover_worker = workers.recover_worker

    heartbeat = workers.heartbeat
    take_lease = workers.take_lease
    share_reservation = reservations.share_reservation

    list_triggers = events.list_triggers
    get_trigger = events.get_trigger
    insert_trigger = events.insert_trigger
    due_triggers = events.due_triggers
    event_triggers = events.event_triggers
    fire = events.fire

    publish = events.publish
    take_events = events.take_events
    begin_condition = events.begin_condition
    end_condition = events.end_condition

    violations = jobs.violations
