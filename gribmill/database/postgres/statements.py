"""PostgreSQL's own and the common statements, with psycopg's placeholders."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from gribmill.database.postgres.placeholders import to_psycopg
from gribmill.database.statements import names_in, statement_text

_OPTIONAL = re.compile(r"%\(\w+\)s(::\w+| AS \w+\))? IS NULL")
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
