"""Operators list, drain and dismiss workers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import LiteralString

import httpx
import psycopg

from gribmill.queue.model import ClaimRequest, NewJob
from tests.server.live_server import LiveServer

PATH = "/api/v1/workers"


def by_hand(server: LiveServer, statement: LiteralString) -> None:
    """Write to the database as another program would."""
    if server.settings.database:
        with psycopg.connect(server.settings.database) as connection:
            connection.execute(statement)
        return
    with closing(sqlite3.connect(server.settings.data / "jobs.db")) as file, file:
        file.execute(statement)


def test_a_worker_is_asked_to_drain(server: LiveServer, root: httpx.Client) -> None:
    server.store.workers.heartbeat("host-1-ab", 60.0)
    answer = root.post(f"{PATH}/host-1-ab/drain")
    assert (answer.status_code, answer.json()) == (200, {"id": "host-1-ab", "state": "draining"})
    assert server.store.workers.asked_to_drain("host-1-ab")
    again = root.post(f"{PATH}/host-1-ab/drain")
    assert (again.status_code, again.json()["detail"]) == (409, "worker host-1-ab is draining already")
    refused, drained = root.get("/api/v1/audit?operation=drain_worker").json()["entries"]
    assert (drained["object"], drained["after"], drained["status"]) == ("worker host-1-ab", {"state": "draining"}, 200)
    assert (refused["status"], refused["after"]) == (409, None)


def test_only_a_silent_worker_is_dismissed_and_its_jobs_are_requeued(server: LiveServer, root: httpx.Client) -> None:
    store = server.store
    job_id = store.jobs.enqueue(NewJob("sleep", {"seconds": 0})).id
    store.workers.heartbeat("host-1-ab", 60.0)
    store.claim(ClaimRequest("host-1-ab", ("sleep",), 60.0))
    (listed,) = root.get(PATH).json()
    assert (listed["id"], listed["running"]) == ("host-1-ab", [job_id])
    alive = root.post(f"{PATH}/host-1-ab/dismiss")
    assert (alive.status_code, alive.json()["detail"]) == (409, "worker host-1-ab is alive: drain it")
    by_hand(server, "UPDATE worker_heartbeats SET last_heartbeat = '2026-01-01 00:00:00.000'")
    by_hand(server, "UPDATE jobs SET lease_expires_at = '2026-01-01 00:00:00.000'")
    answer = root.post(f"{PATH}/host-1-ab/dismiss")
    assert answer.json() == {"id": "host-1-ab", "state": "stopped", "requeued": [job_id]}
    assert store.jobs.get(job_id).status == "pending"


def test_a_worker_that_does_not_exist_is_not_found(root: httpx.Client) -> None:
    for verb in ("drain", "dismiss"):
        assert root.post(f"{PATH}/nobody/{verb}").status_code == 404
