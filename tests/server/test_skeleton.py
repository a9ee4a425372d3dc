"""The server as a whole: health, security headers, errors, limits and timeouts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from gribmill.console.extension import CONSOLE
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.server.app import create_app
from gribmill.server.listening import ServeError, check_exposure
from gribmill.server.router import SecuredRouter
from gribmill.settings.schema import ServerSettings, Settings
from tests.server.live_server import LiveServer, StartServer
from tests.waiting import wait_until


def test_health_needs_no_token(live_server: LiveServer) -> None:
    with live_server.client() as client:
        assert client.get("/healthz").json()["status"] == "ok"
        assert client.get("/readyz").json()["status"] == "ok"


def test_every_response_has_the_security_headers(live_server: LiveServer) -> None:
    with live_server.client() as client:
        for answer in (client.get("/healthz"), client.get("/nothing"), client.get("/", headers={"Host": "evil.test"})):
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"


def test_foreign_host_names_are_refused(start_server: StartServer) -> None:
    server = start_server(hosts=("grib.example",))
    with server.client() as client:
        assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421
        assert client.get("/healthz", headers={"Host": "grib.example:8760"}).status_code == 200
        assert client.get("/healthz", headers={"Host": "localhost"}).status_code == 200


def test_every_route_for_get_responds_to_head(dev_server: LiveServer) -> None:
    with dev_server.client() as client:
        paths = [
            "/healthz",
            "/api/v1/jobs",
            "/api/openapi.json",
            "/v1/forecast",
            "/edr/conformance",
            "/metrics",
            "/jobs",
        ]
        for path in [*paths, "/api/v1/jobs/7"]:
            read, head = client.get(path), client.head(path)
            assert (head.status_code, head.content) == (read.status_code, b""), path
            assert head.headers["content-type"] == read.headers["content-type"]
            assert head.headers.get("content-encoding") == read.headers.get("content-encoding")
        # The body would never end.
        assert client.head("/api/v1/events/stream").headers["content-type"].startswith("text/event-stream")
        assert client.head("/logout").status_code == 405


def test_bodies_of_patch_have_no_defaults(tmp_path: Path) -> None:
    """A generated client would send them, and so change what its user did not mention."""
    document = create_app(Settings(data=tmp_path)).openapi()
    pending = [
        one["patch"]["requestBody"] for one in document["paths"].values() if "requestBody" in one.get("patch", {})
    ]
    seen: set[str] = set()
    assert len(pending) >= 5
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
            if name and name not in seen:
                seen.add(name)
                pending.append(document["components"]["schemas"][name])
            defaults = [key for key, one in part.get("properties", {}).items() if "default" in one]
            assert not defaults, (part.get("title"), defaults)
            pending += part.values()
    assert "EditTenantBody" in seen


def test_errors_are_problem_documents(live_server: LiveServer) -> None:
    with live_server.client() as client:
        missing, method = client.get("/nothing"), client.post("/healthz")
    assert missing.headers["content-type"] == "application/problem+json"
    assert missing.json() == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "there is nothing at /nothing",
        "errors": [],
    }
    assert (method.status_code, method.headers["allow"]) == (405, "GET, HEAD")


def test_bodies_that_announce_too_much_are_refused(start_server: StartServer) -> None:
    server = start_server(max_body_megabytes=0.001)
    with server.client() as client:
        announced = client.post("/healthz", content=b"x" * 2000)
        assert announced.status_code == 413
        assert announced.headers["content-type"] == "application/problem+json"


def test_docs_page_names_every_operation_and_no_other_server(live_server: LiveServer) -> None:
    with live_server.client() as client:
        document, page = client.get("/api/openapi.json").json(), client.get("/api/docs").text
    for path in document["paths"]:
        assert path in page
    assert "://" not in page


def test_route_missing_from_the_access_table_fails_at_import() -> None:
    router = SecuredRouter(tag="test")

    async def unheard_of() -> None: ...

    with pytest.raises(LookupError, match="unheard_of has no entry"):
        router.get("/x")(unheard_of)


def test_every_route_has_an_operation_id(tmp_path: Path) -> None:
    app = create_app(Settings(data=tmp_path), extensions=[CONSOLE])
    assert isinstance(app, FastAPI)
    assert all(getattr(route, "operation_id", None) for route in app.routes)
    app.state.context.close()


def test_no_request_needs_the_threads_of_fastapi(tmp_path: Path) -> None:
    """It would keep up to forty of them, each with memory of its own, beside those of the server."""

    def calls(dependant: Dependant) -> Iterator[Callable[..., Any]]:
        assert dependant.call is not None
        yield dependant.call
        for one in dependant.dependencies:
            yield from calls(one)

    app = create_app(Settings(data=tmp_path), extensions=[CONSOLE])
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    plain = {call for route in routes for call in calls(route.dependant) if not iscoroutinefunction(call)}
    app.state.context.close()
    assert routes
    assert not plain


@pytest.mark.parametrize(
    ("settings", "dev", "words"),
    [
        (ServerSettings(host="0.0.0.0"), False, "--tls-cert"),
        (ServerSettings(host="192.0.2.1", behind_proxy=True), True, "--dev"),
        (ServerSettings(tls_cert=Path("cert.pem")), False, "--tls-key"),
    ],
)
def test_unsafe_ways_to_listen_are_refused(settings: ServerSettings, dev: bool, words: str) -> None:
    with pytest.raises(ServeError, match=words):
        check_exposure(settings, dev=dev)


def test_safe_ways_to_listen_are_allowed() -> None:
    check_exposure(ServerSettings(), dev=True)
    check_exposure(ServerSettings(host="::1"), dev=False)
    check_exposure(ServerSettings(host="0.0.0.0", behind_proxy=True), dev=False)


def test_startup_may_take_longer_than_a_request(start_server: StartServer) -> None:
    """Startup may migrate a large database."""
    with start_server(request_seconds=1e-6).client() as client:
        assert client.get("/healthz").status_code == 200


def test_request_that_takes_too_long_still_gets_a_response(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    list_them = Jobs.list

    def slow(self: Jobs, *words: Any, **options: Any) -> Any:
        go_on.wait(60)
        return list_them(self, *words, **options)

    server = start_server(request_seconds=0.2)
    monkeypatch.setattr(Jobs, "list", slow)
    with server.client() as client:
        late = client.get("/api/v1/jobs")
        assert (late.status_code, late.headers["content-type"]) == (503, "application/problem+json")
        assert "took longer than 0.2 s" in late.json()["detail"]
        wait_until(lambda: client.get("/healthz").status_code == 200, what="a quick answer in between")
        go_on.set()
        wait_until(lambda: client.get("/api/v1/jobs").status_code == 200)
