"""Lists of hours in short form: `0-120, 123-384/3`."""

from __future__ import annotations

import re
from functools import lru_cache

from gribmill.ingest.errors import ModelError

# One leap year; the longest published forecasts run to 840 h.
LARGEST = 8784
_PART = re.compile(r"(\d{1,4})(?:-(\d{1,4})(?:/(\d{1,3}))?)?")


@lru_cache(maxsize=256)
def parse_steps(text: str) -> tuple[int, ...]:
    """All hours of the list in order: `0-6/3, 12` is 0, 3, 6, 12."""
    found: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if not match:
            raise ModelError(f"{part.strip()!r} is not a list of hours; write 0-120 or 123-384/3, separated by commas")
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if last < first or step < 1 or last > LARGEST or (last - first) % step:
            raise ModelError(f"{part.strip()!r}: hours must increase by whole steps, up to {LARGEST}")
        if found and first <= found[-1]:
            raise ModelError(f"{text!r}: hours must increase, but {first} comes after {found[-1]}")
        found.extend(range(first, last + 1, step))
    return tuple(found)


def write_steps(steps: tuple[int, ...]) -> str:
    """The short form of a list; hours with equal steps are joined."""
    parts: list[str] = []
    place = 0
    while place < len(steps):
        last = place + 1
        gap = steps[last] - steps[place] if last < len(steps) else 0
        while last + 1 < len(steps) and steps[last + 1] - steps[last] == gap:
            last += 1
        if last - place < 2:
            parts.append(str(steps[place]))
            place += 1
            continue
        parts.append(f"{steps[place]}-{steps[last]}" + (f"/{gap}" if gap > 1 else ""))
        place = last + 1
    return ", ".join(parts)
