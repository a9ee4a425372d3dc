"""How supervisor and executors talk: length-prefixed JSON on a socket. Never pickles: a handler reads hostile bytes."""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import asdict
from typing import Any

from gribmill.queue.errors import QueueError
from gribmill.queue.model import Claimed, Failed, NewJob, Outcome, Snoozed, Stopped, Succeeded, Write

MESSAGE_LIMIT = 16_000_000
_HEADER = struct.Struct("!I")
_KINDS: dict[str, type[Outcome]] = {
    "succeeded": Succeeded,
    "failed": Failed,
    "snoozed": Snoozed,
    "stopped": Stopped,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class Channel:
    """One end of the socket. `receive` blocks; `receive_ready` takes what has come."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._buffer = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        if len(data) > MESSAGE_LIMIT:
            raise QueueError(f"a message of {len(data)} bytes between worker processes is too large")
        self._socket.sendall(_HEADER.pack(len(data)) + data)

    def receive(self) -> dict[str, Any] | None:
        """The next message; None when the other end is gone."""
        while (message := self._next()) is None:
            data = self._socket.recv(65536)
            if not data:
                return None
            self._buffer += data
        return message

    def receive_ready(self) -> tuple[list[dict[str, Any]], bool]:
        """The messages that are complete, and whether the other end is still there."""
        alive = True
        try:
            data = self._socket.recv(1_000_000, socket.MSG_DONTWAIT)
            alive = bool(data)
            self._buffer += data
        except BlockingIOError:
            pass  # woken for nothing
        except ConnectionError:
            alive = False
        messages = []
        while (message := self._next()) is not None:
            messages.append(message)
        return messages, alive

    def close(self) -> None:
        self._socket.close()

    def _next(self) -> dict[str, Any] | None:
        if len(self._buffer) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._buffer)
        if length > MESSAGE_LIMIT:
            raise QueueError(f"the other process announced a message of {length} bytes")
        end = _HEADER.size + length
        if len(self._buffer) < end:
            return None
        message: dict[str, Any] = json.loads(bytes(self._buffer[_HEADER.size : end]))
        del self._buffer[:end]
        return message


def outcome_to_wire(outcome: Outcome) -> dict[str, Any]:
    return {"kind": _NAMES[type(outcome)], **asdict(outcome)}


def outcome_from_wire(message: dict[str, Any]) -> Outcome:
    fields = dict(message)
    kind = _KINDS[fields.pop("kind")]
    if kind is Succeeded:
        fields["then"] = tuple(NewJob(**{**job, "after": tuple(job["after"])}) for job in fields["then"])
        fields["also"] = tuple(Write(**write) for write in fields["also"])
        fields["artifacts"] = tuple(fields["artifacts"])
    return kind(**fields)


def claimed_to_wire(job: Claimed) -> dict[str, Any]:
    return asdict(job)


def claimed_from_wire(message: dict[str, Any]) -> Claimed:
    return Claimed(**message)
