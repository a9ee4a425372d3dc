"""`gribmill.Client` and `gribmill.AsyncClient` against a live server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any

import httpx
import pytest

import gribmill
from gribmill.client.call import change
from gribmill.client.calls import tile
from gribmill.client.client import ApiError, Retries, ServerUnreachable
from gribmill.queue.errors import QueueError
from gribmill.queue.model import NewJob
from gribmill.server.health import Liveness
from tests.server.live_server import LiveServer

AT_ONCE = Retries(first_seconds=0.0)


@pytest.fixture
def client(live_server: LiveServer) -> Iterator[gribmill.Client]:
    with gribmill.Client(live_server.url, live_server.token("tenant_admin", "acme"), retries=AT_ONCE) as client:
        yield client


def test_jobs_are_enqueued_listed_moved_cancelled_and_retried(client: gribmill.Client) -> None:
    first, second = (client.create_job("sleep", {"seconds": 0}, priority=50) for _ in range(2))
    assert (first.status, first.definition_key, first.priority, first.tenant_id) == ("queued", "sleep", 50, "acme")
    assert client.move_job(second.id, to="front").position < client.show_job(first.id).position
    assert client.cancel_job(first.id, "not needed").result == "canceled"
    assert client.retry_job(first.id).job.retry_of == first.id
    assert [one.status for one in client.list_jobs(limit=2).jobs] == ["queued", "queued"]
    assert [one.id for one in client.list_jobs(status="canceled").jobs] == [first.id]
    assert len([*client.all_jobs(limit=2)]) == 3
    assert client.summarize_jobs().counts["queued"] == 2
    assert client.list_attempts(first.id) == ()


def test_triggers_and_events(client: gribmill.Client) -> None:
    trigger = client.create_trigger("rule", "sleep", {"seconds": 0}, event_name="folder.changed")
    (fired,) = client.emit_event("folder.changed", {"path": "/a"})
    assert fired.trigger_id == trigger.id
    assert "folder.changed" in {one.name for one in client.list_events()}
    client.delete_trigger(trigger.id)
    assert client.list_triggers() == ()


def test_refusals_have_the_status_the_sentence_and_the_field(client: gribmill.Client) -> None:
    with pytest.raises(ApiError, match="there is no job 999") as missing:
        client.show_job(999)
    with pytest.raises(ApiError) as wrong:
        client.create_job("sleep", priority=2**40)
    assert (missing.value.status, wrong.value.status, [*wrong.value.fields]) == (404, 422, ["body.priority"])


def test_a_change_with_a_key_is_done_once(client: gribmill.Client) -> None:
    made = {client.create_job("sleep", {"seconds": 0}, idempotency_key="nightly").id for _ in range(3)}
    assert len(made) == 1
    assert len(client.list_jobs().jobs) == 1


def test_events_are_followed_and_a_stream_resumes_where_one_ended(client: gribmill.Client) -> None:
    client.emit_event("a.one")
    emitting = threading.Thread(target=lambda: [client.emit_event("a.two", {"n": n}) for n in range(5)])
    emitting.start()
    found = [*islice(client.follow_events("a.*", last_event_id=0), 6)]
    emitting.join()
    assert [one.payload.get("n") for one in found] == [None, 0, 1, 2, 3, 4]
    again = [*islice(client.follow_events("a.*", last_event_id=found[2].id), 3)]
    assert [one.id for one in again] == [one.id for one in found[3:]]


def test_async_client_does_the_same(live_server: LiveServer) -> None:
    token = live_server.token("tenant_admin", "acme")

    async def use() -> tuple[list[int], list[str]]:
        async with gribmill.AsyncClient(live_server.url, token, retries=AT_ONCE) as client:
            jobs = await asyncio.gather(*(client.create_job("sleep", {"seconds": 0}) for _ in range(5)))
            assert (await client.cancel_job(jobs[0].id)).status == "canceled"
            with pytest.raises(ApiError):
                await client.show_job(10**9)
            listed = [one.id async for one in client.all_jobs(limit=2)]
            await client.emit_event("a.one")
            names = []
            async for event in client.follow_events("a.*", last_event_id=0):
                names.append(event.name)
                break
            return listed, names

    listed, names = asyncio.run(use())
    assert (len(listed), names) == (5, ["a.one"])
    store = live_server.store.for_tenant("acme")
    assert store.jobs.enqueue(NewJob("sleep", {"seconds": 0})).id not in listed


class Flaky(BaseHTTPRequestHandler):
    """Responds as the test specifies, and records the requests."""

    protocol_version = "HTTP/1.1"
    answers: list[tuple[int, dict[str, str]]]
    keys: list[str | None]

    def do_POST(self) -> None:
        self.keys.append(self.headers["Idempotency-Key"])
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers = self.answers.pop(0)
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        body = b'{"status": "ok", "version": "1", "added later": true}'
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None: ...


@pytest.fixture
def flaky() -> Iterator[tuple[str, type[Flaky]]]:
    handler = type("Handler", (Flaky,), {"answers": [], "keys": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", handler
    server.shutdown()
    server.server_close()


def post(url: str, **options: Any) -> Liveness:
    with gribmill.Client(url, "gm_x", retries=AT_ONCE, **options) as client:
        return client.send(change("POST", Liveness, "/x", {}))


def test_a_change_is_sent_again_under_the_same_key(flaky: tuple[str, type[Flaky]]) -> None:
    url, server = flaky
    server.answers[:] = [(0, {}), (503, {}), (429, {}), (200, {})]
    assert post(url).status == "ok"
    assert len(server.keys) == 4
    assert len({*server.keys}) == 1 and server.keys[0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500])
def test_permanent_errors_are_not_retried(flaky: tuple[str, type[Flaky]], status: int) -> None:
    url, server = flaky
    server.answers[:] = [(status, {})] * 2
    with pytest.raises(ApiError):
        post(url)
    assert len(server.keys) == 1


def test_retries_are_limited(flaky: tuple[str, type[Flaky]]) -> None:
    url, server = flaky
    server.answers[:] = [(503, {})] * 9
    with pytest.raises(ApiError) as refused:
        post(url)
    assert (refused.value.status, len(server.keys)) == (503, AT_ONCE.attempts)
    server.answers[:] = [(0, {})] * 9
    with pytest.raises(ServerUnreachable, match="does not answer"):
        post(url)


def test_waits_double_with_jitter_and_obey_the_server() -> None:
    most, least = Retries(random=lambda: 1.0), Retries(random=lambda: 0.0)
    assert [most.wait(n, None) for n in range(1, 6)] == [0.5, 1.0, 2.0, 4.0, None]
    assert [least.wait(n, None) for n in range(1, 5)] == [0.25, 0.5, 1.0, 2.0]
    assert most.wait(1, httpx.Response(429, headers={"Retry-After": "7"})) == 7.0
    assert most.wait(1, httpx.Response(503, headers={"Retry-After": "99999"})) == 60.0
    assert most.wait(1, httpx.Response(409)) is None
    assert most.wait(1, httpx.Response(409, headers={"Retry-After": "1"})) == 1.0


def test_tokens_are_not_sent_unencrypted() -> None:
    with pytest.raises(QueueError, match="use https"):
        gribmill.Client("http://gribmill.example.org")


def test_names_in_paths_cannot_lead_elsewhere() -> None:
    assert tile("../../x?y", "20261118_00", "a/b", 3).path == "/api/v1/tiles/..%2F..%2Fx%3Fy/20261118_00/a%2Fb/003.npz"
