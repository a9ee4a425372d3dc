"""Upstream mirrors of a model's files, and their hosts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from gribmill.checked.constraints import Bounds
from gribmill.checked.table import read
from gribmill.ingest.errors import ModelError

SCHEMES = ("https", "http", "file")
LONGEST_ROOT = 500

# s3: XML pages of keys (also Google's). pages: HTML directory listings. folder: local files. none: HEAD probes.
ListingKind = Literal["s3", "pages", "folder", "none"]
# noaa_idx: the output of `wgrib2 -s`. ecmwf_index: JSON lines. none: files are fetched whole.
IndexKind = Literal["noaa_idx", "ecmwf_index", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The limits of one host, shared by all mirrors on it. The keys are explained in hosts.toml."""

    name: str
    title: str
    listing: ListingKind
    connections: Annotated[int, Bounds(ge=1, le=64)]
    requests_per_minute: Annotated[int, Bounds(ge=1)] | None = None
    retention_hours: Annotated[int, Bounds(ge=1)] | None = None
    settle_seconds: Annotated[int, Bounds(ge=0)] = 0
    retry_statuses: tuple[int, ...] = ()


@lru_cache(maxsize=1)
def hosts() -> dict[str, Host]:
    """The hosts in hosts.toml, by name."""
    tables = tomllib.loads(files("gribmill.ingest").joinpath("hosts.toml").read_text(encoding="utf-8"))
    return {name: read(Host, {"name": name, **table}) for name, table in tables.items()}


@dataclass(frozen=True, slots=True)
class Mirror:
    """A root URL to which keys are appended, on a host with limits; it may keep only runs of a certain period."""

    name: str
    root: str
    host: Host
    begins: datetime | None = None
    ends: datetime | None = None

    @property
    def listing(self) -> ListingKind:
        """How to list its files."""
        return "folder" if self.root.startswith("file:") else self.host.listing

    def has(self, run: datetime) -> bool:
        """Whether the run is in the period that it keeps."""
        return (self.begins is None or run >= self.begins) and (self.ends is None or run < self.ends)


class SourceUrls(NamedTuple):
    """The URLs of a file and its index on one mirror; `index_url` is None for files without an index."""

    mirror: Mirror
    grib_url: str
    index_url: str | None
    index_kind: IndexKind


def clean_root(text: str) -> str:
    """A mirror's root URL with exactly one trailing slash. Raises ModelError if it is not valid."""
    try:
        parts = urlsplit(text)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    if not usable or len(text) > LONGEST_ROOT or not text.isascii() or any(letter <= " " for letter in text):
        raise ModelError(f"{text[:100]!r} is not a valid address of a mirror")
    if parts.scheme not in SCHEMES or (parts.scheme == "file") != (parts.netloc == ""):
        raise ModelError(f"{text!r}: a mirror is at https://…, http://… or file:///…")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ModelError(f"{text!r}: the address of a mirror may not have a user, a question mark or #")
    return text.rstrip("/") + "/"
