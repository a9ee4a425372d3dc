"""Formats sizes for people."""

from __future__ import annotations


def format_size(count: float) -> str:
    """`112.8 kB`, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
