"""The address of a server to which a token may be sent."""

from __future__ import annotations

from urllib.parse import urlsplit

from gribmill.errors import quoted
from gribmill.queue.errors import QueueError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def check_server_url(url: str) -> str:
    """The URL without a trailing slash; raises QueueError if sending a token there would be unsafe."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise QueueError(f"{quoted(url)} is not the address of a server, such as https://gribmill.example.org")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise QueueError(f"{quoted(url)} would send the token unencrypted: use https")
    return url.rstrip("/")
