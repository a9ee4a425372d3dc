"""The global options of an invocation, for commands that show where a setting came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from gribmill.settings.load import Origin
    from gribmill.settings.schema import Settings

# The option for each setting, by the setting's key.
FLAG_NAMES = {"data": "--data", "log.format": "--log-json", "log.level": "--log-level"}


@dataclass(frozen=True, slots=True)
class Invocation:
    """The settings file named with --config, and the settings given as options, by dotted key."""

    config_file: Path | None
    flags: dict[str, Any]

    META_KEY: ClassVar[str] = "gribmill.invocation"

    def settings(self) -> tuple[Settings, list[Origin]]:
        """The effective settings, and where each came from."""
        from gribmill.settings.load import load_with_origins  # imported late: `gribmill --help` needs no pydantic

        settings, origins = load_with_origins(self.config_file, self.flags)
        return settings, [
            replace(origin, source=FLAG_NAMES.get(origin.key, origin.source)) if origin.source == "flag" else origin
            for origin in origins
        ]
