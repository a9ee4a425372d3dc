"""A connection on which any bytes can be sent."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

PATIENCE_SECONDS = 60.0


class RawConnection:
    """Sends bytes unchanged, and reads the response."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.socket.sendall(part)

    def read_to_end(self) -> bytes:
        """Everything until the server closes the connection."""
        found = bytearray()
        with contextlib.suppress(ConnectionResetError):
            while piece := self.socket.recv(65536):
                found += piece
        return bytes(found)

    def read_until(self, end: bytes) -> bytes:
        found = bytearray()
        while end not in found:
            piece = self.socket.recv(65536)
            assert piece, bytes(found)
            found += piece
        return bytes(found)


@contextmanager
def connected(url: str) -> Iterator[RawConnection]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    with socket.create_connection((parts.hostname, parts.port or 80), PATIENCE_SECONDS) as connection:
        yield RawConnection(connection)


def statuses(answers: bytes) -> list[int]:
    """The status codes of the responses in this text."""
    return [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]
