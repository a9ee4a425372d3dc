"""The API contract verbatim: paths, example bodies, fields, filters and statuses."""

from __future__ import annotations

from typing import Any

import httpx

from tests.server.api.conftest import TENANT
from tests.server.live_server import LiveServer

DEFINITION: dict[str, Any] = {
    "key": "sync-dropbox",
    "description": "Sync provider updates for tenant",
    "arg_schema": {
        "type": "object",
        "properties": {
            "provider_id": {"type": "string", "format": "uuid"},
            "path_prefix": {"type": "string"},
        },
        "required": ["provider_id"],
        "additionalProperties": False,
    },
    "timeout_seconds": 3600,
    "max_attempts": 3,
}
EVENT_TRIGGER: dict[str, Any] = {
    "label": "Resync on folder change",
    "trigger_type": "event",
    "event_name": "provider.folder.updated",
    "definition_key": "sync-dropbox",
    "payload_template": {"provider_id": "{{event.provider_id}}", "path_prefix": "{{event.folder_path}}"},
    "dedupe_window_seconds": 120,
}
SCHEDULE_TRIGGER: dict[str, Any] = {
    "label": "Nightly provider sync",
    "trigger_type": "schedule",
    "cron_expr": "0 2 * * *",
    "timezone": "America/New_York",
    "definition_key": "sync-dropbox",
    "payload_template": {"path_prefix": "/"},
}
JOB: dict[str, Any] = {
    "definition_key": "recompute-trained-tags",
    "payload": {"model": "siglip"},
    "priority": 100,
    "scheduled_for": "2126-02-16T10:30:00Z",
    "dedupe_key": "tenant:bcg:training:daily",
}
TAGS: dict[str, Any] = {
    "key": "recompute-trained-tags",
    "arg_schema": {"type": "object", "properties": {"model": {"type": "string"}}, "required": ["model"]},
}
PROVIDER = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"


def made(answer: httpx.Response, status: int = 201) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


def test_definitions_are_created_listed_and_changed(root: httpx.Client) -> None:
    definition = made(root.post("/api/v1/admin/jobs/definitions", json=DEFINITION))
    assert {name: definition[name] for name in DEFINITION} == DEFINITION
    assert definition["command"]["argv"] == ["sync-dropbox", "--provider-id", "{{provider_id}}"]
    assert "sync-dropbox" in {one["key"] for one in made(root.get("/api/v1/admin/jobs/definitions"), 200)}
    path = f"/api/v1/admin/jobs/definitions/{definition['id']}"
    changed = made(root.patch(path, json={"timeout_seconds": 60, "is_active": False}), 200)
    assert (changed["timeout_seconds"], changed["is_active"], changed["max_attempts"]) == (60, False, 3)
    made(root.post("/api/v1/admin/jobs/definitions", json=DEFINITION), 409)


def test_secrets_in_commands_are_hidden_and_stay_when_sent_back(server: LiveServer, root: httpx.Client) -> None:
    argv = ["gribmill", "--api-token", "s3cret-1", "--url=https://me:s3cret-2@host/", "--password", "{{word}}"]
    values = {"default_args": {"secret": "s3cret-3"}}
    schema = {"properties": {"word": {"type": "string"}, "secret": {"type": "string"}}}
    body = {"key": "hidden", "command": {"argv": argv}, "arg_schema": schema, "values": values}
    shown = made(root.post("/api/v1/admin/jobs/definitions", json=body))
    path = "/api/v1/admin/jobs/definitions/hidden"
    pages = [root.get(path), root.get("/api/v1/admin/jobs/definitions"), root.get("/definitions/hidden")]
    assert "s3cret" not in "".join([str(shown), *(page.text for page in pages)])
    assert shown["command"]["argv"][-2:] == ["--password", "{{word}}"]
    made(root.patch(path, json={"command": {"argv": [*shown["command"]["argv"][:-1], "x"]}}), 200)
    made(root.patch(path, json={"values": {"default_args": shown["overrides"]["default_args"]}}), 200)
    stored = server.store.definitions.get("hidden").definition
    assert stored.command is not None
    assert stored.command["argv"] == [*argv[:-1], "x"]
    assert stored.default_args == {"secret": "s3cret-3"}


def test_programs_not_on_the_allow_list_never_run(root: httpx.Client) -> None:
    refused = made(root.post("/api/v1/admin/jobs/definitions", json={**DEFINITION, "key": "rm-rf"}), 422)
    assert "is not allowed" in refused["detail"]


def test_triggers_of_both_kinds_are_created_changed_and_removed(root: httpx.Client, admin: httpx.Client) -> None:
    made(root.post("/api/v1/admin/jobs/definitions", json=DEFINITION))
    event = made(admin.post("/api/v1/jobs/triggers", json=EVENT_TRIGGER))
    assert {name: event[name] for name in EVENT_TRIGGER} == EVENT_TRIGGER
    # The example lacks an argument that its own definition requires, so it could never create a job.
    assert "provider_id" in made(admin.post("/api/v1/jobs/triggers", json=SCHEDULE_TRIGGER), 422)["detail"]
    whole = {**SCHEDULE_TRIGGER, "payload_template": {"path_prefix": "/", "provider_id": PROVIDER}}
    schedule = made(admin.post("/api/v1/jobs/triggers", json=whole))
    assert {name: schedule[name] for name in whole} == whole
    listed = made(admin.get("/api/v1/jobs/triggers"), 200)
    assert [one["id"] for one in listed] == [event["id"], schedule["id"]]
    path = f"/api/v1/jobs/triggers/{schedule['id']}"
    changed = made(admin.patch(path, json={"cron_expr": "30 3 * * *", "is_enabled": False}), 200)
    assert (changed["cron_expr"], changed["is_enabled"], changed["label"]) == ("30 3 * * *", False, whole["label"])
    assert made(admin.delete(path), 204) is None
    made(admin.get(path), 404)


def test_event_creates_the_job_of_its_trigger(root: httpx.Client, admin: httpx.Client) -> None:
    made(root.post("/api/v1/admin/jobs/definitions", json=DEFINITION))
    made(admin.post("/api/v1/jobs/triggers", json=EVENT_TRIGGER))
    payload = {"provider_id": PROVIDER, "folder_path": "/a"}
    (fired,) = made(admin.post("/api/v1/events", json={"name": "provider.folder.updated", "payload": payload}))
    job = made(admin.get(f"/api/v1/jobs/{fired['job_id']}"), 200)
    assert (job["source"], job["payload"]) == ("event", {"provider_id": PROVIDER, "path_prefix": "/a"})
    assert [one["id"] for one in made(admin.get("/api/v1/jobs?source=event"), 200)["jobs"]] == [job["id"]]


def test_a_job_is_enqueued_with_the_fields_of_the_contract(root: httpx.Client, admin: httpx.Client) -> None:
    made(root.post("/api/v1/admin/jobs/definitions", json=TAGS))
    answer = admin.post("/api/v1/jobs", json=JOB)
    job = made(answer)
    assert answer.headers["location"] == f"/api/v1/jobs/{job['id']}"
    assert {name: job[name] for name in ("tenant_id", "status", "definition_key", "priority", "dedupe_key")} == {
        "tenant_id": TENANT,
        "status": "queued",
        "definition_key": "recompute-trained-tags",
        "priority": 100,
        "dedupe_key": "tenant:bcg:training:daily",
    }
    assert job["scheduled_for"] == "2126-02-16T10:30:00.000Z"
    again = admin.post("/api/v1/jobs", json=JOB)
    assert made(again, 200)["id"] == job["id"]


def test_payloads_are_checked_against_the_schema_of_the_definition(root: httpx.Client, admin: httpx.Client) -> None:
    made(root.post("/api/v1/admin/jobs/definitions", json=TAGS))
    assert "model" in made(admin.post("/api/v1/jobs", json={**JOB, "payload": {}}), 422)["detail"]
    made(admin.post("/api/v1/jobs", json={**JOB, "definition_key": "nothing"}), 422)
    made(admin.post("/api/v1/jobs", json={**JOB, "more": 1}), 422)
    made(admin.post("/api/v1/jobs", json={**JOB, "scheduled_for": "2026-02-16T10:30:00"}), 422)


def test_lower_priorities_run_first(server: LiveServer, admin: httpx.Client, worker: httpx.Client) -> None:
    ids = [made(admin.post("/api/v1/jobs", json=sleep(priority=p)))["id"] for p in (100, 150, 50)]
    claimed = made(worker.post("/api/v1/worker/jobs/claim", json={"worker_id": "w", "batch_size": 3}), 200)["jobs"]
    assert [one["id"] for one in claimed] == [ids[2], ids[0], ids[1]]
    assert server.store.verify() == []


def test_jobs_have_every_status_of_the_contract_and_are_filtered_by_it(
    admin: httpx.Client, worker: httpx.Client
) -> None:
    ids = [made(admin.post("/api/v1/jobs", json=sleep(max_attempts=1)))["id"] for _ in range(6)]
    held = made(worker.post("/api/v1/worker/jobs/claim", json={"worker_id": "w", "batch_size": 4}), 200)["jobs"]
    assert [one["id"] for one in held] == ids[:4]
    report = {"worker_id": "w", "attempt_no": 1}
    made(worker.post(f"/api/v1/worker/jobs/{ids[1]}/complete", json=report), 200)
    failed = {**report, "error": "it broke", "permanent": True}
    made(worker.post(f"/api/v1/worker/jobs/{ids[2]}/fail", json=failed), 200)
    made(worker.post(f"/api/v1/worker/jobs/{ids[3]}/fail", json={**report, "error": "it broke"}), 200)
    made(admin.post(f"/api/v1/jobs/{ids[4]}/cancel"), 200)
    expected = {
        "running": ids[0],
        "succeeded": ids[1],
        "failed": ids[2],
        "dead_letter": ids[3],
        "canceled": ids[4],
        "queued": ids[5],
    }
    for status, job_id in expected.items():
        page = made(admin.get("/api/v1/jobs", params={"status": status}), 200)
        assert [(one["id"], one["status"]) for one in page["jobs"]] == [(job_id, status)]
    summary = made(admin.get("/api/v1/jobs/summary"), 200)
    assert summary["counts"] == dict.fromkeys(expected, 1)
    assert summary["running_count"] == 1
    assert summary["oldest_queued_age_seconds"] >= 0


def test_attempts_have_the_fields_of_the_contract(admin: httpx.Client, worker: httpx.Client) -> None:
    job_id = made(admin.post("/api/v1/jobs", json=sleep()))["id"]
    made(worker.post("/api/v1/worker/jobs/claim", json={"worker_id": "w"}), 200)
    tails = {"stdout_tail": "out", "stderr_tail": "password=hunter22", "exit_code": 3}
    report = {"worker_id": "w", "attempt_no": 1, "error": "it broke", **tails}
    made(worker.post(f"/api/v1/worker/jobs/{job_id}/fail", json=report), 200)
    (attempt,) = made(admin.get(f"/api/v1/jobs/{job_id}/attempts"), 200)
    assert (attempt["attempt_no"], attempt["status"], attempt["exit_code"]) == (1, "failed", 3)
    assert (attempt["stdout_tail"], attempt["stderr_tail"]) == ("out", "password=[redacted]")
    assert attempt["error_text"] == "it broke"


def test_a_finished_job_is_retried_and_a_running_one_is_not(admin: httpx.Client) -> None:
    job_id = made(admin.post("/api/v1/jobs", json=sleep()))["id"]
    made(admin.post(f"/api/v1/jobs/{job_id}/retry"), 409)
    made(admin.post(f"/api/v1/jobs/{job_id}/cancel"), 200)
    made(admin.post(f"/api/v1/jobs/{job_id}/cancel"), 409)
    again = made(admin.post(f"/api/v1/jobs/{job_id}/retry"))
    assert (again["created"], again["job"]["retry_of"], again["job"]["status"]) == (True, job_id, "queued")


def test_limit_offset_and_times_select_a_page(admin: httpx.Client) -> None:
    ids = [made(admin.post("/api/v1/jobs", json=sleep()))["id"] for _ in range(5)][::-1]

    def listed(**params: Any) -> list[int]:
        return [one["id"] for one in made(admin.get("/api/v1/jobs", params=params), 200)["jobs"]]

    assert listed(limit=2) == ids[:2]
    assert listed(limit=2, offset=1) == ids[1:3]
    assert listed(limit=10, offset=4) == ids[4:]
    assert listed(offset=5) == []
    assert listed(created_before="2026-01-01T00:00:00Z") == []
    assert listed(created_after="2026-01-01T00:00:00Z") == ids
    page = made(admin.get("/api/v1/jobs", params={"limit": 3}), 200)
    assert listed(limit=3, cursor=page["next_cursor"]) == ids[3:]
    assert made(admin.get("/api/v1/jobs", params={"limit": 5}), 200)["next_cursor"] is None


def test_tick_returns_ok_and_what_ran(root: httpx.Client) -> None:
    job_id = made(root.post("/api/v1/jobs", json=sleep()))["id"]
    ticked = made(root.post("/api/jobs/tick"), 200)
    assert ticked["ok"] is True
    assert [(one["job_id"], one["outcome"]) for one in ticked["ran"]] == [(job_id, "succeeded")]
    assert made(root.post("/api/jobs/tick", json={"limit": 5}), 200) == {"ok": True, "ran": []}


def sleep(**more: Any) -> dict[str, Any]:
    return {"definition_key": "sleep", "payload": {"seconds": 0}, **more}
