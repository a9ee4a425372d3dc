"""Every page in a browser: light and dark themes, phone width, keyboard use, and accessibility."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gribmill.access.permissions import Role
from gribmill.console.render import STATIC
from gribmill.queue.model import NewJob
from tests.console.lively_root import HOSTILE, WORKER, pages_of
from tests.console.lively_server import LivelyServer, start_lively
from tests.servers.chromium import Complaints, serious_findings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.process

# Screenshots for manual review, if they are wanted; the folder is not in git.
WANTS_PICTURES = "GRIBMILL_TEST_PICTURES" in os.environ
PICTURES = Path(__file__).parents[2] / "build" / "pictures"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
MOST_SCRIPT_BYTES = 250_000
# Elements that no page of the console has; injected content would add them.
FOREIGN = "img, iframe, object, embed, base, script:not([src]), style, main u, main i, [onerror]"
FOR_TENANTS = (
    "/",
    "/runs",
    "/jobs",
    "/groups",
    "/triggers",
    "/definitions",
    "/definitions/sleep",
    "/events",
    "/webhooks",
)


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivelyServer]:
    """One backend: a browser gets the same templates from both, which test_every_page.py and the others visit."""
    with ExitStack() as resources:
        yield start_lively("sqlite", tmp_path_factory, resources)


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    wider: int = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    return max(0, wider)


def take(page: Page, path: str, kind: str) -> None:
    if not WANTS_PICTURES:
        return
    name = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "overview"
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.{kind}.png", full_page=True)


def test_every_page_is_accessible(lively: LivelyServer, page: Page) -> None:
    """Nothing overflows, axe-core has no serious finding, hostile content stays text."""
    page.on("dialog", lambda dialog: pytest.fail(f"a script of the content ran: {dialog.message}"))
    for path in pages_of(lively.root):
        page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
        page.emulate_media(color_scheme="light")
        page.goto(f"{lively.url}{path}")
        assert page.locator("h1").count() == 1, path
        assert page.locator(FOREIGN).count() == 0, path
        assert overflow(page) == 0, path
        assert serious_findings(page) == [], path
        take(page, path, "light")
        page.emulate_media(color_scheme="dark")
        assert serious_findings(page, ["color-contrast"]) == [], f"{path} dark"
        take(page, path, "dark")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.emulate_media(color_scheme="light")
        assert serious_findings(page) == [], f"{path} on a phone"
        assert overflow(page) == 0, f"{path} on a phone"
        take(page, path, "phone")


def test_hostile_content_is_shown_as_text_in_the_browser(lively: LivelyServer, page: Page) -> None:
    root = lively.root
    for path in (f"/jobs/{root.failed}", "/jobs", f"/runs/hrrr/{root.run.run_id}", f"/events/{root.event}"):
        page.goto(f"{lively.url}{path}")
        assert HOSTILE in page.locator("main").inner_text(), path
    page.goto(f"{lively.url}/triggers/{root.trigger}")
    assert "morning <u>report</u>" in page.locator("h1").inner_text()


@contextmanager
def logged_in(browser: Browser, lively: LivelyServer, role: Role, tenant: str | None = None) -> Iterator[Page]:
    """A remote visitor who has logged in with a token."""
    complaints = Complaints()
    context = browser.new_context(extra_http_headers={"Forwarded": "for=192.0.2.7"})
    page = context.new_page()
    complaints.watch(page)
    page.goto(f"{lively.url}/jobs")
    page.get_by_label("Token").fill(lively.live.token(role, tenant))
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Jobs", exact=True, level=1).wait_for()
    yield page
    context.close()
    assert [text for text in complaints.texts if "status of 40" not in text] == []


@pytest.mark.parametrize("role", ["tenant_viewer", "tenant_admin"])
def test_tenants_find_their_pages_and_nothing_of_others(lively: LivelyServer, chromium: Browser, role: Role) -> None:
    with logged_in(chromium, lively, role, "acme") as page:
        links = page.get_by_role("navigation", name="Pages").get_by_role("link").all_inner_texts()
        assert not {"Workers", "Tenants", "Tokens", "Audit", "Storage", "Sources", "Backfill"} & {*links}
        for path in FOR_TENANTS:
            page.goto(f"{lively.url}{path}")
            shown = page.locator("main").inner_text()
            assert "hopeless" not in shown and "hooks.example" not in shown, path
            changes = page.locator("main form[method=post] button").count()
            assert changes == 0 or role == "tenant_admin", path
        page.goto(f"{lively.url}/jobs")
        assert (page.get_by_role("button", name="Cancel…").count() > 0) == (role == "tenant_admin")
        page.get_by_role("button", name="Log out").click()
        page.get_by_role("heading", name="Log in").wait_for()


def post_forged(page: Page, path: str, fields: dict[str, str]) -> int:
    """The status of a form that no page offers, sent from the visitor's browser."""
    send = """async ([path, fields]) => {
      const body = new URLSearchParams(fields);
      const answer = await fetch(path, { method: "POST", body, headers: { Accept: "text/html" }, redirect: "manual" });
      return answer.status;
    }"""
    status: int = page.evaluate(send, [path, fields])
    return status


def forged(lively: LivelyServer, job: int) -> dict[str, dict[str, str]]:
    """Changes by kind; those of operators are refused to every tenant."""
    root = lively.root
    everything = {"action": "cancel", "scope": "matching", "confirmed": "yes"}
    return {f"/jobs/{job}/cancel": {}, f"/groups/{root.group}/cancel": {}, "/jobs/bulk": everything}


FOR_OPERATORS = {
    "/definitions/sleep/pause": {}, "/storage/prune": {}, f"/workers/{WORKER}/drain": {}, "/tokens": {"name": "mine"},
    "/tenants/zeta/enable": {}, "/sources/nomads-hrrr/clear": {}, "/backfills": {"model": "hrrr", "from": "2026-11-01"},
}  # fmt: skip


def test_a_tenant_viewer_is_offered_no_change_and_cannot_forge_one(lively: LivelyServer, chromium: Browser) -> None:
    store, root = lively.live.store, lively.root
    job = store.jobs.enqueue(NewJob("sleep", {"say": "stays"}, tenant_id="acme")).id
    with logged_in(chromium, lively, "tenant_viewer", "acme") as page:
        for path in (*FOR_TENANTS, f"/jobs/{job}", f"/groups/{root.group}"):
            page.goto(f"{lively.url}{path}")
            assert page.locator("main form[method=post] button").count() == 0, path
        for path, fields in {**forged(lively, job), **FOR_OPERATORS}.items():
            assert post_forged(page, path, fields) == 403, path
    assert store.jobs.get(job).status == "pending"
    assert not {"sleep"} & store.types.paused()


def test_a_tenant_admin_changes_its_own_tenant_only(lively: LivelyServer, chromium: Browser) -> None:
    store = lively.live.store
    own = store.jobs.enqueue(NewJob("sleep", {"say": "ours"}, tenant_id="acme")).id
    other = store.jobs.enqueue(NewJob("sleep", {"say": "theirs"})).id
    with logged_in(chromium, lively, "tenant_admin", "acme") as page:
        assert post_forged(page, f"/jobs/{other}/cancel", {}) == 404
        for path, fields in FOR_OPERATORS.items():
            assert post_forged(page, path, fields) == 403, path
        page.goto(f"{lively.url}/jobs?status=pending")
        assert page.get_by_label(f"Select job {other}").count() == 0
        page.get_by_label(f"Select job {own}").check()
        page.get_by_role("button", name="Cancel…").click()
        page.get_by_role("button", name="Cancel 1 job").click()
        assert "1 job cancelled" in page.locator(".notice").inner_text()
        page.goto(f"{lively.url}/definitions/sleep")
        page.get_by_label("say").fill("from acme")
        page.get_by_role("button", name="Enqueue").click()
        assert "was enqueued" in page.locator(".notice").inner_text()
        page.goto(f"{lively.url}/triggers")
        page.get_by_role("button", name="Fire now").first.click()
        assert "was created" in page.locator(".notice").inner_text()
    assert (store.jobs.get(own).status, store.jobs.get(other).status) == ("cancelled", "pending")
    assert all(job.tenant_id == "acme" for job in store.jobs.list(limit=2).jobs), "what it enqueues is its own"


def test_a_super_admin_sees_all_tenants_after_logging_in(lively: LivelyServer, chromium: Browser) -> None:
    with logged_in(chromium, lively, "super_admin") as page:
        page.get_by_role("link", name="Tenants").click()
        assert {"acme", "global", "zeta"} <= {*page.locator("tbody td:first-child a").all_inner_texts()}


def test_page_can_be_used_by_keyboard_alone(lively: LivelyServer, page: Page) -> None:
    page.goto(f"{lively.url}/jobs")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # New job, then the search
    page.keyboard.type("type:sleep")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs?q=type%3Asleep")
    page.locator("tbody a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/jobs/\d+$"))


def test_the_theme_is_chosen_and_kept(lively: LivelyServer, page: Page) -> None:
    page.goto(f"{lively.url}/groups")
    button = page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    page.goto(f"{lively.url}/jobs")
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_times_show_the_exact_moment_in_utc_and_local_time(lively: LivelyServer, page: Page) -> None:
    page.goto(f"{lively.url}/jobs/{lively.root.failed}")
    title = page.locator("main time").first.get_attribute("title") or ""
    assert re.search(r"\d\d:\d\d:\d\d UTC · .+ local$", title)


def test_hour_links_to_its_tile_on_the_map(lively: LivelyServer, page: Page) -> None:
    run = lively.root.run
    page.goto(f"{lively.url}/runs/{run.model_id}/{run.run_id}/3")
    link = page.locator("#tiles").get_by_role("link", name="ne").get_attribute("href")
    assert link == f"/map?model={run.model_id}&run={run.run_id}&minutes=180&region=ne"


def test_scripts_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in STATIC.rglob("*.js")}
    assert sum(sizes.values()) < MOST_SCRIPT_BYTES
