"""Errors of downloads, by whether a retry may help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gribmill.ingest.errors import IngestError, NotThere, RateLimited
from gribmill.ingest.mirror import Observation


class NothingWanted(IngestError):
    """The file is valid, but contains nothing that is wanted."""


class WrongFile(IngestError):
    """The messages are valid, but do not belong in the model's files."""


@dataclass(frozen=True, slots=True)
class MirrorFailure:
    """Why one mirror did not deliver the file."""

    mirror: str
    error: Exception


class DownloadFailed(IngestError):
    """No mirror delivered the file. `retry_after_seconds` is None if no host said when to retry."""

    def __init__(
        self,
        what: str,
        reasons: Sequence[MirrorFailure],
        health_updates: Sequence[Observation] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        self.reasons, self.health_updates = tuple(reasons), tuple(health_updates)
        self.retry_after_seconds = retry_after_seconds
        self.received_bytes: int | None = None
        """Bytes received over the network nevertheless; None if not counted."""
        why = "; ".join(f"{reason.mirror}: {reason.error}" for reason in reasons)
        super().__init__(f"{what}: {why}" if why else what)


class NotYet(DownloadFailed):
    """No mirror has the file: it is not published yet, or no longer kept."""


class Retryable(DownloadFailed):
    """The download may succeed later."""


class DiskFull(Retryable):
    """No disk space is left for the file. Its partial download is removed to free space for others."""


class Permanent(DownloadFailed):
    """A retry would fail in the same way."""


def download_failure(
    what: str, reasons: Sequence[MirrorFailure], health_updates: Sequence[Observation]
) -> DownloadFailed:
    """Combines the failures of all mirrors into one error of the right kind."""
    errors = [reason.error for reason in reasons]
    if not errors:
        return Permanent(f"{what}: no mirror keeps this run", reasons, health_updates)
    if all(isinstance(error, NotThere) for error in errors):
        return NotYet(what, reasons, health_updates)
    if all(isinstance(error, NotThere | NothingWanted) for error in errors):
        return Permanent(what, reasons, health_updates)
    # If rate limits are the only problem, the time to retry is known.
    pauses = [error.retry_after_seconds for error in errors if isinstance(error, RateLimited)]
    paced = all(isinstance(error, RateLimited | NotThere) for error in errors)
    return Retryable(what, reasons, health_updates, min(pauses) if paced else None)
