"""Files requested by two backfills: downloaded and decoded once, and cut for the regions of both."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gribmill.queue.job_type import canonical_json
from gribmill.queue.model import Enqueued, NewJob
from gribmill.queue.store import Store


def widen_active(
    store: Store, jobs: Iterable[NewJob], made: Iterable[Enqueued], live_regions: Collection[str]
) -> list[NewJob]:
    """Extend the active jobs that deduplicated these, so that they also fetch what these request.

    Returns jobs for requests that an active job cannot take over, for example because it is running; each waits for
    that job.
    """
    left = []
    for job, one in zip(jobs, made, strict=True):
        widen = partial(widened, wanted=job.args, live_regions=live_regions)
        if not one.created and not store.jobs.change_args(one.id, widen):
            left.append(_afterwards(job, one.id))
    return left


def widened(
    active: Mapping[str, Any], wanted: Mapping[str, Any], live_regions: Collection[str]
) -> dict[str, Any] | None:
    """The arguments of a download that serves both; None if no single one does.

    No regions means those of the settings and of all tenants; no variables means those of the model.
    """
    regions = active.get("regions")
    if regions is None:
        if not {*wanted["regions"]} <= {*live_regions} or wanted.get("variables") or wanted.get("keep_grib"):
            return None
        return dict(active)
    both = {**active, "regions": list(dict.fromkeys((*regions, *wanted["regions"])))}
    if active.get("variables") and wanted.get("variables"):
        both["variables"] = list(dict.fromkeys((*active["variables"], *wanted["variables"])))
    elif wanted.get("variables"):
        return None
    else:
        both.pop("variables", None)
    if wanted.get("keep_grib"):
        both["keep_grib"] = True
    return both


def _afterwards(job: NewJob, active_id: int) -> NewJob:
    digest = hashlib.blake2b(canonical_json(dict(job.args)).encode(), digest_size=8).hexdigest()
    return replace(job, after=(active_id,), on_parent_failure="ignore", dedupe_key=f"{job.type} afterwards {digest}")
