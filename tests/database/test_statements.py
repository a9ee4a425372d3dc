"""Statements in files: every file is used."""

from __future__ import annotations

import re
from pathlib import Path

import gribmill

ROOT = Path(gribmill.__file__).parent
HOMES = [ROOT / "database" / place for place in ("sql", "sqlite/sql", "postgres/sql")]
# Read as whole folders.
FOLDERS = ("migrations/", "verify/")
# `Catalogue` names the statements of its own folder without the folder.
OWN_FOLDER = {ROOT / "catalogue/reads.py": "catalogue/"}
INCLUDED = re.compile(r"^ *-- include (\S+)$", re.MULTILINE)
QUOTED = re.compile(r"\"([a-z_]+(?:/[a-z_]+)*)\"")


def files() -> set[str]:
    return {str(file.relative_to(home))[: -len(".sql")] for home in HOMES for file in home.rglob("*.sql")}


def named() -> set[str]:
    found = {name for home in HOMES for file in home.rglob("*.sql") for name in INCLUDED.findall(file.read_text())}
    for file in ROOT.rglob("*.py"):
        names = QUOTED.findall(file.read_text())
        found |= {OWN_FOLDER.get(file, "") + name for name in names} | {*names}
    return found


def test_every_statement_is_used() -> None:
    unused = {name for name in files() - named() if not name.startswith(FOLDERS)}
    assert unused == set()


def test_no_common_statement_is_replaced_in_both_dialects() -> None:
    common, *dialects = HOMES
    names = [file.relative_to(common) for file in common.rglob("*.sql")]
    assert [name for name in names if all((home / name).exists() for home in dialects)] == []
