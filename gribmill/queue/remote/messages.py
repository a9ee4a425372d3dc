"""The messages between a remote worker and the server, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gribmill.queue.errors import BadArguments
from gribmill.queue.model import (
    AttemptRef,
    Claimed,
    ClaimRequest,
    Exchange,
    Heartbeat,
    HeldAttempt,
    Report,
    WorkerState,
)
from gribmill.queue.redact import redacted
from gribmill.queue.worker.outcome_message import outcome_from_message, outcome_to_message

LONGEST_LEASE_SECONDS = 3600.0
MOST_TYPES = 1000
MOST_REPORTS = 10_000
MOST_CLAIMS = 1000
LONGEST_TAIL = 100_000

WorkerId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._:-]+$")]
LeaseSeconds = Annotated[float, Field(ge=1, le=LONGEST_LEASE_SECONDS)]
TypeKeys = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=MOST_TYPES)]
Tail = Annotated[str | None, Field(max_length=LONGEST_TAIL)]
Number = Annotated[int, Field(gt=0, lt=2**63)]
Pid = Annotated[int | None, Field(gt=0, lt=2**31)]
_CLAIMED = TypeAdapter(Claimed)


class Message(BaseModel):
    """Checked when it arrives."""

    model_config = ConfigDict(extra="forbid")


class ReadMessage(Message):
    """A named statement with its parameters."""

    statement: Annotated[str, Field(max_length=100)]
    params: dict[str, Any] = {}


class TableMessage(Message):
    """The rows as stored, and the time of the read by the database's clock."""

    now: float
    columns: tuple[str, ...]
    rows: list[list[Any]]


class RefMessage(Message):
    """One attempt of a job."""

    job_id: Number
    attempt_no: Number

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.job_id, self.attempt_no)

    @classmethod
    def of(cls, ref: AttemptRef) -> RefMessage:
        return cls(job_id=ref.job_id, attempt_no=ref.attempt_no)


class ReportMessage(RefMessage):
    """How an attempt ended."""

    outcome: dict[str, Any]
    exit_code: Annotated[int | None, Field(ge=-(2**31), lt=2**31)] = None
    stdout_tail: Tail = None
    stderr_tail: Tail = None
    log_path: Annotated[str | None, Field(max_length=1000)] = None

    @classmethod
    def of_report(cls, report: Report) -> ReportMessage:
        fields = report._asdict() | {"outcome": outcome_to_message(report.outcome)}
        return cls(**report.ref._asdict(), **{name: fields[name] for name in fields if name != "ref"})

    def to_report(self) -> Report:
        outcome = redacted(outcome_from_message(self.outcome))
        return Report(self.ref, outcome, self.exit_code, self.stdout_tail, self.stderr_tail, self.log_path)


class ClaimMessage(Message):
    """A claim of one executor."""

    types: TypeKeys
    lease_seconds: LeaseSeconds
    pid: Pid = None
    batch_limit: Annotated[int | None, Field(gt=0, le=10_000)] = None

    @classmethod
    def of(cls, request: ClaimRequest) -> ClaimMessage:
        return cls(
            types=request.types, lease_seconds=request.lease_seconds, pid=request.pid, batch_limit=request.batch_limit
        )

    def to_request(self, worker_id: str) -> ClaimRequest:
        return ClaimRequest(worker_id, self.types, self.lease_seconds, self.pid, self.batch_limit)


class TurnMessage(Message):
    """The reports of a worker, and the claims of its free executors."""

    worker_id: WorkerId
    reports: Annotated[list[ReportMessage], Field(max_length=MOST_REPORTS)] = []
    claims: Annotated[list[ClaimMessage], Field(max_length=MOST_CLAIMS)] = []


def claimed_of(fields: dict[str, Any]) -> Claimed:
    """Rebuild a claimed job from its message; raises BadArguments if it is malformed."""
    try:
        return _CLAIMED.validate_python({name: fields[name] for name in Claimed._fields if name in fields})
    except ValidationError as error:
        raise BadArguments(f"a claimed job is malformed: {error.errors()[0]['msg']}") from None


class ExchangeMessage(Message):
    """What became of the reports, and a batch for each claim."""

    accepted: list[RefMessage] = []
    fenced: list[RefMessage] = []
    batches: list[list[dict[str, Any]]] = []

    @classmethod
    def of(cls, exchange: Exchange) -> ExchangeMessage:
        return cls(
            accepted=[RefMessage.of(ref) for ref in exchange.accepted],
            fenced=[RefMessage.of(ref) for ref in exchange.fenced],
            batches=[[job._asdict() for job in batch] for batch in exchange.batches],
        )

    def to_exchange(self) -> Exchange:
        return Exchange(
            tuple(one.ref for one in self.accepted),
            tuple(one.ref for one in self.fenced),
            tuple(tuple(map(claimed_of, batch)) for batch in self.batches),
        )


class SiblingsMessage(Message):
    """A claim of more jobs to batch with a running one."""

    worker_id: WorkerId
    claim: ClaimMessage
    head: dict[str, Any]
    limit: Annotated[int, Field(gt=0, le=10_000)]


class BatchMessage(Message):
    """Jobs that the worker now holds."""

    jobs: list[dict[str, Any]]


class HeartbeatMessage(Message):
    """A heartbeat."""

    worker_id: WorkerId
    lease_seconds: LeaseSeconds
    types: TypeKeys
    state: WorkerState
    hostname: Annotated[str, Field(max_length=255)]
    version: Annotated[str, Field(max_length=100)]
    metadata: Annotated[dict[str, Annotated[str, Field(max_length=1000)] | int | float | None], Field(max_length=50)]

    def to_heartbeat(self) -> Heartbeat:
        return Heartbeat(**self.model_dump())


class HeldMessage(Message):
    """What the worker still holds."""

    held: list[RefMessage]
    cancelled: list[RefMessage]
    draining: bool = False
    """Whether the worker should stop after its running jobs."""

    @classmethod
    def of(cls, held: list[HeldAttempt], *, draining: bool) -> HeldMessage:
        return cls(
            draining=draining,
            held=[RefMessage.of(one.ref) for one in held],
            cancelled=[RefMessage.of(one.ref) for one in held if one.cancel_requested],
        )

    def to_held(self) -> list[HeldAttempt]:
        cancelled = {one.ref for one in self.cancelled}
        return [HeldAttempt(one.ref, one.ref in cancelled) for one in self.held]


class UpkeepMessage(Message):
    """The jobs of silent workers that were queued again, and those that ended."""

    requeued: list[int]
    ended: list[int]


class FiredMessage(Message):
    """How many jobs schedules and events created."""

    jobs: int


class DueMessage(Message):
    """Seconds until a delayed job may run, and until a schedule fires; None if there is none."""

    job: float | None
    slot: float | None
