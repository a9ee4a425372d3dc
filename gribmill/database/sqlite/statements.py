"""SQL is in files below `sql`: one statement each, in the folder of its noun, named by its verb."""

from __future__ import annotations

from functools import cache
from importlib import resources

HOME = resources.files(__package__).joinpath("sql")


@cache
def statement(name: str) -> str:
    """The text of `sql/<name>.sql`; a name is `noun/verb`."""
    return HOME.joinpath(f"{name}.sql").read_text(encoding="utf-8")


@cache
def statement_names(folder: str) -> tuple[str, ...]:
    """The statements of a folder (`verify`, `migrations`) in order of their names."""
    files = HOME.joinpath(folder).iterdir()
    return tuple(sorted(file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql")))
