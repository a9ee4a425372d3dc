"""Code tables: the meaning of each value of a code field, such as the precipitation type."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CodeTable:
    """The values of a code field in ascending order, and their meanings."""

    values: tuple[int, ...]
    meanings: tuple[str, ...]


def code_table(name: str) -> CodeTable:
    """The table of that name in code_tables.toml."""
    return _tables()[name]


@cache
def _tables() -> dict[str, CodeTable]:
    document = tomllib.loads(Path(__file__).with_name("code_tables.toml").read_text(encoding="utf-8"))
    found = {}
    for name, rows in document.items():
        numbered = sorted((int(value), meaning) for value, meaning in rows.items())
        found[name] = CodeTable(tuple(value for value, _ in numbered), tuple(meaning for _, meaning in numbered))
    return found
