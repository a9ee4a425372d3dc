"""Numbers that visitors type into forms."""

from __future__ import annotations

import math

from gribmill.errors import quoted
from gribmill.queue.errors import BadArguments


def whole_number(text: str, label: str) -> int | None:
    """The number, or None if nothing was typed; raises BadArguments."""
    try:
        return int(text) if text else None
    except ValueError:
        raise BadArguments(f"{label} must be a whole number, not {quoted(text)}") from None


def number(text: str, label: str) -> float | None:
    """The number, or None if nothing was typed; raises BadArguments."""
    try:
        found = float(text) if text else None
    except ValueError:
        found = math.nan
    if found is not None and not math.isfinite(found):
        raise BadArguments(f"{label} must be a number, not {quoted(text)}")
    return found
