"""Locks held until the transaction ends, so that what it has read does not change."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.database.postgres.session import PostgresSession


def hold_edits(tx: PostgresSession) -> None:
    tx.rows("edits/hold")


def hold_groups(tx: PostgresSession, job_ids: Sequence[int]) -> None:
    """Lock the groups before their jobs, the same order as when a group is cancelled."""
    ids = {"ids": [*job_ids]}
    tx.together(("groups/hold_alone", ids), ("groups/hold", ids))
