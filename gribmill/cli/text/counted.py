"""Numbers with their noun: `1 file`, `2 files`."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """The number and the noun, in the plural unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
