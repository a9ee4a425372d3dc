"""Fixtures for tests with hostile clients."""

from __future__ import annotations

from tests.server.live_server import start_server

__all__ = ["start_server"]
