"""The base of all tables of the settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar, dataclass_transform

from gribmill.checked.table import plain, read

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def settings_table(table: type[T]) -> type[T]:
    """A frozen dataclass with keyword-only fields."""
    return dataclass(frozen=True, kw_only=True)(table)


@dataclass(frozen=True)
class SettingsTable:
    """A table of the settings file: unknown keys are refused, and values are immutable. The methods are named as in
    pydantic, which is not used because every command reads the settings when it starts."""

    @classmethod
    def model_validate(cls, table: Mapping[str, Any]) -> Self:
        """Validate a table; raises CheckFailed."""
        return read(cls, table)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Parse the output of `model_dump_json`."""
        return read(cls, json.loads(text))

    def model_dump(
        self, *, mode: str = "json", exclude_none: bool = False, exclude_defaults: bool = False
    ) -> dict[str, Any]:
        """The settings as a table of JSON types, which is the only mode."""
        found: dict[str, Any] = plain(self, exclude_none=exclude_none)
        return _changed(found, plain(type(self)())) if exclude_defaults else found

    def model_dump_json(self) -> str:
        """The settings as JSON."""
        return json.dumps(self.model_dump())

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """A copy with these values replaced."""
        return replace(self, **update)


def _changed(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        usual = defaults.get(name)
        if isinstance(value, dict) and isinstance(usual, dict):
            if inner := _changed(value, usual):
                found[name] = inner
        elif value != usual:
            found[name] = value
    return found
