"""Parses the HTML directory listings of Apache, nginx and NOMADS: names, and times and sizes if shown."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import unquote, urljoin, urlsplit

from gribmill.ingest.http.errors import Untrusted

MOST_LINKS = 20_000
LONGEST_TAIL = 600
# Bounded repetitions keep the time linear in the length of the page, which an HTML parser does not guarantee.
_LINK = re.compile(
    r"""<a\s[^<>]{0,300}?href\s?=\s?(?:"([^"<>]{1,600})"|'([^'<>]{1,600})')[^<>]{0,300}>""", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]{0,300}>")
# 01-Aug-2025 00:51, 2025-08-01 00:51, 01-08-2025 00:51; with seconds or without.
_TIMES = (
    (re.compile(r"\b(\d{2}-[A-Z][a-z]{2}-\d{4}) (\d{2}:\d{2})"), "%d-%b-%Y %H:%M"),
    (re.compile(r"\b(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})"), "%Y-%m-%d %H:%M"),
    (re.compile(r"\b(\d{2}-\d{2}-\d{4}) (\d{2}:\d{2})"), "%d-%m-%Y %H:%M"),
)
_SIZE = re.compile(r"(?:^|\s)(\d{1,18}(?:\.\d{1,3})?)\s?([KMGT]i?B?)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageLine:
    """A file in the listing; `size` is None unless it is exact."""

    name: str
    size: int | None
    last_modified: datetime | None
    empty: bool


def read_page(data: bytes, url: str) -> list[PageLine]:
    """The files in the listed folder. Raises Untrusted if the page is not a directory listing."""
    text = data.decode("utf-8", "replace")
    links = 0
    lines: dict[str, PageLine] = {}
    for link in _LINK.finditer(text):
        links += 1
        if links > MOST_LINKS:
            raise Untrusted(url, f"the page has more than {MOST_LINKS} links")
        name = _name(html.unescape(link[1] or link[2] or ""), url)
        if name is not None:
            lines[name] = _line(name, _words_after(text, link.end()))
    if not links:
        raise Untrusted(url, "this page has no links, so it is not a page of a folder")
    return list(lines.values())


def _name(link: str, url: str) -> str | None:
    """The name of a file in this folder; None for folders, links elsewhere and links that sort the page."""
    try:
        parts, here = urlsplit(urljoin(url, link)), urlsplit(url)
    except ValueError:
        return None
    name = unquote(parts.path.removeprefix(here.path))
    same_place = parts[:2] == here[:2] and parts.path.startswith(here.path) and not parts.query
    return name if same_place and name and "/" not in name and name not in (".", "..") else None


def _words_after(text: str, start: int) -> str:
    """The text between a link and the next one, without tags."""
    tail = text[start : start + LONGEST_TAIL]
    tail = tail.partition("</a>")[2].partition("<a")[0]
    return " ".join(html.unescape(_TAG.sub(" ", tail)).split())


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
