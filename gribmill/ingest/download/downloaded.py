"""What a download has brought."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gribmill.ingest.download.download_plan import Plan, Way
from gribmill.ingest.mirrors.circuit_breaker import Sighting


@dataclass(frozen=True, slots=True)
class SpooledMessage:
    """A message in the spool, and where it lay in the source."""

    number: int
    offset: int
    length: int
    source_offset: int


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole, proven spool file. `requested_bytes` came over the wire, index and gaps included.

    By `index`, `found` and `missing` are exact; by `walk` and `whole`, `found` names what may be in the file.
    """

    path: Path
    bytes: int
    requested_bytes: int
    requests: int
    sha256: str
    url: str
    etag: str | None
    source_size: int | None
    mirror: str
    way: Way
    found: tuple[str, ...]
    missing: tuple[str, ...]
    messages: tuple[SpooledMessage, ...]
    health_updates: tuple[Sighting, ...] = ()


def spooled(plan: Plan) -> tuple[SpooledMessage, ...]:
    """The messages of a plan as they lie in the spool."""
    return tuple(
        SpooledMessage(piece.number, place, piece.length, piece.start)
        for piece, place in zip(plan.pieces, plan.places, strict=False)
    )
