"""One action on every job that matches a filter."""

from __future__ import annotations

from typing import Any

import httpx

from gribmill.queue.model import NewJob
from gribmill.server.state.bulk import AT_ONCE
from tests.server.api.conftest import TENANT
from tests.server.live_server import LiveServer
from tests.waiting import wait_until

QUEUED = {"status": "queued", "definition_key": "sleep"}


def fill(server: LiveServer, count: int, tenant: str = TENANT) -> list[int]:
    jobs = [NewJob("sleep", {"seconds": 0}) for _ in range(count)]
    return [one.id for one in server.store.for_tenant(tenant).jobs.enqueue_many(jobs)]


def bulk(client: httpx.Client, action: str, **more: Any) -> httpx.Response:
    return client.post("/api/v1/jobs/bulk", json={"action": action, "filter": QUEUED, **more})


def test_few_jobs_are_counted_first_and_cancelled_at_once(server: LiveServer, admin: httpx.Client) -> None:
    fill(server, 3)
    others = fill(server, 2, "global")
    counted = bulk(admin, "cancel", dry_run=True).json()
    assert (counted["state"], counted["matched"], counted["id"]) == ("counted", 3, None)
    assert bulk(admin, "cancel", expected=2).status_code == 409
    done = bulk(admin, "cancel", expected=3)
    assert (done.status_code, done.json()["state"], done.json()["done"]) == (200, "finished", 3)
    assert all(server.store.jobs.get(one).status == "pending" for one in others)


def test_many_jobs_are_changed_in_the_background_with_progress(server: LiveServer, admin: httpx.Client) -> None:
    ids = fill(server, AT_ONCE + 1)
    begun = bulk(admin, "cancel")
    assert (begun.status_code, begun.json()["matched"]) == (202, len(ids))
    address = begun.headers["location"]

    def finished() -> Any:
        found = admin.get(address).json()
        assert found["done"] <= found["matched"]
        return found if found["state"] != "running" else None

    ended = wait_until(finished, 240)
    assert (ended["state"], ended["done"], ended["refused"]) == ("finished", len(ids), 0)
    assert admin.get("/api/v1/jobs", params={"status": "queued"}).json()["jobs"] == []


def test_action_must_fit_its_filter(admin: httpx.Client) -> None:
    wrong = admin.post("/api/v1/jobs/bulk", json={"action": "retry", "filter": {"status": "queued"}})
    assert wrong.status_code == 422
    assert admin.post("/api/v1/jobs/bulk", json={"action": "cancel", "filter": {}}).status_code == 422


def test_already_retried_jobs_are_not_retried_again(server: LiveServer, admin: httpx.Client) -> None:
    fill(server, 2)
    bulk(admin, "cancel")
    body = {"action": "retry", "filter": {"status": "canceled"}}
    assert admin.post("/api/v1/jobs/bulk", json=body).json()["done"] == 2
    assert admin.post("/api/v1/jobs/bulk", json=body).json()["matched"] == 0
