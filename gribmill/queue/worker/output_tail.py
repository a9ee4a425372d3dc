"""The end of what a process printed, with secrets removed."""

from __future__ import annotations

from gribmill.queue.worker.redact import redact

TAIL_BYTES = 8192


class OutputTail:
    """Keeps the last bytes of a stream: twice as many as it gives, so that a secret keeps the word that names it."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        self._bytes += data[-2 * self._limit :]
        del self._bytes[: -2 * self._limit]

    def clear(self) -> None:
        self._bytes.clear()

    def text(self) -> str | None:
        """What there is, redacted."""
        if not self._bytes:
            return None
        text = redact(self._bytes.decode("utf-8", errors="replace").replace("\x00", "�"))
        if len(text) > self._limit:
            last = text[-self._limit :]
            _, newline, lines = last.partition("\n")
            text = "…" + (lines if newline and lines else last)
        return text
