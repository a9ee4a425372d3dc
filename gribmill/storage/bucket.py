"""A bucket of an object store, the status of its objects, and conditions on writing them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gribmill.storage.store_options import StoreOptions


@dataclass(frozen=True, slots=True, order=True)
class Bucket:
    """A bucket by its URL (s3://name), and how its store is reached."""

    url: str
    options: StoreOptions = field(default_factory=StoreOptions)


class ObjectStatus(NamedTuple):
    """The status of an object; size and time are named as in os.stat_result."""

    st_size: int
    st_mtime: float
    etag: str | None
    version: str | None = None


# The condition of a write. None: always. NEW: only if there is no object. Otherwise: only if the object is this one.
NEW: Literal["new"] = "new"
Condition = ObjectStatus | Literal["new"] | None
