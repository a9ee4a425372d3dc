"""Text that every database can store."""

from __future__ import annotations

from typing import overload

NUL = "\0"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@overload
def storable(text: str) -> str: ...


@overload
def storable(text: str | None) -> str | None: ...


def storable(text: str | None) -> str | None:
    """Replace NUL characters, which PostgreSQL rejects and at which SQLite's functions truncate."""
    return text.replace(NUL, REPLACEMENT) if text is not None and NUL in text else text
