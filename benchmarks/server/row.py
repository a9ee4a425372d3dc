"""A row of a table: requests to one of the servers."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.server.contender import Contender
from benchmarks.server.load import CONNECTIONS


@dataclass(frozen=True)
class Row:
    """Which paths to request from which server."""

    title: str
    contender: Contender
    paths: list[str]
    connections: int = CONNECTIONS
    least_seconds: float = 0.0
