"""Loads SQL from files: one statement each, in the folder of its noun, named by its verb (`jobs/get`).

Statements that suit every dialect are in `sql` beside this file, others in the dialect's own folder, which takes
precedence. Text shared by several statements is a part, included by a line such as `-- include claims/parts/open`.
Migrations, the numbered files in `migrations` that upgrade the schema, are loaded in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

COMMON = resources.files(__package__).joinpath("sql")
_INCLUDE = re.compile(r"^ *-- include (\S+)\n", re.MULTILINE)


def statement_text(own: Traversable, name: str) -> str:
    """The text of `<name>.sql` in a dialect's folder, else the common one, with its parts included."""
    for home in (own, COMMON):
        file = home.joinpath(f"{name}.sql")
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            return _INCLUDE.sub(lambda part: statement_text(own, part[1]), text)
    raise LookupError(f"there is no statement {name}")


def names_in(own: Traversable, folder: str) -> tuple[str, ...]:
    """The statements of a folder (`verify`, `migrations`), sorted by name."""
    homes = [home.joinpath(folder) for home in (own, COMMON)]
    files = {file.name for home in homes if home.is_dir() for file in home.iterdir()}
    return tuple(sorted(name.removesuffix(".sql") for name in files if name.endswith(".sql")))


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file. The queue's numbers begin at 1, the catalogue's at 1001."""

    version: int
    name: str


def in_order(names: Sequence[str]) -> list[Migration]:
    """The migrations among these statements, in order."""
    found = [Migration(int(name.split("_")[0]), f"migrations/{name}") for name in names]
    return sorted(found, key=lambda migration: migration.version)
