"""What a download has brought."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gribmill.grib.message_header import MessageHeader
from gribmill.ingest.download.download_plan import Way
from gribmill.ingest.mirrors.circuit_breaker import Sighting


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole, proven spool file. `requested_bytes` came over the wire, index and gaps included.

    By `index`, `found` and `missing` are exact; by `walk` and `whole`, `found` names what may be in the file.
    `messages` have their number in the source and their place in the spool.
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
    messages: tuple[MessageHeader, ...]
    health_updates: tuple[Sighting, ...] = ()
