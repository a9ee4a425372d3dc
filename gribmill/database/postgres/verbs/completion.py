"""Attempts succeed: many in one statement, and the look for dependents in the next."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gribmill.database.postgres.session import Call, PostgresSession, read_rows
from gribmill.queue.model import AttemptStatus, Report, Succeeded


def complete(
    tx: PostgresSession, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]
) -> Sequence[AttemptStatus | None]:
    completed, _ = tx.together(*completing(tx, worker_id, reports))
    done = {row["id"] for row in read_rows(completed)}
    return [_status(outcome) if report.ref.job_id in done else None for report, outcome in reports]


def completing(tx: PostgresSession, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]) -> tuple[Call, Call]:
    """The statements that complete these attempts, and list those of them that others wait on."""
    ordered = sorted(reports, key=lambda one: one[0].ref)  # locks are taken in the same order by everybody
    refs = [report.ref for report, _ in ordered]
    ids = [ref.job_id for ref in refs]
    params = {
        "now": tx.stamp,
        "worker_id": worker_id,
        "ids": ids,
        "attempt_nos": [ref.attempt_no for ref in refs],
        "statuses": [_status(outcome) for _, outcome in ordered],
        "exit_codes": [report.exit_code for report, _ in ordered],
        "stdout_tails": [report.stdout_tail for report, _ in ordered],
        "stderr_tails": [report.stderr_tail for report, _ in ordered],
        "error_texts": [outcome.skipped for _, outcome in ordered],
        "log_paths": [report.log_path for report, _ in ordered],
        "artifacts": [json.dumps(outcome.artifacts) if outcome.artifacts else None for _, outcome in ordered],
    }
    return ("jobs/complete", params), ("dependencies/note_ended", {"ids": ids})


def _status(outcome: Succeeded) -> AttemptStatus:
    return "skipped" if outcome.skipped else "succeeded"
