"""Short descriptions of jobs (`hrrr 20261117_00 +7 ne`), and of their errors without URLs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gribmill.identity import IdentityError, run_time
from gribmill.ingest.errors import without_addresses
from gribmill.queue.redact import redact_json
from gribmill.queue.worker.attempt_log import JobEnd

# A log line on a terminal of the usual width, and the part that the time takes.
LINE_LENGTH = 79
CLOCK = "12:00:00 "
_PLACE = re.compile(r"^[a-z][\w.]* \d{8}_\d{2}(?:\d{2})? hour \d+: ")


def job_text(args: Any) -> str:
    """A job's model, run, hour and region. Arguments of other jobs as JSON, text unchanged; secrets are hidden."""
    args = redact_json(args)
    if isinstance(args, str):
        return args
    if not isinstance(args, dict):
        return json.dumps(args, ensure_ascii=False)
    left = dict(args)
    words = [str(left.pop(name)) for name in ("model_id", "run_id") if isinstance(left.get(name), str)]
    if isinstance(left.get("hour"), int):
        words.append(f"+{left.pop('hour')}")
    if isinstance(left.get("region"), str):
        words.append(left.pop("region"))
    if isinstance(left.get("regions"), list | tuple):
        words.append(",".join(map(str, left.pop("regions"))))
    if left or not words:
        words.append(json.dumps(left, separators=(",", ":"), ensure_ascii=False))
    return " ".join(words)


def short_error(text: str) -> str:
    """The first line of a job's error, without URLs and without repeating the job's description."""
    return _PLACE.sub("", without_addresses(text.strip().partition("\n")[0]))


def end_text(end: JobEnd) -> str:
    """The end of a job in a short line: `hrrr 00Z +07 ne  built 1.2 MB in 0.4 s`."""
    what = f"{_short_place(end):<18} "
    took = f" in {end.seconds:.1f} s"
    match end.kind:
        case "failed":
            line = f"{what} failed: {short_error(end.text)}"
        case "snoozed":
            line = f"{what} again in {end.again_seconds or 0:.0f} s: {short_error(end.text)}"
        case "skipped":
            line = f"{what} nothing to do: {short_error(end.text)}"
        case "succeeded":
            return f"{what} {_done(end)}{took}"
        case _:
            line = f"{what} stopped: {short_error(end.text)}"
    room = LINE_LENGTH - len(CLOCK) - (len(f" (job {end.job_id})") if end.kind == "failed" else 0)
    short = line if len(line) <= room else f"{line[: room - 1]}…"
    return f"{short} (job {end.job_id})" if end.kind == "failed" else short


def _done(end: JobEnd) -> str:
    verb = {"build_tile": "built", "ingest_grib": "fetched", "publish": "published", "scan_source": "scanned"}
    word = verb.get(end.type, f"{end.type} done")
    if end.type == "scan_source":
        return f"{word}, {end.new_jobs} new"
    size = _size_of(end.artifacts)
    return word if size is None else f"{word} {size / 1e6:.1f} MB"


def _size_of(artifacts: tuple[str, ...]) -> int | None:
    try:
        return sum(Path(path).stat().st_size for path in artifacts) if artifacts else None
    except OSError:
        return None  # removed in the meantime


def _short_place(end: JobEnd) -> str:
    """`hrrr 00Z +07 ne`; with the date for a run that is older than a day."""
    try:
        args = json.loads(end.args)
        run = run_time(args["run_id"]) if args.get("run_id") else None
        words = [args["model_id"]]
        if run is not None:
            recent = abs(datetime.now(UTC) - run) < timedelta(days=1)
            words.append(f"{run:%H}Z" if recent and not run.minute else args["run_id"])
        if "hour" in args:
            words.append(f"+{args['hour']:02d}")
        return " ".join([*words, *([args["region"]] if "region" in args else [])])
    except (ValueError, TypeError, KeyError, AttributeError, IdentityError):
        return f"{end.type} {end.job_id}"
