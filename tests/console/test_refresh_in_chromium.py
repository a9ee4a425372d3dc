"""Pages that refresh: what is new appears, what a person is doing stays, and nothing piles up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import AttemptRef, NewJob
from tests.console.lively_server import LivelyServer, start_lively
from tests.servers.chromium import Complaints

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

pytestmark = pytest.mark.process

REFRESH_MILLISECONDS = 5500


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivelyServer]:
    with ExitStack() as resources:
        yield start_lively("sqlite", tmp_path_factory, resources)


def opened(page: Page, server: LivelyServer, path: str) -> None:
    """A page whose clock the test drives."""
    page.clock.install()
    page.goto(f"{server.url}{path}")


def refresh(page: Page) -> None:
    """Let the page ask again, and wait until it has shown the answer."""
    with page.expect_response(lambda answer: answer.url.partition("#")[0] == page.url.partition("#")[0]):
        page.clock.run_for(REFRESH_MILLISECONDS)
    page.evaluate("() => Promise.resolve()")


def enqueue(server: LivelyServer, say: str = "new") -> int:
    return server.live.store.jobs.enqueue(NewJob("sleep", {"say": say})).id


def test_a_new_job_appears_and_old_rows_are_left_alone(server: LivelyServer, page: Page) -> None:
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


def test_what_was_closed_stays_closed_and_a_log_is_followed(server: LivelyServer, page: Page) -> None:
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


def test_a_server_that_is_gone_is_said_and_found_again(
    server: LivelyServer, page: Page, complaints: Complaints
) -> None:
    opened(page, server, "/groups")
    page.route("**/groups", lambda route: route.fulfill(status=503, body="busy"))
    refresh(page)
    page.get_by_text("No connection to the server").wait_for()
    page.unroute("**/groups")
    refresh(page)
    refresh(page)
    page.wait_for_function("() => document.getElementById('live-state').textContent === ''")
    complaints.texts.clear()  # of the answer 503


def measured(page: Page, session: CDPSession) -> tuple[int, int]:
    """Nodes of the document and bytes of the heap, after the garbage was collected."""
    session.send("HeapProfiler.collectGarbage")
    found: dict[str, Any] = session.send("Performance.getMetrics")
    values = {one["name"]: one["value"] for one in found["metrics"]}
    return int(values["Nodes"]), int(values["JSHeapUsedSize"])


def growth(page: Page, server: LivelyServer, path: str, rounds: int) -> tuple[float, float]:
    """By which factors nodes and heap grow over so many refreshes, with jobs that come meanwhile."""
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
