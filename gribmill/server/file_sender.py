"""Sends parts of files with sendfile(2): from the page cache to the socket, without a copy in user space."""

from __future__ import annotations

import asyncio
import os
from typing import Protocol

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

# The key in the ASGI scope's `extensions`. Absent with TLS, and on systems without sendfile.
EXTENSION = "gribmill.file_sender"
AT_ONCE_BYTES = 512 * 2**10
# Linux: preadv2 returns bytes from the page cache, or an error instead of waiting for the disk.
NO_WAIT = getattr(os, "RWF_NOWAIT", 0)
CAN_SEND_FILES = bool(NO_WAIT) and hasattr(os, "sendfile")


class HttpConnection(Protocol):
    """What FileSender needs of a connection. Nothing else may write to it while a response is being sent."""

    transport: asyncio.Transport

    async def writable(self) -> None:
        """Wait until the socket accepts more data, or the client has disconnected."""


class FileSender:
    """Sends the body of one response, after its head."""

    def __init__(self, connection: HttpConnection, cycle: RequestResponseCycle) -> None:
        self._connection = connection
        self._transport = connection.transport
        self._cycle = cycle

    async def send(self, file: int, begin: int, end: int) -> int:
        """Send bytes of an open file as long as they are in the page cache; returns the offset from which the caller
        must read from disk. Returns `end` if the client has disconnected."""
        await self._flush()
        socket = self._transport.get_extra_info("socket")
        at = begin
        while at < end and not self._transport.is_closing():
            size = min(AT_ONCE_BYTES, end - at)
            if not (_is_cached(file, at) and _is_cached(file, at + size - 1)):
                return at
            try:
                sent = os.sendfile(socket.fileno(), file, at, size)
            except BlockingIOError:
                await self._connection.writable()
                continue
            except OSError:  # the client has disconnected
                self._transport.abort()
                break
            if sent == 0:
                return at
            at += sent
            self._cycle.expected_content_length -= sent
        if self._transport.is_closing():
            # uvicorn learns this in the next turn of the event loop, and until then would miss the rest of the body.
            self._cycle.disconnected = True
        return end

    async def _flush(self) -> None:
        """Wait until the transport has written its buffer, such as the head of the response."""
        await asyncio.sleep(0)
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await self._connection.writable()


def _is_cached(file: int, at: int) -> bool:
    try:
        return os.preadv(file, [bytearray(1)], at, NO_WAIT) == 1
    except OSError:  # not in the page cache, or RWF_NOWAIT is not supported
        return False
