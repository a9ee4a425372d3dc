"""What is held until the transaction ends, so that what was looked at stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.database.postgres.session import PostgresSession


def hold_edits(tx: PostgresSession) -> None:
    tx.rows("edits/hold")


def hold_groups(tx: PostgresSession, job_ids: Sequence[int]) -> None:
    """Before the jobs themselves are locked, in the order of those who cancel a group."""
    ids = {"ids": [*job_ids]}
    tx.together(("groups/hold_alone", ids), ("groups/hold", ids))
