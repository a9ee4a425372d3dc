"""Backfills: planned, enqueued, done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.pipeline.backfill.backfill import BackfillPlan
    from gribmill.pipeline.backfill.estimate import BackfillEstimate


class BackfillView(View):
    """Past runs of one model to fetch: files to download, tiles to build, and files that are already here."""

    model: str
    runs: int
    files: int
    tiles: int
    regions: tuple[str, ...]
    already_here: int
    here_with_other_variables: int

    @classmethod
    def of(cls, plan: BackfillPlan, **more: Any) -> Self:
        return cls(
            model=plan.request.model.id,
            runs=plan.runs,
            files=len(plan.files),
            tiles=plan.tiles,
            regions=tuple(plan.regions),
            already_here=plan.done,
            here_with_other_variables=plan.lacking,
            **more,
        )


class BackfillEstimateView(BackfillView):
    """A plan that was not enqueued, with the bytes to download; null if they could not be estimated.

    The mirrors have `published` of the files and lack `absent`; `unknown` files are known only from the schedule.
    """

    bytes: int | None
    published: int
    absent: int
    unknown: int

    @classmethod
    def with_estimate(cls, plan: BackfillPlan, estimate: BackfillEstimate) -> Self:
        return cls.of(
            plan,
            bytes=estimate.bytes,
            published=estimate.published,
            absent=estimate.absent,
            unknown=estimate.unknown,
        )


class BackfillEnqueuedView(BackfillView):
    """A plan that was enqueued. Its jobs share the correlation id, which is null if there is nothing to fetch."""

    correlation_id: str | None


class BackfillDoneView(BackfillEnqueuedView):
    """A plan whose jobs the command waited for. `failed_jobs` counts the failed jobs of all its models."""

    failed_jobs: int
