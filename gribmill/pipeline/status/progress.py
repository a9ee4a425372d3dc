"""The progress of the newest runs and current work, in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from gribmill.identity import run_time
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.queue.store.jobs.listing import JobFilter

DOING = {"scan_source": "scanning", "ingest_grib": "fetching", "build_tile": "building", "prune": "pruning"}
JOBS_LOOKED_AT = 200
HOURS_NAMED = 4


def progress_line(context: Context, models: Sequence[Model], regions: Mapping[str, Sequence[str]]) -> str:
    """`hrrr 00Z 12/19 hours, 24/38 tiles | fetching hrrr +13 +14`."""
    parts = [_of_model(context, model, regions[model.id]) for model in models if regions[model.id]]
    return " | ".join([*parts, _activity(context)])


def _of_model(context: Context, model: Model, regions: Sequence[str]) -> str:
    now = datetime.now(UTC)
    newest = next((one for one in context.catalogue.runs(model.id) if run_time(one.run_id) <= now), None)
    if newest is None:
        return f"{model.id} nothing yet"
    lacking = context.catalogue.lacking(newest.ref, regions)
    hours, tiles = len(newest.hours), len(newest.hours) * len(regions)
    missing = sum(len(several) for several in lacking.values())
    name = f"{model.id} {newest.run_id[9:]}Z"
    if newest.final and not missing:
        return f"{name} complete"
    return f"{name} {hours - len(lacking)}/{hours} hours, {tiles - missing}/{tiles} tiles"


def _activity(context: Context) -> str:
    jobs = context.jobs.list(JobFilter(status="processing"), limit=JOBS_LOOKED_AT).jobs
    found: dict[str, list[str]] = {}
    for job in jobs:
        args = job.args if isinstance(job.args, dict) else {}
        hours = found.setdefault(f"{DOING.get(job.type, job.type)} {args.get('model_id', '')}".strip(), [])
        hour = f"+{json.dumps(args['hour'])}" if "hour" in args else ""
        if hour and hour not in hours:
            hours.append(hour)
    if not found:
        return "waiting"
    return ", ".join(
        " ".join([what, *hours[:HOURS_NAMED], *(["…"] if len(hours) > HOURS_NAMED else [])])
        for what, hours in found.items()
    )
