"""Types of jobs that only operators may enqueue: the API refuses them to a tenant on every way to a job."""

from __future__ import annotations

import httpx
import pytest

from gribmill.console.pages.definitions import ONLY_OPERATORS
from gribmill.queue.model import NewJob, NewTemplate, NewTrigger
from tests.server.api.conftest import TENANT
from tests.server.live_server import LiveServer

HOUR = {"model_id": "hrrr", "run_id": "20261118_12", "hour": 1}
ARGUMENTS = {
    "scan_source": {"model_id": "hrrr", "run_id": "20261118_12"},
    "ingest_grib": HOUR,
    "build_tile": {**HOUR, "region": "ne"},
    "publish": HOUR,
    "prune": {},
    "deliver_webhook": {"webhook_id": 1, "event_id": 1},
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_tenant_cannot_enqueue_them(server: LiveServer, admin: httpx.Client, kind: str) -> None:
    assert ARGUMENTS.keys() == ONLY_OPERATORS
    what = {"definition_key": kind}
    refused = [
        admin.post("/api/v1/jobs", json={**what, "payload": ARGUMENTS[kind]}),
        admin.post("/api/v1/templates", json={**what, "name": "mine", "payload": ARGUMENTS[kind]}),
        admin.post(
            "/api/v1/jobs/triggers",
            json={
                **what,
                "label": "mine",
                "trigger_type": "schedule",
                "cron_expr": "* * * * *",
                "payload_template": ARGUMENTS[kind],
            },
        ),
    ]
    assert [one.status_code for one in refused] == [422] * 3, [one.text for one in refused]
    group = admin.post("/api/v1/groups", json={"name": "mine"}).json()["id"]
    assert admin.post("/api/v1/jobs", json={**what, "payload": ARGUMENTS[kind], "group_id": group}).status_code == 422
    trigger = server.store.triggers.add(NewTrigger("ours", "sleep", {}, cron="0 0 * * *", tenant_id=TENANT))
    edited = admin.patch(f"/api/v1/jobs/triggers/{trigger.id}", json={**what, "payload_template": ARGUMENTS[kind]})
    assert edited.status_code == 422, edited.text
    assert server.store.jobs.list().jobs == ()
    assert server.store.triggers.list() == [trigger]


def test_tenant_cannot_change_what_operators_made_of_them(server: LiveServer, admin: httpx.Client) -> None:
    store, args = server.store, {"model_id": "hrrr"}
    trigger = store.triggers.add(NewTrigger("ours", "scan_source", args, cron="0 0 * * *", tenant_id=TENANT))
    store.templates.add(NewTemplate("ours", "scan_source", args, tenant_id=TENANT))
    old = {"model_id": "hrrr", "run_id": "20200101_00"}
    for path, body in (
        (f"/api/v1/jobs/triggers/{trigger.id}", {"payload_template": old}),
        ("/api/v1/templates/ours", {"payload": old}),
    ):
        assert admin.patch(path, json=body).status_code == 422
    assert admin.post("/api/v1/templates/ours/jobs", json={"payload": old}).status_code == 422
    assert admin.post(f"/api/v1/jobs/triggers/{trigger.id}/fire").status_code == 201
    assert [job.args for job in store.jobs.list().jobs] == [args]


def test_operators_enqueue_them_for_a_tenant(server: LiveServer, admin: httpx.Client) -> None:
    made = server.store.jobs.enqueue(NewJob("scan_source", {"model_id": "hrrr"}, tenant_id=TENANT))
    assert admin.get(f"/api/v1/jobs/{made.id}").json()["definition_key"] == "scan_source"


def test_super_admin_enqueues_them_while_acting_for_a_tenant(
    server: LiveServer, admin: httpx.Client, root: httpx.Client
) -> None:
    of_tenant = {"tenant_id": TENANT}
    group = admin.post("/api/v1/groups", json={"name": "ours"}).json()["id"]
    what = {"definition_key": "scan_source"}
    made = [
        root.post("/api/v1/jobs", params=of_tenant, json={**what, "payload": {"model_id": "hrrr"}}),
        root.post("/api/v1/jobs", params=of_tenant, json={**what, "payload": {"model_id": "gfs"}, "group_id": group}),
        root.post("/api/v1/templates", params=of_tenant, json={**what, "name": "ours", "payload": {}}),
        root.patch("/api/v1/templates/ours", params=of_tenant, json={"payload": {"model_id": "nam"}}),
        root.post("/api/v1/templates/ours/jobs", params=of_tenant),
        root.post(
            "/api/v1/jobs/triggers",
            params=of_tenant,
            json={**what, "label": "o", "trigger_type": "event", "event_name": "x", "payload_template": {}},
        ),
    ]
    assert [one.status_code for one in made] == [201, 201, 201, 200, 201, 422], [one.text for one in made]
    assert "model_id" in made[-1].text, "the arguments are still checked"
    assert {(job.type, job.tenant_id) for job in server.store.jobs.list().jobs} == {("scan_source", TENANT)}
    shared = root.post("/api/v1/jobs", params=of_tenant, json={"definition_key": "prune"})
    assert shared.status_code == 422, "work that is done once for all tenants belongs to none of them"
