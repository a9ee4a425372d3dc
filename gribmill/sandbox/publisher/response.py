"""A response of the publisher, and S3's XML errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

MESSAGES = {
    "NoSuchKey": (404, "The specified key does not exist."),
    "NoSuchBucket": (404, "The specified bucket does not exist."),
    "InvalidRange": (416, "The requested range is not satisfiable"),
    "PreconditionFailed": (412, "At least one of the pre-conditions you specified did not hold"),
    "InvalidArgument": (400, "Invalid Argument"),
    "InvalidURI": (400, "Couldn't parse the specified URI."),
    "MethodNotAllowed": (405, "The specified method is not allowed against this resource."),
    "InternalError": (500, "We encountered an internal error. Please try again."),
    "SlowDown": (503, "Please reduce your request rate."),
}


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers, and a body in chunks.

    `length` is announced as Content-Length; None announces nothing and ends the body by closing the connection.
    `of_object`: whether the request named an object that exists (and not a list, a page or nothing).
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Iterable[bytes] = ()
    length: int | None = 0
    reason: str | None = None
    of_object: bool = False


@dataclass(frozen=True, slots=True)
class RawResponse:
    """Bytes sent in place of an HTTP response. The connection is closed after them, by a TCP reset if `reset`."""

    body: Iterable[bytes] = ()
    reset: bool = False


def from_bytes(data: bytes, kind: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response whose body is in memory."""
    return Response(status, {"Content-Type": kind, **(headers or {})}, (data,), len(data))


def refusal(code: str, facts: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """An error in S3's XML format."""
    status, message = MESSAGES[code]
    rows = {"Code": code, "Message": message, **(facts or {}), "RequestId": "sandbox", "HostId": "gribmill"}
    body = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in rows.items())
    data = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{body}</Error>'.encode()
    return from_bytes(data, "application/xml", status, headers)
