"""Errors of the queue."""

from __future__ import annotations

from gribmill.errors import GribmillError


class QueueError(GribmillError):
    """The base class: the queue refuses or cannot do what was requested."""


class UnknownJobType(QueueError):
    """No such job type is declared."""


class UnknownLane(QueueError):
    """No job type runs in a lane of that name."""


class BadArguments(QueueError):
    """A job's arguments are invalid; the message names the field."""


class BadDefinition(QueueError):
    """An invalid value in a job definition; the message names it."""


class JobNotFound(QueueError):
    """There is no job with that id."""


class WorkerNotFound(QueueError):
    """There is no worker with that id."""


class GroupNotFound(QueueError):
    """There is no job group with that name or id."""


class BadTrigger(QueueError):
    """A trigger that could never create a job."""


class TriggerNotFound(QueueError):
    """There is no trigger with that id."""


class EventNotFound(QueueError):
    """There is no event with that id."""


class BadTenant(QueueError):
    """An invalid tenant; the message names the field."""


class TenantNotFound(QueueError):
    """There is no tenant with that name."""


class BadTemplate(QueueError):
    """An invalid job template; the message says why."""


class TemplateNotFound(QueueError):
    """The tenant has no job template with that name."""


class BadWebhook(QueueError):
    """A webhook that could never work."""


class WebhookNotFound(QueueError):
    """There is no webhook with that id."""


class NotAllowed(QueueError):
    """The job's state does not allow it."""


class TenantLimit(NotAllowed):
    """A tenant has reached one of its limits; the message names it."""


class Reserved(QueueError):
    """Another holder has the reservation."""


class BadEffect(QueueError):
    """An effect of an attempt is unknown or cannot be applied."""


class StatementRefused(QueueError):
    """The database works, but rejected the statement."""


class StoreError(QueueError):
    """The database cannot be used; nothing was written."""


class StoreFull(StoreError):
    """No space left for the database."""


class StoreBusy(StoreError):
    """The database stayed locked longer than a writer may wait."""


class StoreConflict(StoreBusy):
    """Two transactions conflicted, and this one was rolled back. Retrying succeeds."""


class StoreUnreachable(StoreError):
    """The database server does not respond, or the connection was lost."""


class StoreReadOnly(StoreError):
    """The database, or its folder, cannot be written."""


class StoreCorrupt(StoreError):
    """The file is damaged, or is not a database."""


class StoreReplaced(StoreError):
    """The file was removed or replaced while it was open, so no other process would see further writes."""


class StoreUnsafe(StoreError):
    """This file system, or this SQLite version, cannot hold a queue safely."""
