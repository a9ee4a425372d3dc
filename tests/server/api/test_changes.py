"""Changes: executed once per idempotency key, and recorded in the audit trail with before and after."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, LiteralString

import httpx
import psycopg
import pytest

from gribmill.console.extension import CONSOLE
from gribmill.queue.store.types.types import Types
from gribmill.server.access.same_origin import SAFE_METHODS
from gribmill.server.change import SECRET_ANSWERS
from gribmill.server.router import SecuredRoute
from gribmill.server.routes import ROUTERS
from tests.server.live_server import LiveServer

JOB: dict[str, Any] = {"definition_key": "sleep", "payload": {"seconds": 0}}
KEY = {"Idempotency-Key": "one"}


def test_a_repeated_request_gets_the_first_answer(server: LiveServer, admin: httpx.Client) -> None:
    first, second = (admin.post("/api/v1/jobs", json=JOB, headers=KEY) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert first.headers["location"] == second.headers["location"] == f"/api/v1/jobs/{first.json()['id']}"
    assert ("idempotency-replayed" in first.headers, second.headers["idempotency-replayed"]) == (False, "true")
    assert len(server.store.jobs.list().jobs) == 1


def test_key_is_bound_to_one_request_and_caller(admin: httpx.Client, root: httpx.Client) -> None:
    first = admin.post("/api/v1/jobs", json=JOB, headers=KEY).json()
    other = admin.post("/api/v1/jobs", json={**JOB, "priority": 5}, headers=KEY)
    assert (other.status_code, "another request" in other.json()["detail"]) == (422, True)
    assert admin.post("/api/v1/jobs?x=1", json=JOB, headers=KEY).status_code == 422
    assert root.post("/api/v1/jobs", json=JOB, headers=KEY).json()["id"] != first["id"]


def test_a_refused_request_can_be_repeated_under_its_key(admin: httpx.Client) -> None:
    wrong = {"definition_key": "nothing"}
    assert admin.post("/api/v1/jobs", json=wrong, headers=KEY).status_code == 422
    assert admin.post("/api/v1/jobs", json=JOB, headers=KEY).status_code == 201


def test_concurrent_requests_under_one_key_are_executed_once(server: LiveServer, admin: httpx.Client) -> None:
    def post(_: int) -> httpx.Response:
        return admin.post("/api/v1/jobs", json=JOB, headers=KEY)

    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(post, range(16))]
    assert {one.status_code for one in answers} <= {201, 409}
    assert all("retry-after" in one.headers for one in answers if one.status_code == 409)
    assert len(server.store.jobs.list().jobs) == 1


def refused_again(client: httpx.Client, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], httpx.Response]:
    """The response to a request, and to its repetition, which is refused."""
    key = {"Idempotency-Key": path}
    first = client.post(path, json=body, headers=key)
    again = client.post(path, json=body, headers=key)
    assert (first.is_success, again.status_code) == (True, 409)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers.get("location") == first.headers.get("location")
    assert "a secret that is shown only once" in again.json()["detail"]
    return first.json(), again


def stored_answers(server: LiveServer) -> str:
    """The whole table of idempotency keys."""
    question: LiteralString = "SELECT * FROM idempotency_keys"
    if server.settings.database:
        with psycopg.connect(server.settings.database) as session:
            return str(session.execute(question).fetchall())
    with closing(sqlite3.connect(server.settings.data / "jobs.db")) as file:
        return str(file.execute(question).fetchall())


def test_secret_is_returned_only_once_and_not_stored(server: LiveServer, root: httpx.Client) -> None:
    token, _ = refused_again(root, "/api/v1/tokens", {"name": "n", "role": "worker"})
    rotated, _ = refused_again(root, f"/api/v1/tokens/{token['id']}/rotate", {})
    webhook, again = refused_again(root, "/api/v1/webhooks", {"url": "https://hooks.example.org/x"})
    assert again.headers["location"] == f"/api/v1/webhooks/{webhook['id']}"
    assert len(root.get("/api/v1/tokens").json()) == 2
    assert len(root.get("/api/v1/webhooks").json()) == 1
    stored = stored_answers(server)
    assert "create_webhook" in stored
    assert not [one for one in (token["token"], rotated["token"], webhook["secret"]) if one in stored]


def test_no_operation_with_a_secret_in_its_response_is_stored() -> None:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, SecuredRoute)]
    fields = {one.name: getattr(one.response_model, "model_fields", {}).keys() for one in routes}
    secret = {name for name, names in fields.items() if names & {"secret", "token"}}
    assert secret == SECRET_ANSWERS.keys() - {"log_in"}


def test_a_form_that_is_sent_twice_enqueues_once(server: LiveServer, root: httpx.Client) -> None:
    form = re.search(r'action="/definitions/sleep/enqueue".*?</form>', root.get("/definitions/sleep").text, re.DOTALL)
    assert form is not None
    once = re.search(r'name="once" value="([^"]{16,})"', form[0])
    assert once is not None
    fields = {"once": once[1], "arg.seconds": "0"}

    def send(more: dict[str, str]) -> httpx.Response:
        return root.post("/definitions/sleep/enqueue", data={**fields, **more})

    with ThreadPoolExecutor(4) as threads:
        places = {one.headers["location"] for one in threads.map(send, [{}] * 4)}
    (job,) = server.store.jobs.list().jobs
    assert places == {f"/jobs/{job.id}"}
    assert send({"priority": "5"}).status_code == 303
    assert len(server.store.jobs.list().jobs) == 2
    assert [send({"arg.seconds": "x"}).status_code for _ in range(2)] == [422, 422]


def test_a_page_with_a_secret_is_not_stored(root: httpx.Client) -> None:
    pages = [root.post("/tokens", data={"name": "n", "role": "worker"}, headers=KEY) for _ in range(2)]
    assert all("gm_" in page.text and "idempotency-replayed" not in page.headers for page in pages)


def test_a_key_must_be_printable(admin: httpx.Client) -> None:
    for wrong in ("x" * 201, "a\tb"):
        assert admin.post("/api/v1/jobs", json=JOB, headers={"Idempotency-Key": wrong}).status_code == 422


def test_every_unsafe_route_uses_this_class() -> None:
    """The route class does it for all unsafe methods."""
    routes = [route for router in (*ROUTERS, *CONSOLE.routers) for route in router.routes]
    writing = [one for one in routes if not set(getattr(one, "methods", ())) <= SAFE_METHODS]
    assert len(writing) > 50
    assert all(isinstance(one, SecuredRoute) for one in writing)


def test_audit_trail_records_caller_action_address_before_and_after(root: httpx.Client, admin: httpx.Client) -> None:
    job_id = admin.post("/api/v1/jobs", json={**JOB, "dedupe_key": "password=hunter22"}).json()["id"]
    admin.post(f"/api/v1/jobs/{job_id}/move", json={"priority": 7})
    admin.post(f"/api/v1/jobs/{job_id}/retry")
    refused, moved, created = admin.get("/api/v1/audit").json()["entries"]
    assert (created["operation"], created["object"], created["status"]) == ("create_job", f"job {job_id}", 201)
    assert (created["actor"], created["address"], created["tenant_id"]) == (
        "tenant_admin in tests", "127.0.0.1", "bcg",
    )  # fmt: skip
    assert (moved["before"], moved["after"]) == ({"priority": 100}, {"priority": 7})
    assert (refused["operation"], refused["status"]) == ("retry_job", 409)
    assert "hunter22" not in root.get("/api/v1/audit").text
    assert [one["operation"] for one in root.get("/api/v1/audit?operation=move_job").json()["entries"]] == ["move_job"]


def test_pages_of_the_audit_trail_are_contiguous(admin: httpx.Client) -> None:
    for _ in range(5):
        admin.post("/api/v1/jobs", json=JOB)
    seen: list[int] = []
    cursor = None
    while True:
        page = admin.get("/api/v1/audit", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        seen += [one["id"] for one in page["entries"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len({*seen}) == 5


def test_last_page_of_the_audit_trail_has_no_cursor_even_if_it_is_full(admin: httpx.Client) -> None:
    for _ in range(4):
        admin.post("/api/v1/jobs", json=JOB)
    first = admin.get("/api/v1/audit?limit=2").json()
    last = admin.get("/api/v1/audit", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert (len(last["entries"]), last["next_cursor"]) == (2, None)


def test_count_of_failed_jobs_is_never_negative(admin: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs may become dead letters between the two counts."""
    monkeypatch.setattr(Types, "dead_letters", lambda *_: 3)
    counts = admin.get("/api/v1/jobs/summary").json()["counts"]
    assert (counts["failed"], counts["dead_letter"]) == (0, 3)
