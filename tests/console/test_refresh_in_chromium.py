"""Pages that refresh: new content appears, the user's state is kept, and nothing accumulates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from gribmill.catalogue.reads import Catalogue
from gribmill.identity import HourRef
from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import AttemptRef, NewEvent, NewJob
from tests.console.lively_root import record_arrival, store_in_the_past
from tests.console.lively_server import LivelyServer, start_lively
from tests.servers.chromium import Complaints

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

pytestmark = pytest.mark.process

REFRESH_MILLISECONDS = 5500
# A page polls after five seconds or more, and refreshes at most one second after its first event.
NEVER_POLLS = """const start = window.setTimeout;
window.setTimeout = (action, wait, ...rest) => wait > 2000 ? 0 : start(action, wait, ...rest);"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivelyServer]:
    with ExitStack() as resources:
        yield start_lively("sqlite", tmp_path_factory, resources)


def opened(page: Page, server: LivelyServer, path: str) -> None:
    """A page whose clock is controlled by the test."""
    page.clock.install()
    page.goto(f"{server.url}{path}")


def refresh(page: Page) -> None:
    """Let the page poll, and wait until it shows the response."""
    with page.expect_response(lambda answer: answer.url.partition("#")[0] == page.url.partition("#")[0]):
        page.clock.run_for(REFRESH_MILLISECONDS)
    page.evaluate("() => Promise.resolve()")


def arrive(server: LivelyServer, hour: HourRef) -> None:
    """Record one hour as downloaded and built, as workers report it."""
    with store_in_the_past(server.live.settings, 1.0) as (_, clock):
        record_arrival(Catalogue(server.live.store.database), clock, hour)


def enqueue(server: LivelyServer, say: str = "new") -> int:
    return server.live.store.jobs.enqueue(NewJob("sleep", {"say": say})).id


def test_new_job_appears_and_old_rows_are_unchanged(server: LivelyServer, page: Page) -> None:
    opened(page, server, "/jobs")
    row = page.locator("tbody tr").first
    row.evaluate("(element) => { element.marked = true; element.querySelector('a').focus(); }")
    job = enqueue(server)
    refresh(page)
    page.get_by_label(f"Select job {job}").wait_for()
    assert page.locator("tbody tr").nth(1).evaluate("(element) => element.marked"), "the row was not made again"
    assert page.evaluate("() => document.activeElement.closest('tr').marked"), "the focus stays where it was"


def test_a_paused_page_stays_as_it_is_until_it_is_resumed(server: LivelyServer, page: Page) -> None:
    opened(page, server, "/jobs")
    page.get_by_role("button", name="Pause refresh").click()
    job = enqueue(server)
    page.clock.run_for(10 * REFRESH_MILLISECONDS)
    assert page.get_by_label(f"Select job {job}").count() == 0
    assert page.get_by_role("status").inner_text() == "Paused."
    page.get_by_role("button", name="Resume refresh").click()
    page.get_by_label(f"Select job {job}").wait_for()


def test_nothing_moves_while_jobs_or_text_are_selected(server: LivelyServer, page: Page) -> None:
    opened(page, server, "/jobs")
    box = page.locator("tbody input").first
    box.check()
    job = enqueue(server)
    page.clock.run_for(10 * REFRESH_MILLISECONDS)
    assert page.get_by_label(f"Select job {job}").count() == 0
    assert "Not refreshed while something is selected" in page.get_by_role("status").inner_text()
    box.uncheck()
    refresh(page)
    page.get_by_label(f"Select job {job}").wait_for()
    page.evaluate("() => getSelection().selectAllChildren(document.querySelector('h1'))")
    other = enqueue(server)
    page.clock.run_for(10 * REFRESH_MILLISECONDS)
    assert page.get_by_label(f"Select job {other}").count() == 0


def test_closed_sections_stay_closed_and_a_log_is_followed(server: LivelyServer, page: Page) -> None:
    store, job = server.live.store, server.root.running
    log = output_logs(server.live.settings).path(AttemptRef(job, 1))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(f"line {n} <b>\n" for n in range(300)))
    opened(page, server, f"/jobs/{job}")
    tail = page.locator("[data-follow]")
    assert "line 299 <b>" in tail.inner_text()
    with log.open("a") as file:
        file.write("the last line\n")
    refresh(page)
    page.get_by_text("the last line").wait_for()
    assert tail.evaluate("(element) => element.scrollHeight - element.scrollTop - element.clientHeight < 8")
    page.locator("summary").first.click()
    refresh(page)
    assert not page.locator("details").first.evaluate("(element) => element.open")
    assert store.jobs.get(job).status == "processing"


def test_lost_connection_is_shown_and_recovered(server: LivelyServer, page: Page, complaints: Complaints) -> None:
    opened(page, server, "/groups")
    page.route("**/groups", lambda route: route.fulfill(status=503, body="busy"))
    refresh(page)
    page.get_by_text("No connection to the server").wait_for()
    assert page.locator("#live-state").inner_text().startswith("No connection to the server")
    page.unroute("**/groups")
    refresh(page)
    refresh(page)
    page.wait_for_function("() => document.getElementById('live-state').textContent === ''")
    assert page.get_by_text("No connection to the server").count() == 0
    complaints.texts.clear()  # of the answer 503


def emit(server: LivelyServer) -> None:
    with server.live.store.database.write() as tx:
        tx.publish(NewEvent("hour.cut", {"model_id": "hrrr"}))


def connected(page: Page, server: LivelyServer, path: str) -> None:
    """A page that has connected to the event stream."""
    with page.expect_response("**/api/v1/events/stream"):
        page.goto(f"{server.url}{path}")


def test_an_event_refreshes_the_page_before_it_would_poll(server: LivelyServer, page: Page) -> None:
    page.add_init_script(NEVER_POLLS)
    connected(page, server, "/runs")
    with page.expect_response(f"{server.url}/runs") as refreshed:
        emit(server)
    assert refreshed.value.ok


def test_a_run_grid_fills_as_hours_arrive(server: LivelyServer, page: Page) -> None:
    connected(page, server, "/runs")
    run = server.root.run
    cell = page.locator(f'a[href="/runs/{run.model_id}/{run.run_id}/12"]').first
    assert "built" not in (cell.get_attribute("class") or "")
    cell.evaluate("(element) => { element.marked = true; }")
    arrive(server, HourRef(run.model_id, run.run_id, 12))
    page.locator(f'a.built[href="/runs/{run.model_id}/{run.run_id}/12"]').first.wait_for()
    assert cell.evaluate("(element) => element.marked"), "the cell is the same, with another state"


def test_many_events_cause_few_refreshes(server: LivelyServer, page: Page) -> None:
    connected(page, server, "/jobs")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/jobs") else None)
    with page.expect_response(f"{server.url}/jobs"):
        for _ in range(50):
            emit(server)
    assert len(asked) < 10


def test_a_paused_page_leaves_the_stream(server: LivelyServer, page: Page) -> None:
    connected(page, server, "/jobs")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/events/stream")) as left:
        page.get_by_role("button", name="Pause refresh").click()
    assert left.value.failure == "net::ERR_ABORTED", "the page itself has ended it"
    with page.expect_response("**/api/v1/events/stream") as joined:
        page.get_by_role("button", name="Resume refresh").click()
    assert joined.value.ok


def test_without_the_stream_the_page_polls(server: LivelyServer, page: Page, complaints: Complaints) -> None:
    page.route("**/api/v1/events/stream", lambda route: route.fulfill(status=503, body="busy"))
    opened(page, server, "/jobs")
    job = enqueue(server)
    refresh(page)
    page.get_by_label(f"Select job {job}").wait_for()
    assert page.get_by_label(f"Select job {job}").count() == 1
    page.close()
    complaints.texts.clear()  # of the answers 503


def measured(page: Page, session: CDPSession) -> tuple[int, int]:
    """Nodes of the document and bytes of the heap, after the garbage was collected."""
    session.send("HeapProfiler.collectGarbage")
    found: dict[str, Any] = session.send("Performance.getMetrics")
    values = {one["name"]: one["value"] for one in found["metrics"]}
    return int(values["Nodes"]), int(values["JSHeapUsedSize"])


def growth(page: Page, server: LivelyServer, path: str, rounds: int) -> tuple[float, float]:
    """The growth factors of nodes and heap over many refreshes while jobs arrive."""
    opened(page, server, path)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    for _ in range(10):
        refresh(page)
    nodes, heap = measured(page, session)
    for n in range(rounds):
        enqueue(server, f"round {n}")
        refresh(page)
    later_nodes, later_heap = measured(page, session)
    return later_nodes / nodes, later_heap / heap


def test_a_page_that_stays_open_does_not_grow(server: LivelyServer, page: Page) -> None:
    nodes, heap = growth(page, server, "/jobs", 30)
    assert nodes < 1.1 and heap < 1.2
