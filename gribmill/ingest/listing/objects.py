"""Which objects a mirror has with a prefix."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.errors import Broken, NotThere, TooLarge
from gribmill.ingest.http.local_files import head_of_file, path_of
from gribmill.ingest.listing.html import read_page
from gribmill.ingest.listing.s3 import list_bucket
from gribmill.ingest.mirrors.mirror import Mirror

# NBM, the largest folder that is listed as a page, has some 2,000 files of 250 bytes each.
PAGE_LIMIT_BYTES = 16_000_000
MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Listed:
    """An object as a listing shows it; None where it does not show it. `empty` where it has no bytes yet."""

    key: str
    size: int | None = None
    etag: str | None = None
    last_modified: datetime | None = None
    empty: bool = False


def list_keys(mirror: Mirror, prefix: str, session: SourceSession) -> dict[str, Listed]:
    """Every object whose key begins with the prefix, by key; empty where there are none."""
    match mirror.listing:
        case "s3":
            found = list_bucket(mirror.root, prefix, mirror.host, session)
            rows = [Listed(one.key, one.size, one.etag, one.last_modified, one.size == 0) for one in found]
        case "pages":
            rows = _page(mirror, prefix, session)
        case "folder":
            rows = _folder(mirror.root, prefix)
        case "none":
            raise Broken(mirror.root, "this mirror has no listing")
    return {row.key: row for row in rows}


def _page(mirror: Mirror, prefix: str, session: SourceSession) -> list[Listed]:
    folder, _, start = prefix.rpartition("/")
    folder = f"{folder}/" if folder else ""
    url = mirror.root + folder
    try:
        page = session.get(url, mirror.host, limit_bytes=PAGE_LIMIT_BYTES).data
    except NotThere:
        return []
    return [
        Listed(folder + line.name, line.size, None, line.last_modified, line.empty)
        for line in read_page(page, url)
        if line.name.startswith(start)
    ]


def _folder(root: str, prefix: str) -> list[Listed]:
    folder, _, start = prefix.rpartition("/")
    url = f"{root}{folder}"
    rows: list[Listed] = []
    try:
        with os.scandir(path_of(url)) as entries:
            for entry in entries:
                if entry.name.startswith(start) and entry.is_file():
                    facts = entry.stat()
                    head = head_of_file(url, facts)
                    modified = datetime.fromtimestamp(facts.st_mtime, UTC)
                    key = f"{folder}/{entry.name}" if folder else entry.name
                    rows.append(Listed(key, facts.st_size, head.etag, modified, facts.st_size == 0))
                if len(rows) > MOST_FILES:
                    raise TooLarge(url, f"more than {MOST_FILES} files in one folder")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Broken(url, f"cannot be read: {error.strerror}") from None
    return rows
