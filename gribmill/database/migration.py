"""Migrations: numbered files that upgrade the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file. The queue's numbers begin at 1, the catalogue's at 1001."""

    version: int
    name: str


def in_order(names: Sequence[str]) -> list[Migration]:
    """The migrations in the folder `migrations`, in order."""
    found = [Migration(int(name.split("_")[0]), f"migrations/{name}") for name in names]
    return sorted(found, key=lambda migration: migration.version)
