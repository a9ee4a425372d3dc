"""SQL lives in files: one statement each, named by its verb, one folder per dialect."""

from __future__ import annotations

from functools import cache
from importlib import resources

HOME = "gribmill.queue"


@cache
def statement(dialect: str, name: str, package: str = HOME) -> str:
    """The text of `sql/<dialect>/<name>.sql` of a package."""
    return resources.files(package).joinpath("sql", dialect, f"{name}.sql").read_text(encoding="utf-8")


@cache
def statement_names(dialect: str, folder: str, package: str = HOME) -> tuple[str, ...]:
    """The statements of a sub-folder (`verify`, `migrations`) in order of their names."""
    files = resources.files(package).joinpath("sql", dialect, folder).iterdir()
    return tuple(sorted(file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql")))
