"""Several ranges of an object in one answer: multipart/byteranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gribmill.sandbox.publisher.byte_range import ByteSpan
from gribmill.sandbox.publisher.object_bytes import Content

BOUNDARY = "gribmill-mirror-part"
CONTENT_TYPE = f"multipart/byteranges; boundary={BOUNDARY}"
END = f"\r\n--{BOUNDARY}--\r\n".encode()


def length(content: Content, spans: Sequence[ByteSpan]) -> int:
    """Of the whole body."""
    return sum(len(_head(content, span)) + span.length for span in spans) + len(END)


def body(content: Content, spans: Sequence[ByteSpan]) -> Iterator[bytes]:
    """Each range after a few lines that say which it is."""
    for span in spans:
        yield _head(content, span)
        yield from content.read(span)
    yield END


def _head(content: Content, span: ByteSpan) -> bytes:
    lines = ("", f"--{BOUNDARY}", "Content-Type: binary/octet-stream", f"Content-Range: {span.header(content.size)}")
    return "\r\n".join((*lines, "", "")).encode()
