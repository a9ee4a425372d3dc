"""Values that forms submit: numbers that are none, names that do not exist, secrets that were not shown."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gribmill.access.audit import AuditTrail
from gribmill.console.routes import groups
from gribmill.identity import HourRef
from gribmill.pipeline.job_types import ingest_job
from gribmill.queue.model import NewTenant, NewTrigger
from gribmill.settings.schema import ChainSettings, ServerSettings, Settings
from tests.console.visits import visiting
from tests.server.live_server import LiveServer, serving
from tests.waiting import wait_until

BACKFILL = {"model": "hrrr", "from": "20261101_00", "to": "20261101_00", "hours": "0", "regions": "ne"}


@pytest.mark.parametrize("typed", ["nan", "inf", "1.7", "soon"])
def test_priority_of_a_new_job_is_a_whole_number(dev_server: LiveServer, typed: str) -> None:
    with visiting(dev_server) as visit:
        page = visit.post("/definitions/sleep/enqueue", {"arg.seconds": "0", "priority": typed}, status=422)
    assert "The priority must be a whole number" in page
    assert not dev_server.store.jobs.list().jobs


@pytest.mark.parametrize("typed", ["nan", "-inf", "1e400"])
def test_argument_that_is_no_number_is_refused(dev_server: LiveServer, typed: str) -> None:
    with visiting(dev_server) as visit:
        page = visit.post("/definitions/sleep/enqueue", {"arg.seconds": typed}, status=422)
    assert "Seconds: this is not a number." in page
    (entry,) = AuditTrail(dev_server.store.database).list()
    assert (entry.operation, entry.status) == ("console_enqueue_job", 422)


@pytest.mark.parametrize("typed", ["soon", "nan"])
def test_days_of_a_token_are_a_number(dev_server: LiveServer, typed: str) -> None:
    with visiting(dev_server) as visit:
        page = visit.post("/tokens", {"name": "x", "role": "worker", "days": typed}, status=422)
    assert "The days until it expires must be a number" in page


def test_unknown_region_of_a_tenant_is_refused_as_in_the_api(dev_server: LiveServer) -> None:
    dev_server.store.tenants.add(NewTenant("acme", regions=("since_removed",)))
    fields = {"title": "", "timezone": "UTC"}
    with visiting(dev_server) as visit, dev_server.client() as client:
        page = visit.post("/tenants/acme", {**fields, "regions": "since_removed nowhere"}, status=422)
        assert "There is no region" in page
        visit.post("/tenants/acme", {**fields, "regions": "since_removed ne"})
        answer = client.patch("/api/v1/tenants/acme", json={"regions": ["nowhere"]})
    assert (answer.status_code, "there is no region 'nowhere'" in answer.text) == (422, True)
    assert dev_server.store.tenants.get("acme").regions == ("since_removed", "ne")


def test_secrets_that_a_form_hides_stay_when_other_arguments_change(dev_server: LiveServer) -> None:
    stored = {"say": "before", "fail": "never"}
    store = dev_server.store
    made = store.triggers.add(NewTrigger("daily", "sleep", stored, cron="0 3 * * *"))
    # As operators' types may have it: a value whose name says that it is secret.
    secret = {**stored, "say": "token=hunter22"}
    store.triggers.edit(made.id, args=secret)
    with visiting(dev_server) as visit:
        page = visit.page(f"/triggers/{made.id}")
        assert "hunter22" not in page
        fields = {
            "label": "daily",
            "type": "sleep",
            "cron": "0 3 * * *",
            "timezone": "UTC",
            "event": "",
            "priority": "",
        }
        args = '{"say": "token=[redacted]", "fail": "once"}'
        visit.post(f"/triggers/{made.id}", {**fields, "args": args, "save": "yes"})
        assert store.triggers.get(made.id).template == {**secret, "fail": "once"}
    with dev_server.client() as client:
        shown = client.get(f"/api/v1/jobs/triggers/{made.id}").json()["payload_template"]
        client.patch(f"/api/v1/jobs/triggers/{made.id}", json={"payload_template": {**shown, "fail": "always"}})
    assert store.triggers.get(made.id).template == {**secret, "fail": "always"}


def test_edited_trigger_keeps_either_a_schedule_or_an_event(dev_server: LiveServer) -> None:
    triggers = dev_server.store.triggers
    made = triggers.add(NewTrigger("daily", "sleep", cron="0 3 * * *", timezone="Europe/Berlin"))
    fields = {"label": "daily", "type": "sleep", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "args": "{}"}
    with visiting(dev_server) as visit:
        page = visit.post(f"/triggers/{made.id}", {**fields, "event": "ping"}, status=422)
        assert "either a schedule or an event" in page
        assert triggers.get(made.id).cron == "0 3 * * *"
        visit.post(f"/triggers/{made.id}", {**fields, "timezone": ""})
        assert triggers.get(made.id).timezone == "UTC"
        visit.post(f"/triggers/{made.id}", {**fields, "cron": "", "timezone": "", "event": "ping"})
    assert (triggers.get(made.id).cron, triggers.get(made.id).event) == (None, "ping")


def test_backfill_of_a_file_that_is_about_to_be_downloaded_adds_no_job(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, chain=ChainSettings(models=("hrrr",), regions=("ne",)))
    with serving(settings, dev=True) as server, visiting(server) as visit:
        live = server.store.jobs.enqueue(ingest_job(HourRef("hrrr", "20261101_00", 0), live=True))
        visit.post("/backfills", BACKFILL)
        assert [job.id for job in server.store.jobs.list().jobs] == [live.id]


def test_estimating_a_backfill_leaves_threads_to_other_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(*_: object) -> list[Any]:
        began.set()
        go_on.wait()
        return []

    monkeypatch.setattr(groups, "offers", slow)
    settings = Settings(data=tmp_path, server=ServerSettings(threads=1))
    with serving(settings, dev=True) as server, visiting(server) as visit, ThreadPoolExecutor(1) as pool:
        estimate = pool.submit(visit.post, "/backfills/estimate", BACKFILL)
        try:
            wait_until(began.is_set)
            assert "Jobs" in visit.page("/jobs")
        finally:
            go_on.set()
        estimate.result()
