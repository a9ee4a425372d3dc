"""Writes an HTML directory listing in the form of NOMADS: name, time, rounded size."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from urllib.parse import quote


def folder_page(path: str, folders: Iterable[str], files: Iterable[tuple[str, datetime, int]]) -> bytes:
    """The page of the folder at `path`, which must end with a slash."""
    title = escape(f"Index of {path}")
    lines = [f"<html><head><title>{title}</title></head><body><h1>{title}</h1><pre>", '<a href="../">../</a>']
    lines += [f'<a href="{quote(name)}/">{escape(name)}/</a>{_padding(name)}-' for name in folders]
    lines += [
        f'<a href="{quote(name)}">{escape(name)}</a>{_padding(name)}{modified:%d-%b-%Y %H:%M}  {_rounded(size):>7}'
        for name, modified, size in files
    ]
    return "\n".join([*lines, "</pre></body></html>\n"]).encode()


def _padding(name: str) -> str:
    return " " * max(2, 60 - len(name))


def _rounded(size: int) -> str:
    """A size in Apache's form: 812, 8.9K, 142M."""
    value, units = float(size), ["", "K", "M", "G", "T"]
    while value >= 1024:
        value /= 1024
        units.pop(0)
    return f"{value:.1f}{units[0]}" if units[0] and value < 10 else f"{value:.0f}{units[0]}"
