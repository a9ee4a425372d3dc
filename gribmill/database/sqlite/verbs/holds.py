"""What other databases lock: with one writer at a time nothing changes meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.database.sqlite.session import SqliteSession


def hold_edits(tx: SqliteSession) -> None:
    pass


def hold_groups(tx: SqliteSession, job_ids: Sequence[int]) -> None:
    pass
