"""Messages between supervisor and executors: length-prefixed JSON. No pickle, because handlers read hostile files."""

from __future__ import annotations

import json
import math
import socket
import struct
from contextlib import suppress
from typing import Any

from gribmill.queue.errors import QueueError
from gribmill.queue.model import Claimed

# The largest message from an executor. Batches are bounded by the queue.
REPORT_LIMIT = 16_000_000
_RECEIVE_BYTES = 1_000_000
_HEADER = struct.Struct("!I")


class BadMessage(QueueError):
    """Invalid data on the channel."""


class Channel:
    """One end of the socket. The executor's end blocks (`send`, `receive`); the supervisor's never does."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._arrived = bytearray()
        self._posted = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        if len(data) > REPORT_LIMIT:
            raise QueueError(f"a report of {len(data)} bytes is larger than the {REPORT_LIMIT} that are allowed")
        self._socket.sendall(_HEADER.pack(len(data)) + data)

    def receive(self) -> dict[str, Any] | None:
        """Wait for the next message; None if the other end is gone."""
        while (message := self._next()) is None:
            data = self._socket.recv(_RECEIVE_BYTES)
            if not data:
                return None
            self._arrived += data
        return message

    @property
    def clogged(self) -> bool:
        """Whether posted data is still waiting to be sent."""
        return bool(self._posted)

    def post(self, message: dict[str, Any]) -> None:
        """Send without blocking: an executor that does not read must not stop the supervisor."""
        data = json.dumps(message).encode()
        self._posted += _HEADER.pack(len(data)) + data
        self.flush()

    def flush(self) -> None:
        """Send as much of the posted data as the socket accepts."""
        try:
            with suppress(BlockingIOError):  # the selector reports when it accepts more
                while self._posted:
                    del self._posted[: self._socket.send(self._posted, socket.MSG_DONTWAIT)]
        except ConnectionError:
            self._posted.clear()  # the other end is gone, which `receive_ready` reports

    def receive_ready(self) -> tuple[list[dict[str, Any]], bool]:
        """The complete messages, and whether the other end is still there. Raises BadMessage on invalid data."""
        alive = True
        try:
            with suppress(BlockingIOError):  # that was all for now
                while alive and len(self._arrived) <= REPORT_LIMIT:
                    data = self._socket.recv(_RECEIVE_BYTES, socket.MSG_DONTWAIT)
                    alive = bool(data)
                    self._arrived += data
        except ConnectionError:
            alive = False
        messages = []
        while (message := self._next(REPORT_LIMIT)) is not None:
            messages.append(message)
        return messages, alive

    def close(self) -> None:
        self._socket.close()

    def _next(self, limit: float = math.inf) -> dict[str, Any] | None:
        if len(self._arrived) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._arrived)
        if length > limit:
            raise BadMessage(f"a message of {length} bytes was announced")
        end = _HEADER.size + length
        if len(self._arrived) < end:
            return None
        text = bytes(self._arrived[_HEADER.size : end])
        del self._arrived[:end]
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise BadMessage("a message is not JSON") from None
        if not isinstance(message, dict):
            raise BadMessage("a message is not an object")
        return message


def claimed_to_message(job: Claimed) -> dict[str, Any]:
    return job._asdict()


def claimed_from_message(message: dict[str, Any]) -> Claimed:
    return Claimed(**message)
