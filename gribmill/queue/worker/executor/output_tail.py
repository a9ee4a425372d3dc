"""Output of a process: its last bytes with secrets removed, and its complete lines."""

from __future__ import annotations

from gribmill.queue.redact import redact

TAIL_BYTES = 8192
# Longer lines are passed on in parts.
LINE_LIMIT = 65_536


class WholeLines:
    """Passes on complete lines only: in a fragment, a secret could be separated from its name and not be recognised."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, data: bytes, *, last: bool = False) -> bytes:
        """The lines that are complete now; with `last`, also the rest."""
        data = self._rest + data
        end = len(data) if last or len(data) > LINE_LIMIT else data.rfind(b"\n") + 1
        self._rest = data[end:]
        return data[:end]


class OutputTail:
    """Keeps the end of a stream: twice as many bytes as it returns, so that secrets stay next to their names."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        self._bytes += data[-2 * self._limit :]
        del self._bytes[: -2 * self._limit]

    def clear(self) -> None:
        self._bytes.clear()

    def text(self) -> str | None:
        """The tail, redacted."""
        if not self._bytes:
            return None
        text = redact(self._bytes.decode("utf-8", errors="replace").replace("\x00", "�"))
        if len(text) > self._limit:
            last = text[-self._limit :]
            _, newline, lines = last.partition("\n")
            text = "…" + (lines if newline and lines else last)
        return text
