"""HTML pages of folders as Apache, nginx and NOMADS write them: names, and times and sizes where they are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

from gribmill.ingest.outcome import Untrusted

MOST_LINES = 50_000
LONGEST_TAIL = 200
# 01-Aug-2025 00:51, 2025-08-01 00:51, 01-08-2025 00:51; with seconds or without.
_TIMES = (
    (re.compile(r"\b(\d{2}-[A-Z][a-z]{2}-\d{4}) (\d{2}:\d{2})"), "%d-%b-%Y %H:%M"),
    (re.compile(r"\b(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})"), "%Y-%m-%d %H:%M"),
    (re.compile(r"\b(\d{2}-\d{2}-\d{4}) (\d{2}:\d{2})"), "%d-%m-%Y %H:%M"),
)
_SIZE = re.compile(r"(?:^|\s)(\d{1,18}(?:\.\d{1,3})?)\s?([KMGT]i?B?)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageLine:
    """A file of the page; `size` only where it is given to the byte."""

    name: str
    size: int | None
    last_modified: datetime | None
    empty: bool


def read_page(data: bytes, url: str) -> list[PageLine]:
    """The files that a page links to, in its folder alone; Untrusted where it is no page of a folder."""
    reader = _Reader(url)
    try:
        reader.feed(data.decode("utf-8", "replace"))
        reader.close()
    except AssertionError:
        # html.parser asserts on some malformed declarations.
        raise Untrusted(url, "this page cannot be read as HTML") from None
    if not reader.links:
        raise Untrusted(url, "this page links to nothing: no page of a folder")
    lines = [_line(name, " ".join(tail.split())) for name, tail in reader.rows]
    return list({line.name: line for line in lines}.values())


class _Reader(HTMLParser):
    """Collects each link and the words between it and the next."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.url = url
        self.rows: list[tuple[str, str]] = []
        self.links = 0
        self._inside = False
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "a":
            return
        self.links += 1
        if self.links > MOST_LINES:
            raise Untrusted(self.url, f"a page of more than {MOST_LINES} links")
        name = self._name(dict(attrs).get("href") or "")
        self._inside, self._open = True, name is not None
        if name is not None:
            self.rows.append((name, ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "a"

    def handle_data(self, data: str) -> None:
        if self._open and not self._inside:
            name, tail = self.rows[-1]
            self.rows[-1] = (name, f"{tail} {data[:LONGEST_TAIL]}"[:LONGEST_TAIL])

    def _name(self, link: str) -> str | None:
        """The name of a file in this folder; None for folders, other places and the page's own buttons."""
        try:
            parts = urlsplit(urljoin(self.url, link))
            here = urlsplit(self.url)
        except ValueError:
            return None
        name = unquote(parts.path.removeprefix(here.path))
        same_place = parts[:2] == here[:2] and parts.path.startswith(here.path) and not parts.query
        return name if same_place and name and "/" not in name and name not in (".", "..") else None


def _line(name: str, tail: str) -> PageLine:
    moment = None
    for pattern, form in _TIMES:
        if found := pattern.search(tail):
            try:
                moment = datetime.strptime(f"{found[1]} {found[2]}", form).replace(tzinfo=UTC)
            except ValueError:
                continue
            tail = tail[found.end() :]
            break
    # Seconds, and the dash of a folder.
    tail = re.sub(r"^:\d{2}", "", tail).strip()
    size = _SIZE.search(tail)
    exact = int(size[1]) if size and size[1].isdigit() and not size[2] else None
    return PageLine(name, exact, moment, empty=exact == 0 or (size is not None and float(size[1]) == 0))
