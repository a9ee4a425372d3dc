"""A job as the command line shows it: records for scripts, coloured words for people."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gribmill.queue.times import to_rfc3339

if TYPE_CHECKING:
    from rich.text import Text

    from gribmill.queue.model import Attempt, Job
    from gribmill.queue.store.queries import Relative

DEAD_LETTER = "dead_letter"
STYLES = {
    "pending": "yellow",
    "processing": "cyan",
    "completed": "green",
    "failed": "red",
    DEAD_LETTER: "bold red",
    "cancelled": "magenta",
    # attempts
    "running": "cyan",
    "succeeded": "green",
    "skipped": "green",
    "timeout": "red",
    "lost": "red",
    "snoozed": "yellow",
    # workers
    "active": "green",
    "draining": "yellow",
    "stale": "bold red",
    "stopped": "dim",
    "paused": "bold yellow",
}


def shown_status(job: Job) -> str:
    """The status, with dead letters told apart from other failures."""
    return DEAD_LETTER if job.dead_lettered_at is not None else job.status


def status_text(status: str) -> Text:
    """A status in its colour."""
    from rich.text import Text

    return Text(status, style=STYLES.get(status, ""))


def job_record(job: Job) -> dict[str, Any]:
    """Every column, arguments as JSON, times in RFC 3339."""
    return {**_plain(asdict(job)), "args": parsed(job.args), "shown_status": shown_status(job)}


def attempt_record(attempt: Attempt) -> dict[str, Any]:
    """Every column, with how long it took."""
    record = _plain(asdict(attempt))
    record["artifacts"] = parsed(attempt.artifacts) if attempt.artifacts else None
    record["seconds"] = seconds_between(attempt.started_at, attempt.finished_at)
    return record


def relative_record(relative: Relative, detail: str) -> dict[str, Any]:
    """A related job; `detail` names what its third field holds."""
    return {"id": relative.id, "status": relative.status, detail: relative.detail}


def parsed(text: str) -> Any:
    """JSON as a value; rows written by hand may hold anything, which stays text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """How long it took; None while one end is unknown."""
    return None if start is None or end is None else round((end - start).total_seconds(), 3)


def age_seconds(moment: datetime | None, now: float | None = None) -> float | None:
    """How long ago; negative for the future."""
    return None if moment is None else (time.time() if now is None else now) - moment.timestamp()


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    return {key: to_rfc3339(value) if isinstance(value, datetime) else value for key, value in record.items()}
