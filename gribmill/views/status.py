"""How fresh each model is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.pipeline.status import MirrorStatus, MissingHour, ModelStatus, RunStatus


class MissingHourView(View):
    """An hour without all its tiles: why, whether it is overdue, and the regions whose tiles are missing."""

    hour: int
    reason: Literal[
        "not due yet",
        "due",
        "late",
        "given up",
        "published, not downloaded",
        "download failed",
        "downloaded, tiles missing",
        "tile lost or damaged",
    ]
    late: bool
    regions: tuple[str, ...]

    @classmethod
    def of(cls, missing: MissingHour) -> Self:
        return cls.copy_of(missing)


class RunStatusView(View):
    """How far one run is. It is incomplete when it was complete until a region was added."""

    run_id: str
    state: Literal["arriving", "complete", "given_up", "incomplete"]
    regions: tuple[str, ...]
    hours: tuple[int, ...]
    hours_expected: int
    hours_published: int
    hours_ingested: int
    hours_built: int
    tiles: int
    tiles_expected: int
    missing: tuple[MissingHourView, ...]
    variables_missing: tuple[str, ...]
    bytes: int
    last_built_at: Time | None

    @classmethod
    def of(cls, run: RunStatus) -> Self:
        return cls.copy_of(run, missing=tuple(MissingHourView.of(one) for one in run.missing))


class MirrorStatusView(View):
    """The health of one mirror, as the last requests found it."""

    name: str
    state: str
    failures: int
    last_reason: str
    sick_until: Time | None
    last_success: Time | None

    @classmethod
    def of(cls, mirror: MirrorStatus) -> Self:
        return cls.copy_of(mirror)


class ModelStatusView(View):
    """One model: its newest runs, the newest complete run of each region, its mirrors, and a verdict in a phrase."""

    model_id: str
    title: str
    newest_due: str | None
    next_due_at: Time | None
    runs: tuple[RunStatusView, ...]
    complete: dict[str, str | None]
    mirrors: tuple[MirrorStatusView, ...]
    verdict: str

    @classmethod
    def of(cls, status: ModelStatus) -> Self:
        return cls.copy_of(
            status,
            runs=tuple(RunStatusView.of(run) for run in status.runs),
            mirrors=tuple(MirrorStatusView.of(mirror) for mirror in status.mirrors),
        )
