"""Fixtures for tests of the client."""

from __future__ import annotations

from tests.server.live_server import live_server, start_server

__all__ = ["live_server", "start_server"]
