"""Parses the Range header like S3 and NOMADS."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

# More ranges in one request are an attack (RFC 9110, 17.15).
MOST_RANGES = 500
_ONE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """Bytes from `start` to before `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of bytes."""
        return self.end - self.start

    def header(self, size: int) -> str:
        """The value of Content-Range."""
        return f"bytes {self.start}-{self.end - 1}/{size}"


class Unsatisfiable(Exception):
    """A range that starts beyond the object's end."""


def parse_range(header: str | None, size: int) -> ByteSpan | None:
    """The requested bytes; None means all of them.

    S3 responds to several ranges, and to any header that it cannot parse, with the whole object.
    """
    found = _ONE.fullmatch(header.strip()) if header else None
    if not found or found[0] == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        start, end = max(size - int(last), 0), size
        if last == "0":
            raise Unsatisfiable
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size:
        raise Unsatisfiable
    return ByteSpan(start, end)


def parse_ranges(header: str | None, size: int) -> list[ByteSpan]:
    """Several ranges, as NOMADS and ECMWF's own server support them; empty for a single range or a malformed header."""
    texts = header.strip().removeprefix("bytes=").split(",") if header else []
    if not 1 < len(texts) <= MOST_RANGES:
        return []
    spans: list[ByteSpan] = []
    for text in texts:
        with contextlib.suppress(Unsatisfiable):
            span = parse_range(f"bytes={text.strip()}", size)
            if span is None:
                return []
            spans.append(span)
    return spans
