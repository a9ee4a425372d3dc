"""Sends parts of files with sendfile(2): from the page cache to the connection, without passing through Python."""

from __future__ import annotations

import asyncio
import os
from typing import Protocol

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

# In the ASGI scope's `extensions`. Not there with TLS, or where the system has no sendfile.
EXTENSION = "gribmill.file_sender"
AT_ONCE_BYTES = 512 * 2**10
# Linux: returns bytes from the page cache, or an error instead of waiting for the disk.
NO_WAIT = getattr(os, "RWF_NOWAIT", 0)
CAN_SEND_FILES = bool(NO_WAIT) and hasattr(os, "sendfile")


class Connection(Protocol):
    """What it needs of a connection. Nothing else writes to it while a response is being sent."""

    transport: asyncio.Transport

    async def writable(self) -> None:
        """Wait until the client has read some of what was sent, or is gone."""


class FileSender:
    """For one response, after its head was sent."""

    def __init__(self, connection: Connection, cycle: RequestResponseCycle) -> None:
        self._connection = connection
        self._transport = connection.transport
        self._cycle = cycle

    async def send(self, file: int, begin: int, end: int) -> int:
        """Send the bytes of an open file that are in the page cache, and return where it stopped: then the next ones
        must be read from disk. Returns `end` if the client is gone."""
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
            except OSError:  # the client is gone
                self._transport.abort()
                break
            if sent == 0:
                return at
            at += sent
            self._cycle.expected_content_length -= sent
        return end

    async def _flush(self) -> None:
        """Let the transport write what it holds, such as the head of the response."""
        await asyncio.sleep(0)
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await self._connection.writable()


def _is_cached(file: int, at: int) -> bool:
    try:
        return os.preadv(file, [bytearray(1)], at, NO_WAIT) == 1
    except OSError:  # not in the page cache, or the file system cannot say
        return False
