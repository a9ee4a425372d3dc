"""Priorities that tenants may use: an API caller of a tenant cannot go ahead of the operators' work."""

from __future__ import annotations

import httpx
import pytest

from gribmill.queue.model import NewJob
from tests.server.api.conftest import TENANT
from tests.server.live_server import LiveServer

# In the API, lower means sooner: the default range of -100 to 100 is 200 to 0.
TOO_SOON, SOONEST = -1, 0
JOB = {"definition_key": "sleep", "payload": {"seconds": 0}}
RULE = {"definition_key": "sleep", "label": "mine", "trigger_type": "event", "event_name": "x"}


def test_tenant_cannot_go_ahead_of_the_operators_work(server: LiveServer, admin: httpx.Client) -> None:
    job = admin.post("/api/v1/jobs", json={**JOB, "priority": SOONEST}).json()["id"]
    group = admin.post("/api/v1/groups", json={"name": "mine"}).json()["id"]
    admin.post("/api/v1/templates", json={**JOB, "name": "mine", "priority": SOONEST})
    rule = admin.post("/api/v1/jobs/triggers", json={**RULE, "priority": SOONEST}).json()["id"]
    before = server.store.jobs.list().jobs
    refused = [
        admin.post("/api/v1/jobs", json={**JOB, "priority": TOO_SOON}),
        admin.post("/api/v1/jobs", json={**JOB, "priority": TOO_SOON, "group_id": group}),
        admin.post(f"/api/v1/jobs/{job}/move", json={"priority": TOO_SOON}),
        admin.post("/api/v1/templates", json={**JOB, "name": "other", "priority": TOO_SOON}),
        admin.patch("/api/v1/templates/mine", json={"priority": TOO_SOON}),
        admin.post("/api/v1/jobs/triggers", json={**RULE, "priority": TOO_SOON}),
        admin.patch(f"/api/v1/jobs/triggers/{rule}", json={"priority": TOO_SOON}),
        admin.post("/api/v1/jobs", json={**JOB, "priority": 201}),
    ]
    assert [one.status_code for one in refused] == [422] * len(refused), [one.text for one in refused]
    assert "theirs are -100 to 100 (in the API, where lower means sooner: 0 to 200)" in refused[0].json()["detail"]
    assert server.store.jobs.list().jobs == before


@pytest.mark.parametrize("how", ["before", "behind"])
def test_tenant_cannot_move_a_job_to_the_priority_of_an_operators_one(
    server: LiveServer, admin: httpx.Client, how: str
) -> None:
    urgent = server.store.jobs.enqueue(NewJob("sleep", priority=5000, tenant_id=TENANT)).id
    job = admin.post("/api/v1/jobs", json=JOB).json()["id"]
    assert admin.post(f"/api/v1/jobs/{job}/move", json={how: urgent}).status_code == 422
    assert server.store.jobs.get(job).priority == 0
    other = server.store.jobs.enqueue(NewJob("sleep", priority=5000, tenant_id=TENANT)).id
    assert admin.post(f"/api/v1/jobs/{other}/move", json={how: urgent}).status_code == 200


def test_operators_use_any_priority_for_a_tenant(server: LiveServer, root: httpx.Client, admin: httpx.Client) -> None:
    body = {**JOB, "priority": -5000}
    made = [root.post("/api/v1/jobs", json=body), root.post("/api/v1/jobs", params={"tenant_id": TENANT}, json=body)]
    assert [one.status_code for one in made] == [201, 201], [one.text for one in made]
    assert server.store.jobs.get(made[1].json()["id"]).tenant_id == TENANT
    assert admin.get(f"/api/v1/jobs/{made[1].json()['id']}").json()["priority"] == -5000
