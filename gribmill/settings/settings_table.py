"""What every table of the settings has in common, and numbers in them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _numeric(value: Any) -> Any:
    """True would pass for 1."""
    if isinstance(value, bool):
        raise ValueError("expected a number, not true or false")
    return value


Number = Annotated[float, BeforeValidator(_numeric)]
Whole = Annotated[int, BeforeValidator(_numeric)]


class SettingsTable(BaseModel):
    """A table of the settings file: unknown keys are refused, values never change."""

    # Only the whole is ever validated: compiling its parts alone would slow every start.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
