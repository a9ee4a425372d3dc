"""How an attempt ends, and what its worker gets in return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gribmill.queue.model.attempt import AttemptRef, Claimed
from gribmill.queue.model.job import NewJob


@dataclass(frozen=True, slots=True)
class Effect:
    """One change to the application's records: its kind, and its payload as JSON text."""

    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """How many bytes an attempt received from the network, and how many it wrote. None: not known."""

    downloaded: int | None = None
    written: int | None = None


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The work is done. `then` and `also` become real with the completion, or not at all."""

    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    artifacts: tuple[str, ...] = ()
    skipped: str | None = None
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed. A permanent failure is not tried again; others after the type's backoff, or `retry_in`."""

    error: str
    permanent: bool = False
    timeout: bool = False
    also: tuple[Effect, ...] = ()
    exit_code: int | None = None
    retry_in: float | None = None
    """Seconds until the next attempt."""
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Snoozed:
    """Not yet: come back later. Costs no attempt. `then` and `also` become real with it, or not at all."""

    seconds: float
    reason: str = ""
    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The attempt was stopped because the job is to be cancelled."""

    error: str = "cancelled while running"


Outcome = Succeeded | Failed | Snoozed | Stopped


def exit_code_of(outcome: Outcome) -> int:
    """As a process would end: 0, the handler's own code, or 1."""
    if not isinstance(outcome, Failed):
        return 0
    return 1 if outcome.exit_code is None else outcome.exit_code


class Report(NamedTuple):
    """How one attempt ended, with what its process left behind."""

    ref: AttemptRef
    outcome: Outcome
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    log_path: str | None = None
    """Where all of its output is, relative to the data root of its worker."""


class Exchange(NamedTuple):
    """What became of a worker's reports, and the batches it was given next, one per claim (heads first)."""

    accepted: tuple[AttemptRef, ...] = ()
    fenced: tuple[AttemptRef, ...] = ()
    batches: tuple[tuple[Claimed, ...], ...] = ()
