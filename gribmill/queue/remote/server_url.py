"""The address of a server to which a token may be sent."""

from __future__ import annotations

from urllib.parse import urlsplit

from gribmill.errors import quoted
from gribmill.queue.errors import QueueError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def check_server_url(url: str) -> str:
    """The URL without a trailing slash; raises QueueError if sending a token there would be unsafe."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        good = False
    if not good or "@" in parts.netloc or parts.query or parts.fragment:
        raise QueueError(f"{quoted(url)} is not the address of a server, such as https://gribmill.example.org")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise QueueError(f"{quoted(url)} would send the token unencrypted: use https")
    return url.rstrip("/")
