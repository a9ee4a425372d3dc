"""Checks files against the catalogue: lost tiles, unknown files, leftovers of killed processes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gribmill.catalogue.reads import lost_tiles
from gribmill.identity import HourRef, RunRef, TileRef
from gribmill.ingest.download.download import is_being_downloaded
from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.open_queue import output_logs
from gribmill.pipeline.retention import LEFTOVER_SECONDS
from gribmill.queue.worker.output import orphaned_logs
from gribmill.storage.layout import remove_spool
from gribmill.storage.object_path import StoredPath

FIX = "`gribmill doctor --fix`"
SHOWN = 3


def tiles(about: Examination) -> Iterator[Finding]:
    """Tiles in the catalogue whose files are missing or have another size."""
    context, lost, count = about.context, [], 0
    for run in context.catalogue.runs():
        count += len(context.catalogue.tiles(run.ref))
        for hour, regions in lost_tiles(context.root, context.catalogue, run.ref).items():
            lost += [run.ref.hour(hour).tile(region) for region in regions]
    if lost:
        are = "is" if len(lost) == 1 else "are"
        detail = f"{len(lost)} of {count} {are} lost or damaged: {_some([str(tile) for tile in lost])}"
        yield Finding(
            "tiles", False, detail, f"{FIX} brings {'it' if len(lost) == 1 else 'them'} back", lost=tuple(lost)
        )
    else:
        yield Finding("tiles", True, f"{count} as recorded (`gribmill tile verify MODEL` reads them in full)")


def tiles_without_record(about: Examination) -> Iterator[Finding]:
    """Tile files that are not in the catalogue. They may have been cut manually, so they are never removed."""
    context = about.context
    recorded: dict[RunRef, set[StoredPath]] = {}
    strange = []
    for folder in context.root.tile_folders():
        run = RunRef(folder.model, folder.run)
        if run not in recorded:
            rows = context.catalogue.tiles(run, lost=True)
            recorded[run] = {context.root.tile(TileRef(*_names(run), row.hour, row.region)) for row in rows}
        strange += [path for path in folder.tiles().values() if path not in recorded[run]]
    if strange:
        have = "1 tile has" if len(strange) == 1 else f"{len(strange)} tiles have"
        origin = "from `gribmill cut`, or older than the database"
        yield Finding(
            "tiles without record", None, f"{have} no record ({origin}): {_some([str(path) for path in strange])}"
        )
    else:
        yield Finding("tiles without record", True, "none")


def downloads(about: Examination) -> Iterator[Finding]:
    """Spool files that no job needs any longer."""
    context = about.context
    spent = []
    for run in context.root.runs():
        hours = context.catalogue.hours(run)
        for hour, paths in context.root.spooled_hours(run).items():
            record, ref = hours.get(hour), run.hour(hour)
            if record is None or (record.state == "built" and not record.keep_grib):
                users = (ingest_job(ref, live=True), *tile_jobs(ref, record.regions if record else (), live=True))
                if not context.jobs.any_active(users):
                    spent += paths
    yield _removed_or_found(about, "downloads", "downloaded file", "that no tile waits for", spent)


def logs(about: Examination) -> Iterator[Finding]:
    """Logs of removed attempts. Workers delete them every hour."""
    orphans = orphaned_logs(about.store, output_logs(about.context.settings))
    unused = [path for several in orphans for path in several]
    yield _removed_or_found(about, "logs", "log", "of jobs that are gone", unused)


def leftovers(about: Examination) -> Iterator[Finding]:
    """Half-written files whose writers were killed long ago."""
    root, before = about.root, time.time() - LEFTOVER_SECONDS
    old = [path for path in root.parts() if _is_older(path, before)]
    for run in root.runs():
        folder = root.spool(HourRef(*_names(run), 0)).parent
        for path in folder.glob(".*.part"):
            target = path.with_name(path.name[1:].removesuffix(".part"))
            if _is_older(path, before) and not is_being_downloaded(target):
                old += [path, *(one for one in (path.with_name(f".{target.name}.journal"),) if one.exists())]
    yield _removed_or_found(about, "leftovers", "half-written file", "of killed processes", old)


def _removed_or_found(about: Examination, check: str, noun: str, which: str, paths: Sequence[StoredPath]) -> Finding:
    if not paths:
        return Finding(check, True, f"no {noun}s {which}")
    what = f"{len(paths)} {noun}{'' if len(paths) == 1 else 's'} {which}"
    if not about.fix:
        detail = f"{what}: {_some([str(path) for path in paths])}"
        return Finding(check, None, detail, f"{FIX} removes {'it' if len(paths) == 1 else 'them'}")
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            remove_spool(path) if path.suffix == ".grib2" else path.unlink()
    return Finding(check, True, f"removed {what}")


def _is_older(path: Path, before: float) -> bool:
    try:
        return path.stat().st_mtime < before
    except FileNotFoundError:
        return False


def _names(run: RunRef) -> tuple[str, str]:
    return run.model_id, run.run_id


def _some(names: list[str]) -> str:
    return ", ".join([*names[:SHOWN], *("…" for _ in names[SHOWN : SHOWN + 1])])
