"""Locks of other dialects, which SQLite does not need because it has a single writer."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.database.sqlite.session import SqliteSession


def hold_edits(tx: SqliteSession) -> None:
    pass


def hold_groups(tx: SqliteSession, job_ids: Sequence[int]) -> None:
    pass
