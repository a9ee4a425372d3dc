"""SQL lives in files: one statement each, named by its verb, in the `sql` folder of a package."""

from __future__ import annotations

from functools import cache
from importlib import resources

HOME = "gribmill.queue.backend.sqlite"


@cache
def statement(dialect: str, name: str, package: str = HOME) -> str:
    """The text of `sql/<name>.sql` of a package."""
    return resources.files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


@cache
def statement_names(dialect: str, folder: str, package: str = HOME) -> tuple[str, ...]:
    """The statements of a sub-folder (`verify`, `migrations`) in order of their names."""
    files = resources.files(package).joinpath("sql", folder).iterdir()
    return tuple(sorted(file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql")))
