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
from gribmill.queue.model.definition import TUNABLE, Definition, DefinitionVersion, RetryAs
from gribmill.queue.model.event import OPTIONAL_EVENTS, Condition, NewEvent, PublishedEvent
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
from gribmill.queue.model.job_group import GroupMode, GroupProgress, GroupStatus, JobGroup, OnGroupFailure
from gribmill.queue.model.job_template import JobTemplate, NewTemplate
from gribmill.queue.model.outcome import (
    Effect,
    Exchange,
    Failed,
    Outcome,
    Report,
    Snoozed,
    Stopped,
    Succeeded,
    Transfer,
    exit_code_of,
)
from gribmill.queue.model.reservation import Reservation
from gribmill.queue.model.shown_status import DEAD_LETTER, shown_status
from gribmill.queue.model.tenant import NewTenant, Tenant
from gribmill.queue.model.trigger import ADAPTIVE, BrokenTrigger, Fired, Misfire, NewTrigger, Trigger, TriggerKind
from gribmill.queue.model.violation import Violation
from gribmill.queue.model.webhook import Delivery, Webhook, WebhookAnswer
from gribmill.queue.model.worker import Heartbeat, Worker, WorkerState

__all__ = [
    "ADAPTIVE",
    "DEAD_LETTER",
    "DEFAULT_TENANT",
    "FINISHED",
    "OPTIONAL_EVENTS",
    "STATUSES",
    "TUNABLE",
    "Attempt",
    "AttemptRef",
    "AttemptStatus",
    "BrokenTrigger",
    "ClaimRequest",
    "Claimed",
    "Condition",
    "Definition",
    "DefinitionVersion",
    "Delivery",
    "Effect",
    "Enqueued",
    "Exchange",
    "Failed",
    "Fired",
    "GroupMode",
    "GroupProgress",
    "GroupStatus",
    "Heartbeat",
    "HeldAttempt",
    "Job",
    "JobGroup",
    "JobSource",
    "JobTemplate",
    "Json",
    "Misfire",
    "NewEvent",
    "NewJob",
    "NewTemplate",
    "NewTenant",
    "NewTrigger",
    "OnGroupFailure",
    "Outcome",
    "PlacedJob",
    "PreparedJob",
    "PublishedEvent",
    "Recovered",
    "Report",
    "Reservation",
    "RetryAs",
    "Snoozed",
    "Status",
    "Stopped",
    "Succeeded",
    "Tenant",
    "Transfer",
    "Trigger",
    "TriggerKind",
    "Violation",
    "Webhook",
    "WebhookAnswer",
    "Worker",
    "WorkerState",
    "exit_code_of",
    "shown_status",
]
