"""A client without scripts that requests pages and submits forms like a same-origin page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import httpx

from tests.server.live_server import LiveServer

HEADERS = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


class Visit:
    """One visitor, with cookies."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def page(self, path: str, status: int = 200) -> str:
        """The text of a page."""
        answer = self.client.get(path, follow_redirects=True)
        assert answer.status_code == status, answer.text[:2000]
        assert answer.headers["content-type"].startswith("text/html")
        return answer.text

    def post(self, path: str, fields: Mapping[str, Any] | None = None, status: int = 200) -> str:
        """Submit a form; returns the next page with the action's message."""
        answer = self.client.post(path, data=dict(fields or {}), follow_redirects=True)
        assert answer.status_code == status, answer.text[:2000]
        return answer.text


@contextmanager
def visiting(server: LiveServer, token: str | None = None, **headers: str) -> Iterator[Visit]:
    """A local visitor, or one with a token."""
    with server.client(token) as client:
        client.headers.update({**HEADERS, **headers})
        yield Visit(client)


class _Inline(HTMLParser):
    """Collects what a strict Content-Security-Policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        if tag in ("style", "img", "iframe", "object", "embed", "base"):
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style" or (value or "").lower().strip().startswith("javascript:"):
                self.found.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.found.append(f"script {data[:60]}")


def inline_content(text: str) -> list[str]:
    """Inline scripts, styles and handlers of a page, and elements that the console never uses."""
    parser = _Inline()
    parser.feed(text)
    parser.close()
    return parser.found
