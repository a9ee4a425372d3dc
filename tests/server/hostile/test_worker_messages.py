"""Every value of every message of a worker, replaced by others: refused, never an error of the server."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from gribmill.queue.model import NewJob
from gribmill.queue.remote.reads import READS
from gribmill.settings.schema import ServerSettings
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving

PATH = "/api/v1/worker"
WORKER = {"worker_id": "host-1-ab"}
JOB = {"job_id": 1, "attempt_no": 1}
CLAIM = {"types": ["sleep"], "lease_seconds": 60, "pid": 5, "batch_limit": 2}
TAILS = {"stdout_tail": "out", "stderr_tail": "err", "exit_code": 1}
RUN = {"model_id": "hrrr", "run_id": "20261119_00"}
HEAD = {
    "id": 1, "type": "sleep", "args": "{}", "tenant_id": "global", "group_key": None, "batch_id": 1, "attempt_no": 1,
    "retry_count": 0, "max_attempts": 3, "timeout_seconds": 60, "command": None, "claimant": "global",
}  # fmt: skip
ABOUT = {"hostname": "host", "version": "1", "types": ["sleep"], "state": "active", "metadata": {"executors": 3}}
FAILED = {"kind": "failed", "error": "it broke", "permanent": False, "retry_in": 5.0, "exit_code": 1}
SNOOZED = {"kind": "snoozed", "seconds": 5.0, "reason": "later"}
DONE = {"kind": "succeeded", "artifacts": ["a"], "followups": []}
PARAMS: dict[str, dict[str, Any]] = {
    "attempts/within": {"first": 1, "end": 5},
    "catalogue/bytes_of_regions": {"regions": ["ne"]},
    "catalogue/given_up_work": {"since": {"$time": "2026-11-19T00:00:00+00:00"}, "limit": 10},
    "catalogue/list_hours": RUN,
    "catalogue/list_lacking": {**RUN, "regions": ["ne"]},
    "catalogue/list_lost_runs": {"model_id": "hrrr"},
    "catalogue/list_runs": {"model_id": "hrrr", "limit": 5},
    "catalogue/list_tiles": {**RUN, "lost": True},
    "catalogue/newest_complete": {"model_id": "hrrr", "region": "ne"},
    "catalogue/one_hour": {**RUN, "hour": 3},
    "catalogue/regions_of_model": {"model_id": "hrrr"},
    "jobs/active_like": {"tenant_id": "global", "dedupe_keys": ["a"]},
    "jobs/failed_like": {"dedupe_keys": ["a"]},
    "jobs/find_active": {"tenant_id": "global", "dedupe_key": "a"},
    "leases/cancellations": {"worker_id": "host-1-ab"},
    "triggers/next_slot": {"types": ["sleep"]},
    "workers/lease": {"name": "leader"},
}
REPORTS: list[tuple[str, dict[str, Any]]] = [
    *(("exchange", {**WORKER, "reports": [{**JOB, **TAILS, "log_path": "a", "outcome": outcome}], "claims": [CLAIM]})
      for outcome in (FAILED, SNOOZED, DONE)),
    ("siblings", {**WORKER, "claim": CLAIM, "head": HEAD, "limit": 2}),
    ("jobs/{id}/heartbeat", {**WORKER, "attempt_no": 1, "lease_seconds": 60.0}),
    ("jobs/{id}/complete", {**WORKER, "attempt_no": 1, **TAILS, "artifacts": ["a"]}),
    ("jobs/{id}/fail",
     {**WORKER, "attempt_no": 1, **TAILS, "error": "e", "permanent": True, "timeout": False, "retry_in": 1}),
]  # fmt: skip
OTHER_MESSAGES: list[tuple[str, dict[str, Any]]] = [
    *(("read", {"statement": name, "params": params}) for name, params in PARAMS.items()),
    ("heartbeat", {**WORKER, **ABOUT, "lease_seconds": 60}),
    (
        "jobs/claim",
        {**WORKER, "types": ["sleep"], "batch_size": 1, "lease_seconds": 60.0, "hostname": "h", "version": "1"},
    ),
]
OTHERS: list[Any] = [
    None, True, 7, -1, 2**63, -(2**70), 1.5, 1e300, "", "5", "a\0b", "\ud800", "x" * 300, [], ["a\0b"],
    ["\ud800"], [1], [[]], {},
    {"a\0b": "a\0b"}, {"$time": "nonsense"}, {"$time": 5},
    {"$time": "0001-01-01T00:00:00+00:00"},
    {"$time": "9999-12-31T23:59:59-12:00"},
]  # fmt: skip


@pytest.fixture(scope="module", params=BOTH)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for all tests of this file."""
    limits = ServerSettings(requests_per_minute=1e9)
    with ExitStack() as resources:
        settings = backend_settings(request.param, tmp_path_factory.mktemp("messages"), resources, server=limits)
        yield resources.enter_context(serving(settings))


@pytest.fixture(scope="module")
def worker(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client(server.token("worker")) as client:
        yield client


def places(message: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every value within the message, the nested ones too."""
    if place:
        yield place
    if isinstance(message, dict | list):
        for key, value in message.items() if isinstance(message, dict) else enumerate(message):
            yield from places(value, (*place, key))


def replaced(message: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(message)
    parent: Any = changed
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    return changed


def post(worker: httpx.Client, what: str, message: dict[str, Any]) -> httpx.Response:
    return worker.post(f"{PATH}/{what}", content=json.dumps(message), headers={"Content-Type": "application/json"})


def variants(message: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    return itertools.product(places(message), OTHERS)


def claimed(server: LiveServer, worker: httpx.Client) -> tuple[int, int]:
    """A job and its attempt, which the worker holds."""
    server.store.jobs.enqueue(NewJob("sleep", {"seconds": 0}))
    (job,) = post(worker, "jobs/claim", {**WORKER, "types": ["sleep"]}).json()["jobs"]
    return job["id"], job["attempt_no"]


def about(message: dict[str, Any], job_id: int, attempt_no: int) -> dict[str, Any]:
    """The message about this attempt."""
    if "reports" in message:
        return replaced(replaced(message, ("reports", 0, "job_id"), job_id), ("reports", 0, "attempt_no"), attempt_no)
    return replaced(message, ("head", "id"), job_id) if "head" in message else {**message, "attempt_no": attempt_no}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "message"), OTHER_MESSAGES, ids=[f"{what}-{n}" for n, (what, _) in enumerate(OTHER_MESSAGES)]
)
def test_no_value_of_a_message_is_an_error_of_the_server(
    worker: httpx.Client, what: str, message: dict[str, Any]
) -> None:
    assert post(worker, what, message).status_code == 200
    for place, value in variants(message):
        found = post(worker, what, replaced(message, place, value))
        assert found.status_code < 500 and found.status_code != 429, (place, value, found.text)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "message"), REPORTS, ids=[f"{what}-{n}" for n, (what, _) in enumerate(REPORTS)])
def test_no_value_of_a_report_is_an_error_of_the_server(
    server: LiveServer, worker: httpx.Client, what: str, message: dict[str, Any]
) -> None:
    ref = claimed(server, worker)
    assert post(worker, what.format(id=ref[0]), about(message, *ref)).status_code == 200
    for place, value in variants(message):
        if server.store.jobs.get(ref[0]).status != "processing":
            ref = claimed(server, worker)
        found = post(worker, what.format(id=ref[0]), replaced(about(message, *ref), place, value))
        assert found.status_code < 500 and found.status_code != 429, (place, value, found.text)
    assert server.store.verify() == []


@pytest.mark.parametrize("name", PARAMS)
def test_parameter_of_another_type_is_refused_by_name(worker: httpx.Client, name: str) -> None:
    for param in PARAMS[name]:
        found = post(worker, "read", {"statement": name, "params": {**PARAMS[name], param: 1.5}})
        assert found.status_code == 422
        assert found.json()["detail"].startswith(f"the parameter {param} of {name} must be ")


def test_missing_and_unknown_parameters_are_refused_by_name(worker: httpx.Client) -> None:
    missing = post(worker, "read", {"statement": "workers/lease", "params": {}})
    assert (missing.status_code, missing.json()["detail"]) == (422, "the parameter name of workers/lease must be text")
    unknown = post(worker, "read", {"statement": "tenants/list", "params": {"now": "2026-11-19"}})
    assert unknown.status_code == 422
    assert "tenants/list has no parameter 'now'" in unknown.json()["detail"]


def test_every_read_with_parameters_is_tried() -> None:
    assert PARAMS.keys() == {name for name, kinds in READS.items() if kinds}
