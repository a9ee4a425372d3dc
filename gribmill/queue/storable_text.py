"""Text that every database can hold."""

from __future__ import annotations

from typing import overload

NUL = "\0"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@overload
def storable(text: str) -> str: ...


@overload
def storable(text: str | None) -> str | None: ...


def storable(text: str | None) -> str | None:
    """NUL is replaced: PostgreSQL has no text with it, and SQLite's functions end a text there."""
    return text.replace(NUL, REPLACEMENT) if text is not None and NUL in text else text
