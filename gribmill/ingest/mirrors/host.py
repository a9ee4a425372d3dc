"""The hosts that publish: what they bear, and how they list."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# s3: XML pages of keys (also Google's). pages: HTML pages of folders. folder: files of this machine. none: HEAD probes.
Listing = Literal["s3", "pages", "folder", "none"]


class Host(BaseModel):
    """Limits of one publisher, shared by all the mirrors on it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    listing: Listing
    connections: Annotated[int, Field(ge=1, le=64)]
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    retention_hours: Annotated[int, Field(ge=1)] | None = None
    settle_seconds: Annotated[int, Field(ge=0)] = 0
    retry_statuses: tuple[int, ...] = ()


@lru_cache(maxsize=1)
def hosts() -> dict[str, Host]:
    """The hosts of hosts.toml."""
    tables = tomllib.loads(files("gribmill.ingest.mirrors").joinpath("hosts.toml").read_text(encoding="utf-8"))
    return {name: Host(name=name, **table) for name, table in tables.items()}
