"""Outcomes of attempts, and the worker's exchange with the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gribmill.queue.model.attempt import AttemptRef, Claimed
from gribmill.queue.model.job import NewJob


@dataclass(frozen=True, slots=True)
class Effect:
    """One change to the application's own records: its kind, and its payload as JSON text."""

    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes that an attempt downloaded and wrote; None if unknown."""

    downloaded: int | None = None
    written: int | None = None


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The work is done. The jobs in `then` and effects in `also` are committed together with the completion."""

    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    artifacts: tuple[str, ...] = ()
    skipped: str | None = None
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed. Unless permanent, it is retried after `retry_in` seconds or the type's backoff."""

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
    """Run again later, without using an attempt. `then` and `also` are committed together with it."""

    seconds: float
    reason: str = ""
    then: tuple[NewJob, ...] = ()
    also: tuple[Effect, ...] = ()
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The attempt was stopped because its job was cancelled."""

    error: str = "cancelled while running"


Outcome = Succeeded | Failed | Snoozed | Stopped


def exit_code_of(outcome: Outcome) -> int:
    """The exit code of an outcome: 0, the handler's own code, or 1."""
    if not isinstance(outcome, Failed):
        return 0
    return 1 if outcome.exit_code is None else outcome.exit_code


class Report(NamedTuple):
    """How one attempt ended, with its output."""

    ref: AttemptRef
    outcome: Outcome
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    log_path: str | None = None
    """The path of its full output, relative to the worker's data root."""


class Exchange(NamedTuple):
    """The results of a worker's reports, and one batch per claim (head first)."""

    accepted: tuple[AttemptRef, ...] = ()
    fenced: tuple[AttemptRef, ...] = ()
    batches: tuple[tuple[Claimed, ...], ...] = ()
