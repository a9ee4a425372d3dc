"""Fixtures for tests of the server."""

from __future__ import annotations

from tests.server.live_server import dev_server, live_server, start_server

__all__ = ["dev_server", "live_server", "start_server"]
