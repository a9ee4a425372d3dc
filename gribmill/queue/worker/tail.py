"""The end of what a process printed, with secrets taken out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

TAIL_BYTES = 8192
HIDDEN = "[redacted]"

_NAMES = r"(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|credential|signature|sig|auth)"
_PATTERNS = [
    # name=value, "name": "value", --name value
    re.compile(rf"(?i)([\w.-]*{_NAMES}[\w.-]*[\"']?\s*[=:]\s*[\"']?)([^\s\"'&,;}}]+)"),
    re.compile(r"(?i)(authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)([^\s\"',;]+)"),
    re.compile(r"(?i)\b(bearer\s+)([A-Za-z0-9._~+/=-]{8,})"),
    re.compile(r"(\w+://[^/\s:@]*:)([^@\s/]+)(?=@)"),
    re.compile(r"()\b((?:AKIA|ASIA)[A-Z0-9]{16})\b"),
]
_SECRET_VARIABLE = re.compile(r"(?i)(password|secret|token|api_?key|access_?key|credential)")
SHORTEST_SECRET = 6


class Tail:
    """Keeps the last bytes of a stream."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._cut = False

    def add(self, data: bytes) -> None:
        self._bytes += data
        if len(self._bytes) > self._limit:
            del self._bytes[: -self._limit]
            self._cut = True

    def take(self) -> str | None:
        """What there is, redacted; the tail is empty after."""
        text = self._bytes.decode("utf-8", errors="replace").replace("\x00", "�")
        if self._cut:
            # The first line lost its beginning, and with it the word that may have named a secret.
            text = "…" + text.partition("\n")[2]
        self._bytes.clear()
        self._cut = False
        return redact(text) if text else None


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Hide values that are named like secrets, and those of secret-named environment variables."""
    for name, value in (os.environ if environment is None else environment).items():
        if len(value) >= SHORTEST_SECRET and _SECRET_VARIABLE.search(name):
            text = text.replace(value, HIDDEN)
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return text
