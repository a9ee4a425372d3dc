"""Tokens, sessions and the audit trail of both backends, at a time that tests set."""

from __future__ import annotations

from tests.queue.store.conftest import backend, clock

__all__ = ["backend", "clock"]
