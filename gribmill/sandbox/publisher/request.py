"""One request, and the part of the response that was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, unquote, urlsplit

MOST_PARAMETERS = 20


@dataclass(slots=True)
class Request:
    """`target` is the path and query as sent; header names are in title case; `port` is the client's.

    `status` and `sent` (bytes of the body) are filled in while the response is sent.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    port: int = 0
    status: int = 0
    sent: int = 0

    @property
    def key(self) -> str:
        """The object or folder that it names; empty if the target is malformed."""
        try:
            return parse_target(self.target)[0]
        except ValueError:
            return ""

    @property
    def range(self) -> str | None:
        """The Range header."""
        return self.headers.get("Range")

    def without(self, *names: str) -> Request:
        """The same request without these headers."""
        return replace(self, headers={name: value for name, value in self.headers.items() if name not in names})


def parse_target(target: str) -> tuple[str, dict[str, str]]:
    """The key and the query parameters. Raises ValueError if the target is malformed."""
    parts = urlsplit(target)
    key = unquote(parts.path, errors="strict").lstrip("/")
    return key, dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS))
