"""Chromium for tests: Debian's program, driven by Playwright, which downloads none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.servers.required import unavailable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--enable-unsafe-swiftshader",  # WebGL2 without a graphics card
    "--no-first-run",
)
PATIENCE_MILLISECONDS = 60_000
SERIOUS = ("serious", "critical")


@dataclass
class Complaints:
    """Errors reported by the browser: console errors, uncaught exceptions, CSP violations."""

    texts: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Also collect errors of this page."""
        page.on("console", lambda message: self.texts.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.texts.append(str(error)))


def chromium_program() -> str | None:
    """The browser to test with: GRIBMILL_TEST_CHROMIUM, or else an installed one."""
    given = os.environ.get("GRIBMILL_TEST_CHROMIUM")
    if given is not None:
        return given if Path(given).is_file() else None
    return next((path for path in PROGRAMS if Path(path).is_file()), None) or shutil.which("chromium")


# Not one for all modules: while Playwright runs, this thread has an event loop, and `asyncio.run` would refuse.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a module, which must be marked with `process`."""
    program = chromium_program()
    if program is None:
        unavailable("no browser: install Debian's package chromium")
    try:
        from playwright.sync_api import sync_playwright  # late: a third of a second, and few test runs need it
    except ImportError:
        unavailable("no Playwright: install the test tools (make setup)")
    # Chromium refuses to run as root with its sandbox.
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS, *sandbox])
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> Complaints:
    """Browser errors in this test. A test that expects some removes them from `texts`."""
    return Complaints()


@pytest.fixture
def page(chromium: Browser, complaints: Complaints) -> Iterator[Page]:
    """An empty page in a new profile. The test fails if the browser reports any error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    opened = context.new_page()
    complaints.watch(opened)
    yield opened
    context.close()
    assert complaints.texts == []


def serious_findings(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Serious accessibility findings of axe-core: the rule, and the first element concerned.

    `rules` limits the check to these rules.
    """
    source = (files("axe_playwright_python") / "axe.min.js").read_text()
    # Evaluated by the debugger, which bypasses the page's Content-Security-Policy.
    if not page.evaluate("() => 'axe' in window"):
        page.context.new_cdp_session(page).send("Runtime.evaluate", {"expression": source + ";0"})
    options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
    found: dict[str, Any] = page.evaluate("(options) => axe.run(options)", options)
    serious = [rule for rule in found["violations"] if rule["impact"] in SERIOUS]
    return [f"{rule['id']}: {rule['nodes'][0]['html']}" for rule in serious]
