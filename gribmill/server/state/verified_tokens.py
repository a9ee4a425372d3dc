"""Caches token and session lookups for one second."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Literal

from gribmill.access.tokens import Token

KEPT_SECONDS = 1.0
MOST = 10_000

Kind = Literal["token", "session"]


class VerifiedTokens:
    """Caches verified tokens for one second, so a revoked one stops working within a second. Stores no secrets.

    The id of a session is not accepted as a token, nor a token as the id of a session.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[bytes, tuple[float, Token]] = {}

    def get(self, kind: Kind, text: str) -> Token | None:
        at, token = self._known.get(_key(kind, text), (-KEPT_SECONDS, None))
        return token if self._clock() < at + KEPT_SECONDS else None

    def put(self, kind: Kind, text: str, token: Token) -> None:
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[_key(kind, text)] = (self._clock(), token)

    def clear(self) -> None:
        """Empty the cache, after this server changed a token."""
        self._known.clear()


def _key(kind: Kind, text: str) -> bytes:
    return hashlib.sha256(f"{kind} {text}".encode()).digest()
