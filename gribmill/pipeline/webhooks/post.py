"""One POST to a user-supplied URL: no redirects, no proxies, no private addresses, bounded in time and size."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from gribmill.errors import GribmillError
from gribmill.ingest.http.deadline import Deadline, DeadlineResponse
from gribmill.queue.public_address import is_public

# Only the status of the response matters; a little of the body is read so that the connection closes cleanly.
ANSWER_LIMIT_BYTES = 16_384


class TargetRefused(GribmillError):
    """The URL points to this machine or a private network."""


class DeliveryFailed(GribmillError):
    """No response, or an unreadable one."""


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """The status of a response, and its Retry-After in seconds."""

    status: int
    retry_after: float | None = None


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, timeout_seconds: float, allow_private: bool
) -> PostAnswer:
    """Send the body, within the timeout. Raises TargetRefused before anything is sent, DeliveryFailed without a
    response."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, context=context)
    else:
        connection = http.client.HTTPConnection(host, port)
    connection.response_class = DeadlineResponse
    try:
        with Deadline(timeout_seconds).held() as deadline:
            connection.sock = open_checked(host, port, deadline, allow_private=allow_private)
            connection.sock.settimeout(deadline.left())
            if parts.scheme == "https":
                connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
            connection.request("POST", path, body, dict(headers))
            answer = connection.getresponse()
            # The receiver has the event, so errors in the rest of its response do not matter.
            with suppress(OSError, http.client.HTTPException, ValueError):
                answer.read(ANSWER_LIMIT_BYTES)
        asked = answer.getheader("Retry-After") or ""
        return PostAnswer(answer.status, float(asked) if asked.isdecimal() and len(asked) < 7 else None)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DeliveryFailed(f"{host}: {type(error).__name__}: {str(error)[:300]}") from None
    finally:
        connection.close()


def open_checked(host: str, port: int, deadline: Deadline, *, allow_private: bool) -> socket.socket:
    """Connect to an address that was itself checked, so that the name is not resolved a second time."""
    found = {info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    addresses = sorted(str(one) for one in found)
    refused = [] if allow_private else [one for one in addresses if not is_public(one)]
    if refused:
        raise TargetRefused(
            f"{host} leads to {refused[0]}, which is not a public address: set webhooks.allow_private to allow it"
        )
    failure: OSError | None = None
    for place, address in enumerate(addresses):
        try:
            # An address that does not respond must leave time for the others.
            return socket.create_connection((address, port), deadline.left() / (len(addresses) - place))
        except OSError as error:
            failure = error
    raise failure or OSError("the name has no address")
