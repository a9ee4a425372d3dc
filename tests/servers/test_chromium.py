"""The browser fixture: WebGL2 works, errors are reported, and axe-core finds faults."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.servers.chromium import Complaints, chromium_program, serious_findings

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
GOOD = b"""<!doctype html><html lang="en"><title>t</title><main><h1>Good</h1><canvas></canvas></main>"""
BAD = b"""<!doctype html><html lang="en"><title>t</title><main><h1>Bad</h1><input></main><script>1</script>"""


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path in ("/good", "/bad") else 204)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write({"/good": GOOD, "/bad": BAD}.get(self.path, b""))

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_good_page_gives_no_complaint_and_no_finding(page: Page, complaints: Complaints, site: str) -> None:
    page.goto(f"{site}/good")
    assert page.locator("h1").inner_text() == "Good"
    assert page.evaluate("() => document.querySelector('canvas').getContext('webgl2') !== null")
    assert serious_findings(page) == []
    assert complaints.texts == []


def test_an_inline_script_and_a_field_without_label_are_found(page: Page, complaints: Complaints, site: str) -> None:
    page.goto(f"{site}/bad")
    assert [finding.split(":")[0] for finding in serious_findings(page)] == ["label"]
    assert "Content Security Policy" in complaints.texts.pop()


def test_missing_browser_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_TEST_CHROMIUM", "/nonexistent/chromium")
    assert chromium_program() is None
