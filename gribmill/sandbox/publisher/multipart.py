"""Several ranges of an object in one response: multipart/byteranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gribmill.sandbox.publisher.byte_range import ByteSpan
from gribmill.sandbox.publisher.stored_object import StoredObject

BOUNDARY = "gribmill-sandbox-part"
CONTENT_TYPE = f"multipart/byteranges; boundary={BOUNDARY}"
END = f"\r\n--{BOUNDARY}--\r\n".encode()


def length(stored: StoredObject, spans: Sequence[ByteSpan]) -> int:
    """The length of the whole body."""
    return sum(len(_head(stored, span)) + span.length for span in spans) + len(END)


def body(stored: StoredObject, spans: Sequence[ByteSpan]) -> Iterator[bytes]:
    """Each range after its headers."""
    for span in spans:
        yield _head(stored, span)
        yield from stored.read(span)
    yield END


def _head(stored: StoredObject, span: ByteSpan) -> bytes:
    lines = ("", f"--{BOUNDARY}", "Content-Type: binary/octet-stream", f"Content-Range: {span.header(stored.size)}")
    return "\r\n".join((*lines, "", "")).encode()
