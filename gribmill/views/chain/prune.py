"""Runs that were removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.pipeline.retention.retention import RunDecision


class PrunedRunView(View):
    """One run with the reason for its removal, or for keeping it."""

    model: str
    run: str
    bytes: int
    reason: str

    @classmethod
    def of(cls, decision: RunDecision) -> Self:
        run = decision.run
        return cls(model=run.ref.model_id, run=run.ref.run_id, bytes=run.bytes, reason=decision.reason)


class PruneView(View):
    """Runs that were removed, and those that were kept; `removed` is false for a dry run."""

    removed: bool
    runs: tuple[PrunedRunView, ...]
    kept: tuple[PrunedRunView, ...]

    @classmethod
    def of(cls, decisions: Iterable[RunDecision], *, removed: bool) -> Self:
        known = [*decisions]
        return cls(
            removed=removed,
            runs=tuple(PrunedRunView.of(one) for one in known if one.removed),
            kept=tuple(PrunedRunView.of(one) for one in known if not one.removed),
        )
