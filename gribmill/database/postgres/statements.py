"""PostgreSQL's own and the common statements.

Their placeholders are SQLite's, `:name` and `?`; psycopg's are `%(name)s` and `%s`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from gribmill.database.statements import names_in, statement_text

_OPTIONAL = re.compile(r"%\(\w+\)s(::\w+| AS \w+\))? IS NULL")
# Placeholders inside literals, comments and casts (`::text`) are not translated.
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|::|:(?P<name>[a-z_]\w*)|(?P<mark>\?)|%|\s+INDEXED BY \w+")
HOME = resources.files(__package__).joinpath("sql")


@cache
def statement(name: str) -> str:
    """The text of the statement `noun/verb`."""
    return to_psycopg(statement_text(HOME, name))


@cache
def script(name: str) -> str:
    """The text of a migration, which has no placeholders."""
    return statement_text(HOME, name)


@cache
def statement_names(folder: str) -> tuple[str, ...]:
    """The statements of a folder (`verify`, `migrations`), sorted by name."""
    return names_in(HOME, folder)


@cache
def is_planned_each_time(text: str) -> bool:
    """Whether a generic plan would be bad, because an optional filter (`:x IS NULL OR …`) determines the right index.
    Such statements are not prepared."""
    return _OPTIONAL.search(text) is not None


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
