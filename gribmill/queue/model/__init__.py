"""The nouns of the queue as plain values. They know neither the store nor a database."""

from gribmill.queue.model.attempt import Attempt, AttemptRef, AttemptStatus, Claimed, ClaimRequest, HeldAttempt
from gribmill.queue.model.job import DEFAULT_TENANT, FINISHED, STATUSES, Enqueued, Job, JobSource, NewJob, Status
from gribmill.queue.model.outcome import Effect, Exchange, Failed, Outcome, Report, Snoozed, Stopped, Succeeded
from gribmill.queue.model.reservation import Reservation
from gribmill.queue.model.worker import Worker

__all__ = [
    "DEFAULT_TENANT",
    "FINISHED",
    "STATUSES",
    "Attempt",
    "AttemptRef",
    "AttemptStatus",
    "ClaimRequest",
    "Claimed",
    "Effect",
    "Enqueued",
    "Exchange",
    "Failed",
    "HeldAttempt",
    "Job",
    "JobSource",
    "NewJob",
    "Outcome",
    "Report",
    "Reservation",
    "Snoozed",
    "Status",
    "Stopped",
    "Succeeded",
    "Worker",
]
