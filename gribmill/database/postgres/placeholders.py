"""Translates placeholders: statements use SQLite's `:name` and `?`, psycopg uses `%(name)s` and `%s`."""

from __future__ import annotations

import re

# Placeholders inside literals, comments and casts (`::text`) are not translated.
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|::|:(?P<name>[a-z_]\w*)|(?P<mark>\?)|%|\s+INDEXED BY \w+")


def to_psycopg(text: str) -> str:
    """The statement for psycopg, without `INDEXED BY`, which only SQLite understands."""
    return _TOKEN.sub(_replace, text).strip()


def _replace(found: re.Match[str]) -> str:
    if found["name"]:
        return f"%({found['name']})s"
    if found["mark"]:
        return "%s"
    token = found[0]
    if token.lstrip().startswith("INDEXED BY"):
        return ""
    # Comments are removed: PostgreSQL would parse them each time.
    return "" if token.startswith("--") else token.replace("%", "%%")
