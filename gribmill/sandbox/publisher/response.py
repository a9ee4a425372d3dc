"""One answer of the mirror, and the XML that S3 says no with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from gribmill.sandbox.publisher.faults import NONE, Trouble

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
class Answer:
    """Status, headers, and a body of `length` bytes in pieces; what it meets on its way."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Iterable[bytes] = ()
    length: int = 0
    trouble: Trouble = NONE


def of_bytes(data: bytes, kind: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer that is in memory already."""
    return Answer(status, {"Content-Type": kind, **(headers or {})}, (data,), len(data))


def refusal(code: str, facts: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in S3's words."""
    status, message = MESSAGES[code]
    rows = {"Code": code, "Message": message, **(facts or {}), "RequestId": "mirror", "HostId": "gribmill"}
    body = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in rows.items())
    data = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{body}</Error>'.encode()
    return of_bytes(data, "application/xml", status, headers)
