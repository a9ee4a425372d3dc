"""The pages and lists that operators use most, with millions of finished jobs: response times, one by one."""

from __future__ import annotations

import http.client
import json
import statistics
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.server.contender import Contender

GOAL_P95_MS = 20
# Measured without a goal.
WITHOUT_GOAL = ("`/api/v1/status`", "`/api/v1/runs`", "`/metrics`")
PAGES = {
    "overview (page of the console)": "/",
    "`/api/v1/jobs/summary`": "/api/v1/jobs/summary",
    "`/api/v1/jobs`": "/api/v1/jobs?limit=50",
    "… failed": "/api/v1/jobs?status=failed&limit=50",
    "… dead letters": "/api/v1/jobs?status=dead_letter&limit=50",
    "… of one type": "/api/v1/jobs?definition_key=scan_source&limit=50",
    "… succeeded, of a type": "/api/v1/jobs?status=succeeded&definition_key=publish&limit=50",
    "… of one tenant": "/api/v1/jobs?tenant_id=tenant-7&limit=50",
    "… queued": "/api/v1/jobs?status=queued&limit=50",
    "… page 100, by cursor": "",
    "jobs (page of the console)": "/jobs",
    "`/api/v1/status`": "/api/v1/status",
    "`/api/v1/runs`": "/api/v1/runs",
    "`/metrics`": "/metrics",
}


@dataclass(frozen=True)
class PageTimes:
    """Response times in milliseconds, as the client sees them, and the server's CPU for each."""

    p50: float
    p95: float
    most: float
    cpu_ms: float


def page_times(server: Contender, requests: int) -> dict[str, PageTimes]:
    """Each page this many times, on one connection; the first response of each is not counted."""
    host, port = urlsplit(server.url).hostname or "", urlsplit(server.url).port
    connection = http.client.HTTPConnection(host, port, timeout=60)
    found = {}
    for title, path in PAGES.items():
        address = path or _deep_page(connection)
        _ask(connection, address)
        before, spent = server.cpu_seconds, []
        for _ in range(requests):
            start = time.perf_counter()
            _ask(connection, address)
            spent.append(1000 * (time.perf_counter() - start))
        cpu = 1000 * (server.cpu_seconds - before) / requests
        ranks = statistics.quantiles(spent, n=20)
        found[title] = PageTimes(statistics.median(spent), ranks[18], max(spent), cpu)
    connection.close()
    return found


def _deep_page(connection: http.client.HTTPConnection) -> str:
    """The hundredth page of all jobs: a cursor is the id of a job."""
    newest = int(json.loads(_ask(connection, "/api/v1/jobs?limit=1"))["next_cursor"])
    return f"/api/v1/jobs?limit=50&cursor={newest - 99 * 50}"


def _ask(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path} answered {answer.status}: {body[:300]!r}")
    return body
