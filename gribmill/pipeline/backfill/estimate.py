"""Estimates what a backfill would find on the mirrors, and how much it would download."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from gribmill.ingest.available_hours import MirrorQuestions
from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.entry import INDEX_LIMIT_BYTES
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import select, wanted
from gribmill.ingest.models.model import Model
from gribmill.pipeline.backfill.backfill import BackfillFile, BackfillPlan
from gribmill.pipeline.context import Context

# Each run takes at least one request; beyond this number, files are only counted from the model's schedule.
MOST_RUNS_ASKED = 24


@dataclass(frozen=True, slots=True)
class BackfillEstimate:
    """How many files are listed, missing, or unknown, and the bytes to download, if known."""

    published: int
    absent: int
    unknown: int
    bytes: int | None


def estimate_backfill(context: Context, plan: BackfillPlan) -> BackfillEstimate:
    """Ask the mirrors for listings of up to 24 runs, and for the index of one file."""
    listed, absent, unknown = _look_up(context, plan)
    candidates = listed or unknown
    if not candidates:
        return BackfillEstimate(0, len(absent), 0, 0)
    sample = candidates[len(candidates) // 2]
    one = _bytes_of_file(context, plan.request.model, sample.run, sample.hour, sample.variables)
    size = None if one is None else one * (len(listed) + len(unknown))
    return BackfillEstimate(len(listed), len(absent), len(unknown), size)


def _bytes_of_file(
    context: Context, model: Model, run: datetime, hour: int, variables: tuple[str, ...] = ()
) -> int | None:
    """The size of the needed messages according to the first index found; None if there is none."""
    for source in model.urls(run, hour):
        if source.index_url is None:
            continue
        try:
            size = context.session.head(source.grib_url, source.mirror.host).size
            body = context.session.get(source.index_url, source.mirror.host, limit_bytes=INDEX_LIMIT_BYTES)
            inventory = parse_index(source.index_kind, body.data, source.index_url, run, size)
            chosen = select(
                inventory,
                wanted(variables or model.variables),
                hour,
                extras=model.extras,
                offset_minutes=model.offset_minutes,
            )
        except IngestError:
            continue
        return sum((end if end is not None else size or start) - start for start, end in chosen.ranges)
    return None


def _look_up(context: Context, plan: BackfillPlan) -> tuple[list[BackfillFile], list[BackfillFile], list[BackfillFile]]:
    """Files that are listed, files that are not, and files of runs for which no mirror was asked or none responded."""
    mirrors = context.catalogue.mirrors()
    questions = MirrorQuestions(plan.request.model, context.session, mirrors, datetime.now(UTC))
    listed: list[BackfillFile] = []
    absent: list[BackfillFile] = []
    unknown: list[BackfillFile] = []
    by_run: dict[datetime, list[BackfillFile]] = {}
    for file in plan.files:
        by_run.setdefault(file.run, []).append(file)
    for number, (run, files) in enumerate(by_run.items()):
        if number >= MOST_RUNS_ASKED:
            unknown += files
            continue
        found, answered = questions.published(run)
        for file in files:
            (listed if file.hour in found else absent if answered else unknown).append(file)
    return listed, absent, unknown
