"""Tokens, sessions and the audit trail of both backends, with a clock set by the tests."""

from __future__ import annotations

from tests.queue.store.conftest import backend, clock

__all__ = ["backend", "clock"]
