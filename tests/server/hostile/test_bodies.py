"""Hostile bodies, parameters and names get one clear sentence and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from gribmill.settings.schema import ServerSettings
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module", params=BOTH)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for all tests of this file."""
    limits = ServerSettings(max_body_megabytes=0.2)
    with ExitStack() as resources:
        settings = backend_settings(request.param, tmp_path_factory.mktemp("bodies"), resources, server=limits)
        yield resources.enter_context(serving(settings))


@pytest.fixture
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client(server.token("super_admin")) as client:
        yield client


def job(payload: bytes) -> bytes:
    return b'{"definition_key": "sleep", "payload": ' + payload + b"}"


BODIES: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "too long": (job(b'{"say": "' + b"a" * 300_000 + b'"}'), (413,)),
    "deep": (job(b"[" * 50_000 + b"]" * 50_000), (400, 422)),
    "deep objects": (job(b'{"a":' * 20_000 + b"1" + b"}" * 20_000), (400, 422)),
    "not a number": (job(b'{"seconds": NaN}'), (422,)),
    "infinite": (job(b'{"seconds": 1e999}'), (422,)),
    "endless integer": (job(b'{"seconds": ' + b"9" * 10_000 + b"}"), (400, 422)),
    "NUL": (b'{"definition_key": "sl\\u0000eep"}', (422,)),
    "half a surrogate": (b'{"definition_key": "\\ud800"}', (422,)),
    "half a surrogate in the payload": (job(b'{"say": "\\ud800"}'), (422,)),
    "bad UTF-8": (b'{"definition_key": "\xff\xfe"}', (400,)),
    "UTF-16": ('{"definition_key": "sleep"}'.encode("utf-16"), (201, 400)),
    "a key twice": (b'{"definition_key": "sleep", "priority": 1, "priority": 2}', (400,)),
    "a key twice in the payload": (job(b'{"seconds": 0, "seconds": 1}'), (400,)),
    "not JSON": (b"{", (400,)),
    "nothing": (b"", (422,)),
    "a list": (b"[]", (422,)),
    "a text": (b'"sleep"', (422,)),
    "unknown field": (b'{"definition_key": "sleep", "is_admin": true}', (422,)),
    "large priority": (b'{"definition_key": "sleep", "priority": 9223372036854775808}', (422,)),
    "time long past": (b'{"definition_key": "sleep", "scheduled_for": "0001-01-01T00:00:00Z"}', (422,)),
    "time without zone": (b'{"definition_key": "sleep", "scheduled_for": "2026-01-01T00:00:00"}', (422,)),
    "time as a number": (b'{"definition_key": "sleep", "scheduled_for": 1795000000}', (422,)),
    "time as an endless number": (b'{"definition_key": "sleep", "scheduled_for": ' + b"9" * 1000 + b"}", (422,)),
    "date without hyphens": (b'{"definition_key": "sleep", "scheduled_for": "20301119"}', (422,)),
    "boolean as a number": (b'{"definition_key": "sleep", "priority": true}', (422,)),
    "waits for no job": (b'{"definition_key": "sleep", "after": [9223372036854775807]}', (404, 422)),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_refused_with_a_problem(server: LiveServer, client: httpx.Client, name: str) -> None:
    body, expected = BODIES[name]
    before = server.store.jobs.list().jobs
    answer = client.post("/api/v1/jobs", content=body, headers=JSON)
    assert answer.status_code in expected, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert 0 < len(answer.json()["detail"]) < 2000
        assert server.store.jobs.list().jobs == before


@pytest.mark.parametrize("name", ["endless integer", "bad UTF-8", "not JSON"])
def test_a_body_that_is_no_json_is_called_so(client: httpx.Client, name: str) -> None:
    answer = client.post("/api/v1/jobs", content=BODIES[name][0], headers=JSON)
    assert (answer.status_code, answer.json()["detail"]) == (400, "the body is not JSON")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", None])
def test_a_body_of_another_type_is_refused(client: httpx.Client, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    answer = client.post("/api/v1/jobs", content=b'{"definition_key": "sleep"}', headers=headers)
    assert answer.status_code == 415, answer.text
    assert "Content-Type: application/json" in answer.json()["detail"]


def test_a_nul_in_a_payload_is_stored_as_both_databases_can(server: LiveServer, client: httpx.Client) -> None:
    answer = client.post("/api/v1/jobs", content=job(b'{"say": "a\\u0000b"}'), headers=JSON)
    assert answer.status_code in (201, 422), answer.text
    assert client.get("/api/v1/jobs").status_code == 200


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/api/v1/jobs/9223372036854775808", {}),
        ("/api/v1/jobs/-1", {}),
        ("/api/v1/jobs/1e3", {}),
        ("/api/v1/jobs/%00", {}),
        ("/api/v1/jobs", {"offset": 10_001}),
        ("/api/v1/jobs", {"offset": 2**70}),
        ("/api/v1/jobs", {"limit": 1001}),
        ("/api/v1/jobs", {"limit": 0}),
        ("/api/v1/jobs", {"cursor": 2**63}),
        ("/api/v1/jobs", {"created_after": "yesterday"}),
        ("/api/v1/jobs", {"created_after": "2026"}),
        ("/api/v1/events", {"since": "20261119"}),
        ("/api/v1/jobs", {"status": "pending"}),
        ("/api/v1/jobs", {"offset": 1, "cursor": 5}),
        ("/api/v1/groups", {"limit": 1001}),
        ("/api/v1/events", {"limit": 10**9}),
        ("/api/v1/audit", {"limit": 1001}),
    ],
)
def test_a_parameter_out_of_range_is_refused(client: httpx.Client, path: str, params: dict[str, Any]) -> None:
    answer = client.get(path, params=params)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/templates/%00",
        "/api/v1/templates/" + "a" * 201,
        "/api/v1/tenants/%ff%fe",
        "/api/v1/tenants/..%2f..%2fetc",
        "/api/v1/admin/jobs/definitions/%0d%0aX:%20y",
        "/api/v1/tokens/%F0%9F%98%80/rotate",
        "/api/v1/jobs?definition_key=%00",
        "/api/v1/jobs?correlation_id=%ED%A0%80",
        "/api/v1/events?name=" + "*" * 200,
        "/api/v1/audit?operation=%00",
        "/api/v1/jobs?tenant_id=%00",
        "/api/v1/jobs/summary?tenant_id=%ED%A0%80",
    ],
)
def test_names_that_no_database_can_hold_are_not_found(client: httpx.Client, path: str) -> None:
    method = "POST" if path.endswith("/rotate") else "GET"
    answer = client.request(method, path)
    assert answer.status_code in (200, 404, 422), answer.text


def test_a_key_that_occurs_twice_is_named(client: httpx.Client) -> None:
    answer = client.post("/api/v1/jobs", content=b'{"definition_key": "sleep", "definition_key": "x"}', headers=JSON)
    assert answer.json()["detail"] == "the key 'definition_key' occurs twice in an object of the body"
