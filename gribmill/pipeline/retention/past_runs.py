"""Runs that no scan follows: a backfill requested them, or some of their hours."""

from __future__ import annotations

from gribmill.catalogue.records import RunRecord
from gribmill.ingest.models.model import Model


def is_partial(model: Model, record: RunRecord) -> bool:
    """Whether only some hours of the run were requested: `record.hours` are those, and the run is never final."""
    return not record.final and not model.discovers(record.ref.time)


def is_past(model: Model, record: RunRecord) -> bool:
    """Whether the run was requested after scans had stopped looking for it."""
    return is_partial(model, record) or (
        record.first_seen_at is not None and record.first_seen_at >= model.gives_up_at(record.ref.time)
    )
