"""Completes attempts, many in one statement, and finds their dependents in the next."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gribmill.database.postgres.handle import Cursor
from gribmill.database.postgres.session import Call, PostgresSession
from gribmill.queue.model import AttemptRef, AttemptStatus, Report, Succeeded


def complete(
    tx: PostgresSession, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]
) -> Sequence[AttemptStatus | None]:
    completed, _ = tx.together(*completing(tx, worker_id, reports))
    done = which_ended(completed, reports)
    return [_status(outcome) if ended else None for ended, (_, outcome) in zip(done, reports, strict=True)]


def completing(tx: PostgresSession, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]) -> tuple[Call, Call]:
    """The statements that complete these attempts and list those with dependents."""
    ordered = sorted(reports, key=lambda one: one[0].ref)  # sorted, so that all transactions lock in the same order
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
        "downloaded": [outcome.transfer and outcome.transfer.downloaded for _, outcome in ordered],
        "written": [outcome.transfer and outcome.transfer.written for _, outcome in ordered],
    }
    return ("jobs/complete", params), ("dependencies/note_ended", {"ids": ids})


def which_ended(completed: Cursor, reports: Sequence[tuple[Report, Succeeded]]) -> list[bool]:
    """For each report, whether it ended its attempt; of two for one attempt, only the first does."""
    done = {AttemptRef(*row) for row in completed.fetchall()}
    ended = []
    for report, _ in reports:
        ended.append(report.ref in done)
        done.discard(report.ref)
    return ended


def _status(outcome: Succeeded) -> AttemptStatus:
    return "skipped" if outcome.skipped else "succeeded"
