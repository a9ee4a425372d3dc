"""Server-sent events: each exactly once, in order, however often the connection breaks."""

from __future__ import annotations

import json
import threading
from typing import Any

import httpx
import pytest

from gribmill.access.tokens import Tokens
from gribmill.server.api import event_routes
from tests.server.live_server import LiveServer

STREAM = "/api/v1/events/stream"


def read(client: httpx.Client, count: int, last_id: str | None, name: str = "a.*") -> tuple[list[dict[str, Any]], str]:
    """Read some events over a new connection, then drop it; returns them and the id to resume from."""
    headers = {} if last_id is None else {"Last-Event-ID": last_id}
    found: list[dict[str, Any]] = []
    with client.stream("GET", STREAM, params={"name": name}, headers=headers) as answer:
        assert answer.status_code == 200
        for line in answer.iter_lines():
            if line.startswith("id: "):
                last_id = line.removeprefix("id: ")
            elif line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if not line and len(found) >= count and last_id is not None:
                return found, last_id
    raise AssertionError(f"the stream ended after {len(found)} events")


def test_events_of_many_writers_arrive_once_over_many_connections(server: LiveServer, admin: httpx.Client) -> None:
    """Writers do not commit in the order of their ids, and the stream breaks every few events."""
    writers, each = 4, 15
    begun: list[threading.Thread] = []
    store = server.store.for_tenant("bcg")

    def write(writer: int) -> None:
        for n in range(each):
            store.events.emit("a.written", {"by": writer, "n": n})

    _, place = read(admin, 0, None)
    for writer in range(writers):
        begun.append(threading.Thread(target=write, args=(writer,)))
        begun[-1].start()
    found: list[dict[str, Any]] = []
    while len(found) < writers * each:
        some, place = read(admin, 1 + len(found) % 5, place)
        found += some
    for thread in begun:
        thread.join()
    assert len({one["id"] for one in found}) == writers * each == len(found)
    for writer in range(writers):
        assert [one["payload"]["n"] for one in found if one["payload"]["by"] == writer] == [*range(each)]


def test_stream_that_broke_before_its_first_event_resumes_there(server: LiveServer, admin: httpx.Client) -> None:
    admin.post("/api/v1/events", json={"name": "a.before"})
    assert read(admin, 1, "0")[0][0]["name"] == "a.before"
    _, place = read(admin, 0, None)
    admin.post("/api/v1/events", json={"name": "a.between"})
    (event,), _ = read(admin, 1, place)
    assert event["name"] == "a.between"


def test_other_tenants_and_names_are_left_out(server: LiveServer, admin: httpx.Client, root: httpx.Client) -> None:
    root.post("/api/v1/events", json={"name": "a.global"})
    admin.post("/api/v1/events", json={"name": "b.mine"})
    admin.post("/api/v1/events", json={"name": "a.mine"})
    found, _ = read(admin, 1, "0")
    assert [one["name"] for one in found] == ["a.mine"]
    assert [one["name"] for one in read(root, 2, "0")[0]] == ["a.global", "a.mine"]


def test_a_stream_ends_with_its_token(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_routes, "CHECK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(event_routes, "KEEP_ALIVE_SECONDS", 0.05)
    text = server.token("tenant_viewer", "bcg")
    with server.client(text) as client, client.stream("GET", STREAM) as answer:
        lines = filter(None, answer.iter_lines())
        assert [next(lines) for _ in range(4)][2:] == [": still here"] * 2
        Tokens(server.store.database).revoke(text[3:11])
        assert {*lines} <= {": still here"}


@pytest.mark.parametrize("wrong", ["x", "-1", str(2**63), "1.5"])
def test_invalid_position_is_refused(admin: httpx.Client, wrong: str) -> None:
    assert admin.get(STREAM, headers={"Last-Event-ID": wrong}).status_code == 422
