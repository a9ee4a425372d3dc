"""SQLite's own and the common statements."""

from __future__ import annotations

from functools import cache
from importlib import resources

from gribmill.database.statements import names_in, statement_text

HOME = resources.files(__package__).joinpath("sql")


@cache
def statement(name: str) -> str:
    """The text of the statement `noun/verb`."""
    return statement_text(HOME, name)


@cache
def statement_names(folder: str) -> tuple[str, ...]:
    """The statements of a folder (`verify`, `migrations`), sorted by name."""
    return names_in(HOME, folder)
