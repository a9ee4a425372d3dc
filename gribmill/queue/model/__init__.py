"""The nouns of the queue as plain values. They know neither the store nor a database."""

from gribmill.queue.model.attempt import (
    Attempt,
    AttemptRef,
    AttemptStatus,
    Claimed,
    ClaimRequest,
    HeldAttempt,
    Recovered,
)
from gribmill.queue.model.job import (
    DEFAULT_TENANT,
    FINISHED,
    STATUSES,
    Enqueued,
    Job,
    JobSource,
    Json,
    NewJob,
    PlacedJob,
    PreparedJob,
    Status,
)
from gribmill.queue.model.outcome import Effect, Ended, Exchange, Failed, Outcome, Report, Snoozed, Stopped, Succeeded
from gribmill.queue.model.reservation import Reservation
from gribmill.queue.model.trigger import BrokenTrigger, Fired, Misfire, NewTrigger, Trigger
from gribmill.queue.model.violation import Violation
from gribmill.queue.model.worker import Heartbeat, Worker, WorkerState

__all__ = [
    "DEFAULT_TENANT",
    "FINISHED",
    "STATUSES",
    "Attempt",
    "AttemptRef",
    "AttemptStatus",
    "BrokenTrigger",
    "ClaimRequest",
    "Claimed",
    "Effect",
    "Ended",
    "Enqueued",
    "Exchange",
    "Failed",
    "Fired",
    "Heartbeat",
    "HeldAttempt",
    "Job",
    "JobSource",
    "Json",
    "Misfire",
    "NewJob",
    "NewTrigger",
    "Outcome",
    "PlacedJob",
    "PreparedJob",
    "Recovered",
    "Report",
    "Reservation",
    "Snoozed",
    "Status",
    "Stopped",
    "Succeeded",
    "Trigger",
    "Violation",
    "Worker",
    "WorkerState",
]
