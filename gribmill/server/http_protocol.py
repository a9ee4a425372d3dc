"""uvicorn's HTTP protocol with limits that it lacks: on the size of a request's head, and on how long it may take."""

from __future__ import annotations

import asyncio
import json
import os
from http import HTTPStatus
from typing import Literal

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gribmill.server.file_sender import CAN_SEND_FILES, EXTENSION, FileSender

MOST_HEAD_BYTES = 64 * 1024
MOST_HEADERS = 200
HEAD_SECONDS = 15.0
BODY_SECONDS = 60.0
# A connection is aborted if its response makes no progress for this long. Slow readers are served.
STALLED_SECONDS = 60.0
TOO_LARGE = f"a request has at most {MOST_HEADERS} headers, and {MOST_HEAD_BYTES} bytes before its body"


class LimitedProtocol(HttpToolsProtocol):
    """One connection. It is closed if the client sends too slowly, or nothing."""

    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS
    stalled_seconds = STALLED_SECONDS
    _stalled: asyncio.TimerHandle | None = None
    _writable: asyncio.Future[None] | None = None
    _timer: asyncio.TimerHandle | None = None
    _part: Literal["head", "body", "none"] = "head"
    """The part of a request that is being received."""
    _messages = 0
    _head_bytes = 0
    """Bytes received of an unfinished head."""
    _header_bytes = 0
    """Bytes in complete headers."""
    _too_large = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        self._progress()
        self._is_writable()
        super().connection_lost(exc)
        # After a reset, uvicorn leaves this timer running, and with it keeps the connection and its last request.
        self._unset_keepalive_if_required()

    def pause_writing(self) -> None:
        """The client reads more slowly than the response is written."""
        super().pause_writing()
        self._expect_progress()

    def resume_writing(self) -> None:
        self._progress()
        super().resume_writing()

    async def writable(self) -> None:
        """Wait until the socket is writable, for code that bypasses the transport; the same time limit applies."""
        self._writable = self.loop.create_future()
        # A duplicate, because the event loop already watches the transport's descriptor.
        descriptor = os.dup(self.transport.get_extra_info("socket").fileno())
        self.loop.add_writer(descriptor, self._is_writable)
        self._expect_progress()
        try:
            await self._writable
        finally:
            self._progress()
            self.loop.remove_writer(descriptor)
            os.close(descriptor)

    def data_received(self, data: bytes) -> None:
        part, before = self._part, self._messages
        super().data_received(data)
        if self._part != "head" or self.transport.is_closing():
            return
        # The parser reports a header only when it is complete: until then, count the bytes received. Data that also
        # contained the end of an earlier request is not counted; counting starts with the next data.
        if part != "body" and self._messages - before <= (part == "none" or before == 0):
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES:
                self._refuse(431, TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for everything that the parser or `on_header` rejects."""
        self._refuse(*((431, TOO_LARGE) if self._too_large else (400, "this is not an HTTP request")))

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._part, self._head_bytes, self._header_bytes = "head", 0, 0
        self._messages += 1
        self._expect(self.head_seconds)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        if len(self.url) + self._header_bytes > MOST_HEAD_BYTES or len(self.headers) >= MOST_HEADERS:
            self._too_large = True
            raise ValueError(TOO_LARGE)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._part = "body"
        self._expect(self.body_seconds)
        super().on_headers_complete()
        if CAN_SEND_FILES and self.scheme == "http":
            self.scope["extensions"] = {EXTENSION: FileSender(self, self.cycle)}  # type: ignore[dict-item]

    def on_message_complete(self) -> None:
        self._part = "none"
        self._cancel()
        super().on_message_complete()
        if self.cycle is not None and self.cycle.response_complete:
            # The application did not read the whole body, whose bytes cancelled uvicorn's keep-alive timer.
            self._timer = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    # Timeouts and refusals

    def _expect(self, seconds: float) -> None:
        self._cancel()
        self._timer = self.loop.call_later(seconds, self._refuse, 408, "the request took too long to arrive")

    def _expect_progress(self) -> None:
        self._progress()
        self._stalled = self.loop.call_later(self.stalled_seconds, self.transport.abort)

    def _is_writable(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    def _progress(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, detail: str) -> None:
        """Respond with a problem and close. If an earlier response is pending or has begun, only close, because the
        client would mistake the problem for that response."""
        if self.transport.is_closing():
            return
        if not self._may_answer():
            self.transport.abort()
            return
        phrase = HTTPStatus(status).phrase
        problem = {"type": "about:blank", "title": phrase, "status": status, "detail": detail, "errors": []}
        body = json.dumps(problem).encode()
        head = (
            f"HTTP/1.1 {status} {phrase}\r\ncontent-type: application/problem+json\r\ncache-control: no-store\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _may_answer(self) -> bool:
        if self.cycle is None or self.cycle.response_complete:
            return self._part != "body"
        return self._part == "body" and not self.cycle.response_started and not self.pipeline
