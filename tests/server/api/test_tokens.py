"""Tokens over HTTP: created, listed, rotated, revoked; what their scopes and roles allow."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.server.live_server import LiveServer

PATH = "/api/v1/tokens"


def make(client: httpx.Client, **more: Any) -> dict[str, Any]:
    answer = client.post(PATH, json={"name": "n", "role": "tenant_viewer", **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def status_with(server: LiveServer, text: str, path: str = "/api/v1/jobs", method: str = "GET") -> int:
    with server.client(text) as client:
        return client.request(method, path, json={} if method == "POST" else None).status_code


def test_a_token_is_shown_once_rotated_and_revoked(server: LiveServer, admin: httpx.Client) -> None:
    made = make(admin)
    text = made["token"]
    assert status_with(server, text) == 200
    listed = {one["id"]: one for one in admin.get(PATH).json()}
    assert listed[made["id"]]["last_used_at"] is not None
    assert listed[made["id"]]["expires_at"] > listed[made["id"]]["created_at"]
    secret = text.removeprefix(f"gm_{made['id']}_").rpartition("_")[0]
    assert len(secret) >= 32 and secret not in admin.get(PATH).text
    rotated = admin.post(f"{PATH}/{made['id']}/rotate").json()["token"]
    assert (status_with(server, text), status_with(server, rotated)) == (401, 200)
    assert admin.delete(f"{PATH}/{made['id']}").json()["state"] == "revoked"
    assert status_with(server, rotated) == 401
    assert admin.post(f"{PATH}/{made['id']}/rotate").status_code == 422
    assert text not in str(server.store.jobs.list()) + admin.get("/api/v1/audit").text


def test_an_expired_token_is_refused(server: LiveServer, admin: httpx.Client) -> None:
    made = make(admin, days=1e-9)
    assert status_with(server, made["token"]) == 401


@pytest.mark.parametrize(
    ("scopes", "path", "method", "expected"),
    [
        (["jobs"], "/api/v1/jobs", "GET", 200),
        (["jobs"], "/api/v1/jobs", "POST", 422),
        (["jobs:read"], "/api/v1/jobs", "GET", 200),
        (["jobs:read"], "/api/v1/jobs", "POST", 403),
        (["jobs"], "/api/v1/jobs/triggers", "GET", 403),
        (["read"], "/api/v1/jobs/triggers", "GET", 200),
        (["read"], "/api/v1/events", "POST", 403),
        (["data"], "/api/v1/models", "GET", 200),
        (["data"], "/", "GET", 403),
    ],
)
def test_scopes_limit_a_token(
    server: LiveServer, admin: httpx.Client, scopes: list[str], path: str, method: str, expected: int
) -> None:
    made = make(admin, role="tenant_admin", scopes=scopes)
    assert status_with(server, made["token"], path, method) == expected


def test_token_cannot_create_a_stronger_one(server: LiveServer, admin: httpx.Client) -> None:
    for role in ("super_admin", "worker"):
        assert admin.post(PATH, json={"name": "n", "role": role}).status_code == 403
    assert admin.post(PATH, json={"name": "n", "role": "tenant_admin", "tenant_id": "global"}).status_code == 404
    narrow = make(admin, role="tenant_admin", scopes=["tokens", "jobs:read"])["token"]
    with server.client(narrow) as client:
        for scopes in ([], ["jobs"], ["tokens", "webhooks"]):
            body = {"name": "n", "role": "tenant_admin", "scopes": scopes}
            assert client.post(PATH, json=body).status_code == 403, scopes
        assert make(client, scopes=["jobs:read"])["scopes"] == ["jobs:read"]
        wide = next(one["id"] for one in admin.get(PATH).json() if not one["scopes"])
        assert client.post(f"{PATH}/{wide}/rotate").status_code == 403, "its new secret would have all scopes"


def test_limited_session_cannot_create_a_wider_token(server: LiveServer, root: httpx.Client) -> None:
    narrow = make(root, role="super_admin", scopes=["console"])
    other = make(root, role="super_admin")
    with server.client(narrow["token"]) as client:
        assert client.post("/tokens", data={"name": "n", "role": "super_admin"}).status_code == 403
        assert client.post(f"/tokens/{other['id']}/rotate", data={"x": ""}).status_code == 403
    assert status_with(server, other["token"]) == 200
