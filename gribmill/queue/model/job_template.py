"""A job template: a named set of arguments and options on top of a job definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gribmill.queue.model.job import DEFAULT_TENANT, Json


@dataclass(frozen=True, slots=True)
class NewTemplate:
    """A template to add. Fields that are None default to those of the type; each job supplies missing arguments."""

    name: str
    type: str
    args: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    priority: int = 0
    timeout_seconds: int | None = None
    max_attempts: int | None = None
    dedupe_key: str | None = None
    tenant_id: str = DEFAULT_TENANT
    created_by: str | None = None


@dataclass(frozen=True, slots=True)
class JobTemplate:
    """A stored template."""

    id: int
    name: str
    type: str
    args: Json
    """A dict, unless the row was written manually."""
    description: str
    priority: int
    timeout_seconds: int | None
    max_attempts: int | None
    dedupe_key: str | None
    tenant_id: str
    created_by: str | None
    created_at: datetime | None
    updated_at: datetime | None
