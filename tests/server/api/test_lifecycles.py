"""Each kind of object is created, listed, changed and removed over HTTP; the store and the audit trail agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from gribmill.access.tokens import Tokens
from gribmill.queue.errors import GroupNotFound, TemplateNotFound, WebhookNotFound
from gribmill.queue.model import ClaimRequest
from gribmill.queue.store import Store
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving

TENANT = "bcg"
HOOK = "https://hooks.example/in"
SECRET = "whsec_" + "c2Vj" * 10
JOB = {"definition_key": "sleep", "payload": {"seconds": 0}}
Json = Mapping[str, Any]
Seen = Callable[[Store, str], object]
"""What the store knows of the object with this id."""


@dataclass(frozen=True)
class Step:
    """A request, the status and fields of its response, and the store and audit trail afterwards."""

    method: str
    path: str
    status: int
    body: Json | None = None
    answer: Json = field(default_factory=dict)
    seen: tuple[Seen, object] | None = None
    operation: str | None = None
    after: Json | None = None


def lookup(find: Callable[[Store, str], object], missing: type[Exception]) -> Seen:
    def seen(store: Store, name: str) -> object:
        try:
            return find(store, name)
        except missing:
            return None

    return seen


group_state = lookup(lambda store, name: store.groups.progress(int(name)).group.name, GroupNotFound)
pending = lookup(lambda store, name: store.groups.progress(int(name)).pending, GroupNotFound)
template = lookup(lambda store, name: store.for_tenant(TENANT).templates.get(name).description, TemplateNotFound)
webhook = lookup(lambda store, name: store.webhooks.get(int(name)).is_enabled, WebhookNotFound)


def tenant_limit(store: Store, name: str) -> object:
    one = store.tenants.get(name)
    return one.max_running, one.is_enabled


def reserved(store: Store, _: str) -> object:
    return [one.scope for one in store.reservations.list()]


def claimed(store: Store, _: str) -> object:
    """How many jobs a worker would get now."""
    return len(store.claim(ClaimRequest("host-1-ab", ("sleep",), 60.0)))


def token_state(store: Store, name: str) -> object:
    return Tokens(store.database).get(name).revoked_at is not None


LIFECYCLES: dict[str, Sequence[Step]] = {
    "groups": (
        Step("POST", "", 201, {"name": "nightly"}, {"name": "nightly", "total": 0}, (group_state, "nightly"),
             "open_group", {"name": "nightly"}),
        Step("POST", "", 201, {"name": "nightly"}, {"name": "nightly"}),
        Step("GET", "", 200, answer={"name": "nightly"}),
        Step("POST", "/api/v1/jobs", 201, {**JOB, "group_id": "{number}"},
             seen=(pending, 1)),
        Step("GET", "/{id}", 200, answer={"total": 1, "pending": 1}),
        Step("POST", "/{id}/cancel", 200, {"reason": "no"}, {"canceled": 1, "requested": 0}, (pending, 0),
             "cancel_group", {"canceled": 1, "requested": 0}),
        Step("POST", "/{id}/retry", 201, {"canceled": True}, seen=(pending, 1), operation="retry_group"),
        Step("POST", "/{id}/resume", 200, answer={"name": "nightly"}, operation="resume_group"),
        Step("GET", "/999999", 404),
    ),
    "templates": (
        Step("POST", "", 201, {**JOB, "name": "short", "description": "a"},
             {"name": "short", "definition_key": "sleep"}, (template, "a"), "create_template", {"name": "short"}),
        Step("POST", "", 409, {"name": "short", "definition_key": "sleep"}),
        Step("POST", "", 422, {"name": "other", "definition_key": "nothing"}),
        Step("GET", "", 200, answer={"name": "short"}),
        Step("PATCH", "/{id}", 200, {"description": "b"}, {"description": "b"}, (template, "b"), "edit_template",
             {"description": "b"}),
        Step("PATCH", "/{id}", 422, {}),
        Step("POST", "/{id}/jobs", 201, {"payload": {"say": "hello"}},
             {"definition_key": "sleep", "status": "queued"}, operation="run_template"),
        Step("DELETE", "/{id}", 204, seen=(template, None), operation="delete_template"),
        Step("GET", "/{id}", 404),
    ),
    "webhooks": (
        Step("POST", "", 201, {"url": HOOK, "events": ["run.*"], "secret": SECRET}, {"url": HOOK, "secret": SECRET},
             (webhook, True), "create_webhook", {"url": HOOK}),
        Step("POST", "", 422, {"url": "ftp://hooks.example"}),
        Step("GET", "", 200, answer={"url": HOOK, "events": ["run.*"]}),
        Step("PATCH", "/{id}", 200, {"is_enabled": False}, {"is_enabled": False}, (webhook, False), "edit_webhook",
             {"is_enabled": False}),
        Step("PATCH", "/{id}", 200, {"is_enabled": True}, {"is_enabled": True}, (webhook, True)),
        Step("POST", "/{id}/test", 201, operation="check_webhook"),
        Step("GET", "/{id}/deliveries", 200, answer={"event_name": "webhook.test"}),
        Step("POST", "/{id}/deliveries/999999", 404),
        Step("DELETE", "/{id}", 204, seen=(webhook, None), operation="delete_webhook"),
        Step("GET", "/{id}", 404),
    ),
    "tenants": (
        Step("POST", "", 201, {"name": "acme", "max_running": 2}, {"name": "acme", "max_running": 2},
             (tenant_limit, (2, True)), "create_tenant", {"max_running": 2}),
        Step("POST", "", 409, {"name": "acme"}),
        Step("POST", "", 422, {"name": "other", "regions": ["atlantis"]}),
        Step("PATCH", "/{id}", 200, {"max_running": None}, {"max_running": None}, (tenant_limit, (None, True)),
             "edit_tenant", {"max_running": None}),
        Step("PATCH", "/{id}", 200, {"is_enabled": False}, {"is_enabled": False}, (tenant_limit, (None, False))),
        Step("POST", "/api/v1/jobs?tenant_id=acme", 409, JOB),
        Step("GET", "/{id}", 200, answer={"is_enabled": False}),
        Step("GET", "/nobody", 404),
    ),
    "reservations": (
        Step("POST", "/api/v1/jobs", 201, JOB),
        Step("POST", "", 201, {"seconds": 600, "scope": "sleep"}, {"scope": "sleep"}, (reserved, ["sleep"]),
             "create_reservation", {"scope": "sleep"}),
        Step("POST", "", 422, {"seconds": 600, "scope": "nothing"}, seen=(claimed, 0)),
        Step("GET", "", 200, answer={"scope": "sleep"}),
        Step("PATCH", "/{id}", 200, {"seconds": 60}, {"scope": "sleep"}, operation="extend_reservation"),
        Step("DELETE", "/{id}", 204, seen=(reserved, []), operation="release_reservation"),
        Step("DELETE", "/{id}", 404, seen=(claimed, 1)),
    ),
    "tokens": (
        Step("POST", "", 201, {"name": "ci", "role": "tenant_viewer", "tenant_id": TENANT},
             {"name": "ci", "role": "tenant_viewer", "tenant_id": TENANT}, (token_state, False), "create_token",
             {"name": "ci"}),
        Step("POST", "", 422, {"name": "ci", "role": "tenant_viewer", "tenant_id": "nobody"}),
        Step("GET", "", 200, answer={"name": "ci", "state": "active"}),
        Step("POST", "/{id}/rotate", 200, {"days": 1}, {"name": "ci"}, (token_state, False), "rotate_token"),
        Step("DELETE", "/{id}", 200, answer={"state": "revoked"}, seen=(token_state, True), operation="revoke_token"),
        Step("POST", "/{id}/rotate", 422),
        Step("DELETE", "/nothing", 404),
    ),
}  # fmt: skip
# Kinds that belong to a tenant, which sees what others did to them.
OF_TENANT = ("groups", "templates", "webhooks")


@pytest.fixture(scope="module", params=BOTH)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with ExitStack() as resources:
        settings = backend_settings(request.param, tmp_path_factory.mktemp("data"), resources)
        yield resources.enter_context(serving(settings))


@pytest.mark.parametrize("kind", LIFECYCLES)
def test_object_is_created_listed_changed_and_removed(server: LiveServer, kind: str) -> None:
    tenant = {"tenant_id": TENANT} if kind in OF_TENANT else {}
    admin_token = server.token("tenant_admin", TENANT)
    made = ""
    with server.client(server.token("super_admin")) as root, server.client(admin_token) as admin:
        for number, step in enumerate(LIFECYCLES[kind]):
            answer = send(root, kind, step, made, tenant)
            context = kind, number, answer.text
            assert answer.status_code == step.status, context
            made = made or identity(answer, step)
            if step.status == 201 and step.path.endswith("/jobs"):
                assert root.get(answer.headers["location"]).json()["id"] == answer.json()["id"], context
            if step.answer:
                found = answer.json()
                rows = found if isinstance(found, list) else [found]
                assert any(row.items() >= step.answer.items() for row in rows), context
            if step.seen is not None:
                look, expected = step.seen
                assert look(server.store, made) == expected, context
            if step.operation is not None:
                check_trail(admin if tenant else root, step, made)


def send(client: httpx.Client, kind: str, step: Step, made: str, params: dict[str, str]) -> httpx.Response:
    path = step.path.format(id=made)
    url = path if path.startswith("/api/") else f"/api/v1/{kind}{path}"
    body = None if step.body is None else {key: _filled(value, made) for key, value in step.body.items()}
    return client.request(step.method, url, json=body, params=params if "?" not in url else None)


def _filled(value: Any, made: str) -> Any:
    return int(made) if value == "{number}" else value


def identity(answer: httpx.Response, step: Step) -> str:
    """The path id of the object created first."""
    if step.path or answer.status_code != 201:
        return ""
    place = answer.headers.get("location")
    return place.rpartition("/")[2] if place else str(answer.json()["id"])


def check_trail(client: httpx.Client, step: Step, made: str) -> None:
    entries = client.get("/api/v1/audit", params={"operation": step.operation}).json()["entries"]
    assert entries, step
    assert (entries[0]["status"], made in entries[0]["object"]) == (step.status, True), entries[0]
    for name, value in (step.after or {}).items():
        assert entries[0]["after"][name] == value, entries[0]
