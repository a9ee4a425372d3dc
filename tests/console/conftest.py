"""Fixtures for tests of the console."""

from __future__ import annotations

from tests.console.lively_server import lively
from tests.console.map.module_site import site
from tests.console.map.visit import map_server
from tests.server.live_server import dev_server, live_server, start_server

__all__ = ["dev_server", "live_server", "lively", "map_server", "site", "start_server"]
