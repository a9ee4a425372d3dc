"""Completes attempts, many in one statement, and finds their dependents in the next."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gribmill.database.postgres.adaptation import array, sparse_array
from gribmill.database.postgres.handle import raw_rows
from gribmill.database.postgres.session import NamedCall, PostgresSession
from gribmill.database.records import RawRows
from gribmill.queue.model import AttemptRef, AttemptStatus, Report, Succeeded


def complete(
    tx: PostgresSession, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]
) -> Sequence[AttemptStatus | None]:
    call = completing(tx, worker_id, reports)
    completed, _ = tx.together(call, noting(completed_ids(call)))
    done = which_ended(raw_rows(completed), reports)
    return [_status(outcome) if ended else None for ended, (_, outcome) in zip(done, reports, strict=True)]


def completing(tx: PostgresSession, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]) -> NamedCall:
    """The statement that completes these attempts."""
    ordered = sorted(reports, key=lambda one: one[0].ref)  # sorted, so that all transactions lock in the same order
    refs = [report.ref for report, _ in ordered]
    artifacts = [json.dumps(outcome.artifacts) if outcome.artifacts else None for _, outcome in ordered]
    transfers = [outcome.transfer for _, outcome in ordered]
    params = {
        "now": tx.stamp,
        "worker_id": worker_id,
        "ids": array([ref.job_id for ref in refs]),
        "attempt_nos": array([ref.attempt_no for ref in refs]),
        "statuses": array([_status(outcome) for _, outcome in ordered]),
        "exit_codes": sparse_array([report.exit_code for report, _ in ordered]),
        "stdout_tails": sparse_array([report.stdout_tail for report, _ in ordered]),
        "stderr_tails": sparse_array([report.stderr_tail for report, _ in ordered]),
        "error_texts": sparse_array([outcome.skipped for _, outcome in ordered]),
        "log_paths": sparse_array([report.log_path for report, _ in ordered]),
        "artifacts": sparse_array(artifacts),
        "downloaded": sparse_array([None if one is None else one.downloaded for one in transfers]),
        "written": sparse_array([None if one is None else one.written for one in transfers]),
    }
    return "jobs/complete", params


def completed_ids(completion: NamedCall) -> str:
    """The jobs of this statement, an array."""
    ids: str = completion[1]["ids"]
    return ids


def noting(ids: str) -> NamedCall:
    """The next statement, which lists those with dependents. If a claim follows, `claims/prepare` does that instead."""
    return "dependencies/note_ended", {"ids": ids}


def which_ended(completed: RawRows, reports: Sequence[tuple[Report, Succeeded]]) -> list[bool]:
    """Whether each report ended its attempt. If two reports are about the same attempt, only the first does."""
    done = {AttemptRef(*row) for row in completed.rows}
    ended = []
    for report, _ in reports:
        ended.append(report.ref in done)
        done.discard(report.ref)
    return ended


def _status(outcome: Succeeded) -> AttemptStatus:
    return "skipped" if outcome.skipped else "succeeded"
