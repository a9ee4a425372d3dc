"""Runs that were removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.pipeline.retention import RunDecision
    from gribmill.pipeline.tenant_retention import RegionDecision


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


class PrunedRegionView(View):
    """The tiles of one region of a run, which the tenant no longer keeps."""

    model: str
    run: str
    region: str
    tenant: str
    bytes: int
    reason: str

    @classmethod
    def of(cls, decision: RegionDecision) -> Self:
        tiles = decision.tiles
        return cls(
            model=tiles.run.model_id,
            run=tiles.run.run_id,
            region=tiles.region,
            tenant=decision.tenant,
            bytes=tiles.bytes,
            reason=decision.reason,
        )


class PruneView(View):
    """Runs that were removed, and those that were kept; `removed` is false for a dry run."""

    removed: bool
    runs: tuple[PrunedRunView, ...]
    kept: tuple[PrunedRunView, ...]
    regions: tuple[PrunedRegionView, ...]
    """Tenants' regions that were removed from runs that are kept."""

    @classmethod
    def of(cls, decisions: Iterable[RunDecision], regions: Iterable[RegionDecision], *, removed: bool) -> Self:
        known = [*decisions]
        return cls(
            removed=removed,
            runs=tuple(PrunedRunView.of(one) for one in known if one.removed),
            kept=tuple(PrunedRunView.of(one) for one in known if not one.removed),
            regions=tuple(PrunedRegionView.of(one) for one in regions if one.removed),
        )
