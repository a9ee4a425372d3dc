"""Every action of the console in a browser: with scripts on one backend, without on the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from gribmill.queue.model import ClaimRequest, NewJob, NewTenant
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.console.lively_root import STALE_WORKER, WORKER
from tests.console.lively_server import LivelyServer, start_lively
from tests.queue.backends import BOTH
from tests.servers.chromium import PATIENCE_MILLISECONDS, Complaints

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.process


@pytest.fixture(scope="module", params=BOTH)
def visited(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: Browser
) -> Iterator[tuple[LivelyServer, Page]]:
    """A server and a browser page; with jobs.db, scripts are disabled. A refused form returns 422."""
    complaints = Complaints()
    with ExitStack() as resources:
        lively = start_lively(request.param, tmp_path_factory, resources)
        context = chromium.new_context(java_script_enabled=request.param == "postgres")
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        page = context.new_page()
        complaints.watch(page)
        yield lively, page
        context.close()
    assert [text for text in complaints.texts if "status of 422" not in text] == []


@pytest.fixture
def act(visited: tuple[LivelyServer, Page]) -> Callable[..., str]:
    """Open a page, fill fields by label, click a button; returns the text of the next page."""
    lively, page = visited

    def clicked(path: str, button: str, within: str = "main", **fields: str) -> str:
        page.goto(f"{lively.url}{path}")
        for label, value in fields.items():
            by_id = page.locator(f"[id={label}]")
            (by_id if by_id.count() else page.get_by_label(label.replace("_", " "), exact=True)).fill(value)
        with page.expect_navigation():
            page.locator(within).get_by_role("button", name=button, exact=True).first.click()
        notice = page.locator(".notice")
        return notice.first.inner_text() if notice.count() else page.locator("main").inner_text()

    return clicked


@pytest.fixture
def store(visited: tuple[LivelyServer, Page]) -> Store:
    return visited[0].live.store


def enqueued(store: Store, **options: object) -> int:
    return store.jobs.enqueue(NewJob("sleep", {"say": "click me"}, **options)).id  # type: ignore[arg-type]


Act = Callable[..., str]


def test_jobs_are_moved_started_cancelled_and_retried(act: Act, store: Store) -> None:
    job = enqueued(store, delay_seconds=9000)
    assert "may start now" in act(f"/jobs/{job}", "Run now")
    assert "ahead of all others" in act(f"/jobs/{job}", "Move to front")
    assert "behind all others" in act(f"/jobs/{job}", "Move to back")
    assert "was cancelled" in act(f"/jobs/{job}", "Cancel")
    assert f"retries job {job}" in act(f"/jobs/{job}", "Retry")


def test_selected_jobs_are_cancelled_after_a_question(visited: tuple[LivelyServer, Page], store: Store) -> None:
    lively, page = visited
    kept, first, second = (enqueued(store) for _ in range(3))
    page.goto(f"{lively.url}/jobs?status=pending")
    for job in (first, second):
        page.get_by_label(f"Select job {job}").check()
    page.get_by_role("button", name="Cancel…").click()
    assert page.locator("h1").inner_text() == "Cancel 2 jobs?"
    page.get_by_role("button", name="Cancel 2 jobs").click()
    assert "2 jobs cancelled" in page.locator(".notice").inner_text()
    assert "status=pending" in page.url, "the filter is kept"
    assert [store.jobs.get(job).status for job in (kept, first, second)] == ["pending", "cancelled", "cancelled"]


def test_all_jobs_that_match_are_retried_after_a_question(visited: tuple[LivelyServer, Page], store: Store) -> None:
    lively, page = visited
    page.goto(f"{lively.url}/")
    page.get_by_role("button", name="Retry all…").click()
    assert page.locator("h1").inner_text() == "Retry 1 job?"
    page.get_by_role("link", name="Go back without changes").click()
    page.get_by_label("All jobs that match, on every page").check()
    page.get_by_role("button", name="Retry…").click()
    page.get_by_role("button", name="Retry 1 job").click()
    assert "1 job retried." in page.locator(".notice").inner_text()
    newest = store.jobs.list(limit=1).jobs[0]
    assert newest.retry_of == lively.root.dead


def test_a_job_is_enqueued_from_the_form_of_its_schema(act: Act, store: Store) -> None:
    assert "enqueued" in act("/definitions/sleep", "Enqueue", seconds="2", say="from a form")
    job = store.jobs.list(limit=1).jobs[0]
    assert isinstance(job.args, dict) and (job.args["seconds"], job.args["say"]) == (2, "from a form")
    fields = {"arg-model_id": "hrrr", "arg-run_id": "x", "arg-hour": "1", "arg-region": "ne"}
    assert "run_id" in act("/definitions/build_tile", "Enqueue", **fields)


def test_job_types_are_paused_and_switched_off(act: Act, store: Store) -> None:
    assert "type prune is resumed" in act("/", "Resume"), "from what needs attention"
    assert "type sleep is paused" in act("/definitions/sleep", "Pause")
    assert "type sleep is resumed" in act("/definitions/sleep", "Resume")
    assert "inactive" in act("/definitions/sleep", "Deactivate")
    assert "active" in act("/definitions/sleep", "Activate")
    assert not store.types.paused()


def test_groups_are_retried_and_cancelled(visited: tuple[LivelyServer, Page], act: Act, store: Store) -> None:
    path = f"/groups/{visited[0].root.group}"
    assert "1 job enqueued again" in act(path, "Retry failed")
    waiting = store.groups.progress(visited[0].root.group)
    assert "cancelled" in act(path, f"Cancel {waiting.pending + waiting.running} jobs")


def test_a_backfill_is_estimated_before_it_is_started(visited: tuple[LivelyServer, Page], store: Store) -> None:
    lively, page = visited
    page.goto(f"{lively.url}/backfills/new")
    page.get_by_label("Model").select_option("hrrr")
    page.get_by_label("From (UTC)").fill("yesterday")
    page.get_by_role("button", name="Estimate").click()
    assert "is not a time" in page.get_by_role("alert").inner_text()
    page.get_by_label("From (UTC)").fill("2026-11-01T06")
    page.get_by_label("To (UTC)").fill("2026-11-01T06")
    page.get_by_label("Hours").fill("0-2")
    page.get_by_role("button", name="Estimate").click()
    shown = page.locator("main").inner_text()
    assert "3 files to fetch" in shown and "6 for ne, texas" in shown and "a guess" in shown
    page.get_by_role("button", name="Start this backfill").click()
    assert "The backfill was enqueued." in page.locator(".notice").inner_text()
    assert len(store.jobs.list(JobFilter(type="ingest_grib", status="pending")).jobs) == 3


def test_a_region_that_was_added_later_is_named_and_backfilled(
    visited: tuple[LivelyServer, Page], store: Store
) -> None:
    lively, page = visited
    store.tenants.add(NewTenant("late", regions=("conus",)))
    page.goto(f"{lively.url}/runs")
    assert "complete without conus" in page.locator("main").inner_text()
    row = page.locator("tr", has_text="this region was added after the run was downloaded").last
    row.get_by_role("link", name="Backfill it").click()
    assert page.get_by_label("Regions").input_value() == "conus"
    assert page.get_by_label("Model").input_value() == "hrrr"
    assert page.get_by_label("From (UTC)").input_value() == page.get_by_label("To (UTC)").input_value() != ""


def test_workers_are_drained_and_dismissed(act: Act, store: Store) -> None:
    store.workers.heartbeat(WORKER, 600.0, types=("sleep",))
    assert "finishes its running jobs" in act("/workers", "Drain")
    assert f"worker {STALE_WORKER} is dismissed" in act("/workers", "Dismiss").lower()
    states = {one.id: one.state for one in store.workers.list()}
    assert states == {WORKER: "draining", STALE_WORKER: "stopped"}


def test_failing_mirror_is_used_again(visited: tuple[LivelyServer, Page], act: Act) -> None:
    assert "nomads-hrrr is in use again" in act("/", "Use again now", "#attention").lower()
    visited[1].goto(f"{visited[0].url}/sources")
    assert visited[1].get_by_role("button", name="Use again now").count() == 0


def test_triggers_are_created_previewed_changed_fired_and_removed(visited: tuple[LivelyServer, Page], act: Act) -> None:
    page = visited[1]
    page.goto(f"{visited[0].url}/triggers/new")
    page.get_by_label("Label").fill("clicked")
    page.get_by_label("Job type").select_option("sleep")
    page.get_by_label("Schedule (cron)").fill("61 * * * *")
    page.get_by_role("button", name="Preview").click()
    assert page.get_by_role("alert").count() == 1, "the minute is out of range"
    page.get_by_label("Schedule (cron)").fill("15 7 * * *")
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    page.get_by_role("button", name="Preview").click()
    assert re.search(r"22:15 UTC · \w+ [\d-]+ 07:15 JST", page.locator("main").inner_text())
    page.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="Trigger clicked").wait_for()
    path = page.url.removeprefix(visited[0].url)
    assert "was changed" in act(path, "Save", Label="clicked twice")
    assert "was created" in act(path, "Fire now")
    assert "paused" in act(path, "Pause")
    assert "fires again" in act(path, "Resume")
    assert "was removed" in act(path, "Remove")


def test_webhooks_are_added_tested_and_removed_and_events_delivered_again(
    visited: tuple[LivelyServer, Page], act: Act
) -> None:
    root = visited[0].root
    secret = act("/webhooks", "Add", Address="https://new.example/hook", Events="run.*")
    assert "shown only once" in secret and "whsec_" in secret
    path = f"/webhooks/{root.webhook}"
    assert "delivers a test" in act(path, "Send a test")
    assert "delivers it again" in act(path, "Deliver again")
    assert "delivers it again" in act(f"/events/{root.event}", "Deliver again")
    assert "gets no events" in act(path, "Disable")
    assert "gets events again" in act(path, "Enable")
    assert "was removed" in act(path, "Remove")


def test_tenants_and_tokens_are_managed_and_audited(visited: tuple[LivelyServer, Page], act: Act) -> None:
    page = visited[1]
    assert "added" in act("/tenants", "Add", Name="newcomer", Title="New").lower()
    assert "was changed" in act("/tenants/newcomer", "Save", Running_jobs="3")
    assert "Running jobs must be a whole number" in act("/tenants/newcomer", "Save", Running_jobs="many")
    assert "is disabled" in act("/tenants", "Disable")
    assert "is enabled" in act("/tenants", "Enable")
    assert "choose one" in act("/tokens", "Create", Name="robot")
    page.get_by_label("Name").fill("robot")
    page.get_by_label("Tenant").select_option("acme")
    page.get_by_role("button", name="Create").click()
    assert "gm_" in page.locator(".notice").inner_text()
    assert "gm_" in act("/tokens", "Replace")
    assert "was revoked" in act("/tokens", "Revoke")
    page.goto(f"{visited[0].url}/audit")
    trail = page.locator("main").inner_text()
    assert "tenant newcomer" in trail and "console_create_token" in trail
    assert "gm_" not in trail, "no secret is written down"


def test_an_hour_is_fetched_again(visited: tuple[LivelyServer, Page], act: Act) -> None:
    run = visited[0].root.run
    assert "fetches it" in act(f"/runs/{run.model_id}/{run.run_id}/2", "Fetch again")


def test_a_reservation_is_released(act: Act, store: Store) -> None:
    held = store.reservations.reserve("ops", 600.0)
    assert store.claim(ClaimRequest(WORKER, ("sleep",), 60.0)) == ()
    assert "was released" in act("/", "Release")
    assert store.reservations.list() == [] and held is not None
