"""A bucket of an object store: how it is reached, the status of its objects, and conditions on writing them.

Values never include secrets.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from gribmill.config_file import SettingsError, find_config, read_config
from gribmill.errors import quoted

_TABLE = "store"


@dataclass(frozen=True, slots=True, order=True)
class StoreOptions:
    """The table [store] of the settings. Empty values are found the same way as by the store's other tools."""

    endpoint: str = ""
    region: str = ""
    anonymous: bool = False

    def __post_init__(self) -> None:
        if self.endpoint:
            check_endpoint(self.endpoint)

    @classmethod
    def found(cls) -> StoreOptions:
        """Read from GRIBMILL_STORE_* and the settings file, for library functions, which read no other settings."""
        path = find_config()
        table = read_config(path).get(_TABLE, {}) if path else {}
        return cls.of(table if isinstance(table, dict) else {})

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> StoreOptions:
        """Read from a table of the settings; environment variables take precedence."""
        named = {key: os.environ.get(f"GRIBMILL_STORE_{key.upper()}") or table.get(key) for key in cls.__slots__}
        anonymous = named["anonymous"]
        return cls(
            str(named["endpoint"] or ""),
            str(named["region"] or ""),
            anonymous if isinstance(anonymous, bool) else str(anonymous or "").lower() in ("1", "true", "yes", "on"),
        )


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


def check_endpoint(endpoint: str) -> str:
    """Validate the URL of a custom endpoint; raises SettingsError unless it is http or https."""
    try:
        parts = urlsplit(endpoint)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not endpoint.isprintable() or " " in endpoint:
        raise SettingsError(f"store.endpoint = {quoted(endpoint)} is not an address such as https://s3.example.org")
    if parts.username or parts.password:
        raise SettingsError("store.endpoint must not contain a user name or password: they belong in the environment")
    return endpoint
