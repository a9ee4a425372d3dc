"""Tokens and sessions that were looked up within the last second."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

from gribmill.access.tokens import Token

KEPT_SECONDS = 1.0
MOST = 10_000


class VerifiedTokens:
    """A token that was revoked elsewhere is refused a second later at the latest. Their texts are not kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[bytes, tuple[float, Token]] = {}

    def get(self, text: str) -> Token | None:
        at, token = self._known.get(_key(text), (-KEPT_SECONDS, None))
        return token if self._clock() < at + KEPT_SECONDS else None

    def put(self, text: str, token: Token) -> None:
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[_key(text)] = (self._clock(), token)

    def clear(self) -> None:
        """After a change of tokens by this server."""
        self._known.clear()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
