"""The status of a job as shown to users, who see dead letters apart from other failures."""

from __future__ import annotations

from typing import Literal

from gribmill.queue.model.job import Job, Status

DEAD_LETTER: Literal["dead_letter"] = "dead_letter"


def shown_status(job: Job) -> Status | Literal["dead_letter"]:
    return DEAD_LETTER if job.dead_lettered_at is not None else job.status
