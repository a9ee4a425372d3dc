"""Runs that were removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.pipeline.old_runs import OldRun


class PrunedRunView(View):
    """One run with the reason for its removal."""

    model: str
    run: str
    bytes: int
    reason: str


class PruneView(View):
    """Runs that were removed; `removed` is false for a dry run."""

    removed: bool
    runs: tuple[PrunedRunView, ...]

    @classmethod
    def of(cls, old: Iterable[OldRun], *, removed: bool) -> Self:
        return cls(
            removed=removed,
            runs=tuple(
                PrunedRunView(model=run.ref.model_id, run=run.ref.run_id, bytes=run.bytes, reason=reason)
                for run, reason in ((one.run, one.reason) for one in old)
            ),
        )
