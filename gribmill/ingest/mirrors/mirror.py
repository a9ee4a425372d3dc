"""A place where a model's files can be had."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from gribmill.ingest.errors import ModelError
from gribmill.ingest.mirrors.host import Host, Listing

SCHEMES = ("https", "http", "file")
LONGEST_ROOT = 500


@dataclass(frozen=True, slots=True)
class Mirror:
    """A root that keys are appended to, on a host with its limits; for runs of its time only."""

    name: str
    root: str
    host: Host
    begins: datetime | None = None
    ends: datetime | None = None

    @property
    def listing(self) -> Listing:
        """How to see what is there."""
        return "folder" if self.root.startswith("file:") else self.host.listing

    def has(self, run: datetime) -> bool:
        """Whether runs of that time are kept there at all."""
        return (self.begins is None or run >= self.begins) and (self.ends is None or run < self.ends)


class SourceUrls(NamedTuple):
    """Where one file and its index are on one mirror; no index, no URL for it."""

    mirror: Mirror
    grib_url: str
    index_url: str | None


def clean_root(text: str) -> str:
    """A mirror's root with one slash at its end, or a ModelError that says what is wrong with it."""
    try:
        parts = urlsplit(text)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    if not usable or len(text) > LONGEST_ROOT or not text.isascii() or any(letter <= " " for letter in text):
        raise ModelError(f"{text[:100]!r} is no address of a mirror")
    if parts.scheme not in SCHEMES or (parts.scheme == "file") != (parts.netloc == ""):
        raise ModelError(f"{text!r}: a mirror is at https://…, http://… or file:///…")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ModelError(f"{text!r}: the address of a mirror has no user, question mark or #")
    return text.rstrip("/") + "/"
