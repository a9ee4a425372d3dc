"""Statements are written with `:name` or `?`, as SQLite has it; psycopg wants `%(name)s` or `%s`."""

from __future__ import annotations

import re

# A literal, a comment and a cast (`::text`) are left alone: what looks like a placeholder there is none.
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|::|:(?P<name>[a-z_]\w*)|(?P<mark>\?)|%|\s+INDEXED BY \w+")


def to_psycopg(text: str) -> str:
    """The statement as psycopg takes it. `INDEXED BY` is advice to SQLite's planner alone."""
    return _TOKEN.sub(_replace, text).strip()


def _replace(found: re.Match[str]) -> str:
    if found["name"]:
        return f"%({found['name']})s"
    if found["mark"]:
        return "%s"
    token = found[0]
    if token.lstrip().startswith("INDEXED BY"):
        return ""
    # Comments are left out: PostgreSQL would read them each time.
    return "" if token.startswith("--") else token.replace("%", "%%")
