"""SQL is in files: one statement each, in the folder of its noun, named by its verb (`jobs/get`).

A statement whose text suits every dialect is below `sql` beside this file. A dialect has the others in its own folder;
where both have one, the dialect's counts. What several statements share is a part, and a line such as
`-- include claims/parts/open` stands for its text.
"""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable

COMMON = resources.files(__package__).joinpath("sql")
_INCLUDE = re.compile(r"^ *-- include (\S+)\n", re.MULTILINE)


def statement_text(own: Traversable, name: str) -> str:
    """The text of `<name>.sql` in a dialect's folder, or the common one, with its parts."""
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
