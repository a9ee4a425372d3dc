"""What supervisor and executors send: length-prefixed JSON on a socket. No pickle: handlers read hostile files."""

from __future__ import annotations

import json
import math
import socket
import struct
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gribmill.queue.errors import QueueError
from gribmill.queue.model import Claimed, Failed, Outcome, Snoozed, Stopped, Succeeded

# What an executor may say at once. Batches are bounded by the queue, not here.
REPORT_LIMIT = 16_000_000
LONGEST_SNOOZE_SECONDS = 10 * 366 * 86400.0
_RECEIVE_BYTES = 1_000_000
_HEADER = struct.Struct("!I")
_KINDS: dict[str, type[Outcome]] = {
    "succeeded": Succeeded,
    "failed": Failed,
    "snoozed": Snoozed,
    "stopped": Stopped,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class BadMessage(QueueError):
    """What came through the channel is not a message of ours."""


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
        """The next message; None when the other end is gone."""
        while (message := self._next()) is None:
            data = self._socket.recv(_RECEIVE_BYTES)
            if not data:
                return None
            self._arrived += data
        return message

    @property
    def clogged(self) -> bool:
        """Whether something posted still waits for the other end to read."""
        return bool(self._posted)

    def post(self, message: dict[str, Any]) -> None:
        """Send without ever waiting: an executor that does not read must not stop the supervisor."""
        data = json.dumps(message).encode()
        self._posted += _HEADER.pack(len(data)) + data
        self.flush()

    def flush(self) -> None:
        """Send as much of what was posted as the socket takes."""
        try:
            with suppress(BlockingIOError):  # the selector says when it takes more
                while self._posted:
                    del self._posted[: self._socket.send(self._posted, socket.MSG_DONTWAIT)]
        except ConnectionError:
            self._posted.clear()  # the other end is gone, which `receive_ready` reports

    def receive_ready(self) -> tuple[list[dict[str, Any]], bool]:
        """The messages that are complete, and whether the other end is still there. BadMessage: it talks nonsense."""
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


def outcome_to_message(outcome: Outcome) -> dict[str, Any]:
    return {"kind": _NAMES[type(outcome)], **asdict(outcome)}


def outcome_from_message(message: dict[str, Any]) -> Outcome:
    """What a handler made of its job, checked: it may hold anything."""
    fields = dict(message)
    name = str(fields.pop("kind", None))
    if name not in _KINDS:
        raise QueueError("the handler's outcome is of an unknown kind")
    try:
        outcome = _reader(name).validate_python(fields)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise QueueError(f"the handler's outcome is malformed: {place}: {problem['msg']}") from None
    if isinstance(outcome, Snoozed) and not 0 <= outcome.seconds <= LONGEST_SNOOZE_SECONDS:
        raise QueueError(f"the handler snoozed for {outcome.seconds} s, which is not between 0 and ten years")
    if isinstance(outcome, Failed) and not 0 <= (outcome.retry_in or 0) <= LONGEST_SNOOZE_SECONDS:
        raise QueueError(f"the handler wants a retry in {outcome.retry_in} s, which is not between 0 and ten years")
    transfer = None if isinstance(outcome, Stopped) else outcome.transfer
    if transfer and not all(0 <= (size or 0) < 2**63 for size in (transfer.downloaded, transfer.written)):
        raise QueueError("the handler reports a number of bytes that is negative or too large")
    return outcome


@lru_cache
def _reader(name: str) -> TypeAdapter[Outcome]:
    """Made when the first outcome of its kind comes: executors read none, and start without it."""
    return TypeAdapter(_KINDS[name])


def claimed_to_message(job: Claimed) -> dict[str, Any]:
    return job._asdict()


def claimed_from_message(message: dict[str, Any]) -> Claimed:
    return Claimed(**message)
