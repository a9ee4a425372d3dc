"""A folder as a page of HTML, in the form of Apache's that NOMADS shows: name, time, size."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from urllib.parse import quote


def folder_page(path: str, folders: Iterable[str], files: Iterable[tuple[str, datetime, int]]) -> bytes:
    """The page of the folder at `path`, which ends with a slash."""
    title = escape(f"Index of {path}")
    lines = [f"<html><head><title>{title}</title></head><body><h1>{title}</h1><pre>", '<a href="../">../</a>']
    lines += [f'<a href="{quote(name)}/">{escape(name)}/</a>{_room(name)}-' for name in folders]
    lines += [
        f'<a href="{quote(name)}">{escape(name)}</a>{_room(name)}{modified:%d-%b-%Y %H:%M}  {size:>12}'
        for name, modified, size in files
    ]
    return "\n".join([*lines, "</pre></body></html>\n"]).encode()


def _room(name: str) -> str:
    return " " * max(2, 60 - len(name))
