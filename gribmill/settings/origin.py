"""Where each setting in force came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gribmill.settings.schema import Settings, known_keys

ENV_PREFIX = "GRIBMILL_"


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting: its dotted key, its value, and the file, variable or flag that it came from."""

    key: str
    value: Any
    source: str
    description: str


def origins_of(settings: Settings, sources: dict[str, str]) -> list[Origin]:
    """Every setting with its source by dotted key; a key without a source has its default."""
    return [
        Origin(key, _value(settings, key), sources.get(key, "default"), description)
        for key, description in known_keys().items()
    ]


def variable_of(key: str) -> str:
    """The environment variable of a setting: GRIBMILL_QUEUE_LEASE_SECONDS for queue.lease_seconds."""
    return f"{ENV_PREFIX}{key.replace('.', '_').upper()}"


def _value(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value
