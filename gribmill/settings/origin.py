"""Where each setting came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gribmill.database_url import HIDDEN, hide_password
from gribmill.settings.schema import Settings, known_keys

ENV_PREFIX = "GRIBMILL_"


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting: its dotted key, its value, and the file, variable or option that it came from."""

    key: str
    value: Any
    source: str
    description: str


def origins_of(settings: Settings, sources: dict[str, str]) -> list[Origin]:
    """All settings with their origin; a key without a source has its default."""
    return [
        Origin(key, shown(key, _value(settings, key)), sources.get(key, "default"), description)
        for key, description in known_keys().items()
    ]


def shown(key: str, value: Any) -> Any:
    """A setting's value for display, without passwords."""
    if key != "database" or value is None:
        return value
    return hide_password(value) if isinstance(value, str) else HIDDEN


def variable_of(key: str) -> str:
    """The environment variable of a setting: GRIBMILL_QUEUE_LEASE_SECONDS for queue.lease_seconds."""
    return f"{ENV_PREFIX}{key.replace('.', '_').upper()}"


def _value(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value
