"""Converts checked dataclasses to plain tables, for JSON and TOML."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any


def plain(value: Any, *, exclude_none: bool = False) -> Any:
    """The value with dataclasses as tables, tuples as lists, and paths and times as text."""
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is not None:
        return _table({name: getattr(value, name) for name in names}, exclude_none)
    if isinstance(value, Mapping):
        return _table(value, exclude_none)
    if isinstance(value, list | tuple):
        return [plain(one, exclude_none=exclude_none) for one in value]
    if isinstance(value, Path):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value


def _table(values: Mapping[str, Any], exclude_none: bool) -> dict[str, Any]:
    return {
        name: plain(value, exclude_none=exclude_none)
        for name, value in values.items()
        if value is not None or not exclude_none
    }
