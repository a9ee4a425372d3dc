"""What can go wrong with a job or with the queue, as sentences."""

from __future__ import annotations

from gribmill.errors import GribmillError


class QueueError(GribmillError):
    """The queue refuses, or cannot do, what was asked."""


class UnknownJobType(QueueError):
    """No such job type is declared."""


class UnknownLane(QueueError):
    """No job type runs in a lane of that name."""


class BadArguments(QueueError):
    """A job's arguments do not fit its type; the sentence names the field."""


class BadDefinition(QueueError):
    """A value that a job definition cannot have; the sentence names it."""


class JobNotFound(QueueError):
    """There is no job with that id."""


class WorkerNotFound(QueueError):
    """There is no worker with that id."""


class GroupNotFound(QueueError):
    """There is no job group with that name or id."""


class BadTrigger(QueueError):
    """A rule that could never make a job."""


class TriggerNotFound(QueueError):
    """There is no trigger with that id."""


class EventNotFound(QueueError):
    """There is no event with that id."""


class BadTenant(QueueError):
    """A tenant that cannot be added or changed so; the sentence names the field."""


class TenantNotFound(QueueError):
    """There is no tenant with that name."""


class BadTemplate(QueueError):
    """A job template that cannot be added or changed so; the sentence says why."""


class TemplateNotFound(QueueError):
    """The tenant has no job template with that name."""


class BadWebhook(QueueError):
    """A webhook that could never work."""


class WebhookNotFound(QueueError):
    """There is no webhook with that id."""


class NotAllowed(QueueError):
    """The job's state does not allow it."""


class TenantLimit(NotAllowed):
    """A tenant has reached one of its limits; the sentence names it and its value."""


class Reserved(QueueError):
    """Another holder has the reservation."""


class BadEffect(QueueError):
    """An attempt's end was to change the application's records in a way that they do not know, or cannot hold."""


class StatementRefused(QueueError):
    """The database is sound, but refuses what was to be written."""


class StoreError(QueueError):
    """The database cannot be used. Nothing was written."""


class StoreFull(StoreError):
    """No space left for the database."""


class StoreBusy(StoreError):
    """The database stayed locked for longer than a writer may wait."""


class StoreConflict(StoreBusy):
    """Two transactions were in each other's way, and this one was rolled back. Done again, it succeeds."""


class StoreUnreachable(StoreError):
    """The database server does not answer, or the connection was lost."""


class StoreReadOnly(StoreError):
    """The database, or its folder, cannot be written."""


class StoreCorrupt(StoreError):
    """The file is damaged, or is not a database."""


class StoreReplaced(StoreError):
    """The file was removed or replaced while it was open: no other process reads what is written to it."""


class StoreUnsafe(StoreError):
    """This place, or this SQLite, cannot hold a queue safely."""
