"""Events, and the name and payload of each event that gribmill publishes.

Keys may be added to a payload, but never changed or removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from gribmill.queue.model import OPTIONAL_EVENTS
from gribmill.queue.redact import redact_json
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import PublishedEvent


class EventView(View):
    """An event. `job_id` is the job that caused it; `key` is the id given with `emit`."""

    id: int
    name: str
    tenant_id: str
    created_at: Time | None
    job_id: int | None
    key: str | None
    payload: Any

    @classmethod
    def of(cls, event: PublishedEvent) -> Self:
        return cls.copy_of(event, key=event.event_key, payload=redact_json(event.payload))


class EventNameView(View):
    """An event that gribmill publishes, with the JSON Schema of its payload."""

    name: str
    description: str
    optional: bool
    recorded: bool
    """Whether the event is always recorded. Optional events are otherwise recorded only while a trigger needs them."""
    payload_schema: dict[str, Any]

    @classmethod
    def all(cls, recorded: set[str]) -> list[Self]:
        return [
            cls(
                name=name,
                description=words,
                optional=name in OPTIONAL_EVENTS,
                recorded=name not in OPTIONAL_EVENTS or name in recorded,
                payload_schema=payload.model_json_schema(),
            )
            for name, (payload, words) in PAYLOADS.items()
        ]


class RunPayload(View):
    """One run of a model."""

    model_id: str
    run_id: str


class RunSeenPayload(RunPayload):
    """A run was recorded for the first time: it is due, or one of its files is published.

    `hours` are the hours of the complete run; unless `final`, more may be found.
    """

    hours: list[int]
    final: bool


class HourIngestedPayload(RunPayload):
    """The wanted messages of a forecast hour were downloaded: `bytes` from `mirror`, to be cut for `regions`."""

    hour: int
    mirror: str
    bytes: int
    regions: list[str]
    missing: list[str]
    """Variables that the file does not have."""


class HourCutPayload(RunPayload):
    """The tiles of an hour were cut together. `decode_seconds` is the time to unpack fields, `encode_seconds` the time
    to cut, compress and write arrays."""

    hour: int
    regions: list[str]
    bytes: int
    decode_seconds: float
    encode_seconds: float


class TileBuiltPayload(RunPayload):
    """A tile was built."""

    hour: int
    region: str
    bytes: int


class ModelPayload(View):
    """A region of a followed model is late or stale."""

    model_id: str
    region: str
    reason: str


class ModelRecoveredPayload(ModelPayload):
    """A model that was late or stale is up to date again."""

    was_stale: bool


class MirrorPayload(View):
    """A mirror is used again."""

    mirror: str


class MirrorSickPayload(MirrorPayload):
    """A mirror failed repeatedly, or requested a pause, and is not used before `until`."""

    failures: int
    reason: str
    until: str


class JobFailedPayload(View):
    """A job has failed and will not be retried: permanently, or as a dead letter."""

    job_id: int
    type: str
    attempt_no: int
    error: str | None
    dead_lettered: bool
    correlation_id: str | None


class JobDeadLetteredPayload(View):
    """A job has used up its attempts."""

    job_id: int
    type: str
    attempts: int
    error: str | None
    correlation_id: str | None


class JobRecoveredPayload(View):
    """An attempt was lost with its worker. `status` is the new status of the job: if `pending`, it runs again."""

    job_id: int
    type: str
    attempt_no: int
    worker_id: str
    status: str
    error: str | None


class AttemptMeteredPayload(View):
    """An attempt has ended. `wait_seconds` counts from when it could have started: it excludes backoff, delay and
    waiting for dependencies.

    `bytes` is the sum of bytes downloaded and written; each is null if the handler did not report it.
    """

    job_id: int
    type: str
    tenant_id: str
    attempt_no: int
    status: Literal["succeeded", "failed", "timeout", "cancelled", "lost", "snoozed", "skipped"]
    exit_code: int | None
    worker_id: str
    wait_seconds: float | None
    run_seconds: float | None
    bytes: int | None
    downloaded_bytes: int | None
    written_bytes: int | None


class WorkerLostPayload(View):
    """A worker died or stopped sending heartbeats, with or without jobs."""

    worker_id: str
    reason: str


class DiskLowPayload(View):
    """The disk has less free space than downloads must leave free; downloads wait."""

    free_bytes: int
    low_bytes: int


class DiskFreedPayload(View):
    """The disk has enough free space again; downloads continue."""


class WebhookDisabledPayload(View):
    """A webhook was disabled because its deliveries failed for too long, or its URL responded with 410 Gone."""

    webhook_id: int
    host: str | None
    reason: str


class WebhookTestPayload(View):
    """Sent by `webhooks test` to one webhook."""

    webhook_id: int


PAYLOADS: dict[str, tuple[type[View], str]] = {
    "run.seen": (RunSeenPayload, "A run was recorded for the first time: it is due, or one of its files is published."),
    "hour.ingested": (HourIngestedPayload, "The wanted messages of a forecast hour were downloaded."),
    "hour.cut": (HourCutPayload, "Tiles of a forecast hour were cut."),
    "run.completed": (RunPayload, "Every hour of a run has all its tiles."),
    "run.given_up": (RunPayload, "The missing hours of a run are not expected any more."),
    "tile.built": (TileBuiltPayload, "A tile was built. Optional: recorded only if it has a consumer."),
    "model.late": (ModelPayload, "A region of a followed model is late."),
    "model.stale": (ModelPayload, "No run of a region has been complete in time for stale_hours of the model."),
    "model.recovered": (ModelRecoveredPayload, "A region that was late or stale is up to date again."),
    "mirror.sick": (MirrorSickPayload, "A mirror is not used for a while."),
    "mirror.well": (MirrorPayload, "A mirror that was not used is used again."),
    "job.failed": (JobFailedPayload, "A job has failed for good, as a dead letter or permanently."),
    "job.dead_lettered": (JobDeadLetteredPayload, "A job has used up its attempts; job.failed comes as well."),
    "job.recovered": (JobRecoveredPayload, "An attempt was lost with its worker; its job runs again or has ended."),
    "attempt.metered": (AttemptMeteredPayload, "An attempt has ended. Optional: recorded only if it has a consumer."),
    "worker.lost": (WorkerLostPayload, "A worker died or stopped sending heartbeats, with or without jobs."),
    "disk.low": (DiskLowPayload, "Downloads wait because the disk is nearly full."),
    "disk.freed": (DiskFreedPayload, "The disk has space again, and downloads resume."),
    "webhook.disabled": (WebhookDisabledPayload, "A webhook was disabled after long failure."),
    "webhook.test": (WebhookTestPayload, "Asked for with `gribmill webhooks test`; goes to that webhook alone."),
}
"""Every name that gribmill publishes, with its payload and what it means."""
