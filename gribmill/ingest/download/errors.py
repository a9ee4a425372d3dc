"""A download that no mirror could give: why, and whether to try again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gribmill.ingest.errors import IngestError
from gribmill.ingest.http.errors import NotThere, RateLimited
from gribmill.ingest.mirrors.circuit_breaker import Sighting


class NothingWanted(IngestError):
    """The file is sound, and holds nothing of what is wanted."""


class WrongFile(IngestError):
    """The messages are sound, and yet not what the model's files hold."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one mirror did not give the file."""

    mirror: str
    error: Exception


class DownloadFailed(IngestError):
    """No mirror gave the file. `retry_after_seconds` is None where no host said when to come back."""

    def __init__(
        self,
        what: str,
        reasons: Sequence[Reason],
        health_updates: Sequence[Sighting] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        self.reasons, self.health_updates = tuple(reasons), tuple(health_updates)
        self.retry_after_seconds = retry_after_seconds
        why = "; ".join(f"{reason.mirror}: {reason.error}" for reason in reasons)
        super().__init__(f"{what}: {why}" if why else what)


class NotYet(DownloadFailed):
    """No mirror has it: not published yet, or no longer kept."""


class Retryable(DownloadFailed):
    """Something is out of order that may be well later."""


class Permanent(DownloadFailed):
    """Trying again gives the same."""


def failure_of(what: str, reasons: Sequence[Reason], health_updates: Sequence[Sighting]) -> DownloadFailed:
    """The kind of failure that these reasons are together."""
    errors = [reason.error for reason in reasons]
    if not errors:
        return Permanent(f"{what}: no mirror keeps this run", reasons, health_updates)
    if all(isinstance(error, NotThere) for error in errors):
        return NotYet(what, reasons, health_updates)
    if all(isinstance(error, NotThere | NothingWanted) for error in errors):
        return Permanent(what, reasons, health_updates)
    # Where nothing is wrong but the pace, it is known when to come back.
    pauses = [error.retry_after_seconds for error in errors if isinstance(error, RateLimited)]
    paced = all(isinstance(error, RateLimited | NotThere) for error in errors)
    return Retryable(what, reasons, health_updates, min(pauses) if paced else None)
