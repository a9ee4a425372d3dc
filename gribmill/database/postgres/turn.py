"""A worker's exchange in one round trip: completions, claims and the commit are sent together."""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.database.postgres.handle import Handle
from gribmill.database.postgres.session import PostgresSession
from gribmill.database.postgres.statements import statement
from gribmill.database.postgres.verbs.claims import claiming, read_claim
from gribmill.database.postgres.verbs.completion import completing, which_ended
from gribmill.queue.model import AttemptRef, Claimed, ClaimRequest, Exchange, Report, Succeeded


def take_turn(
    tx: PostgresSession,
    handle: Handle,
    worker_id: str,
    reports: Sequence[tuple[Report, Succeeded]],
    claims: Sequence[ClaimRequest],
) -> tuple[Exchange, bool]:
    """Returns what was committed, and whether work remains: dependents to settle, or a claim among several tenants."""
    calls = [*completing(tx, worker_id, reports)] if reports else []
    for request in claims:
        calls += claiming(tx, request, settled=False)
    claimed = handle.commit_all([(statement(name), params) for name, params in calls])
    accepted: list[AttemptRef] = []
    fenced: list[AttemptRef] = []
    left = False
    if reports:
        completed, noted, *claimed = claimed
        left = bool(noted.rows)
        for (report, _), ended in zip(reports, which_ended(completed, reports), strict=True):
            (accepted if ended else fenced).append(report.ref)
    batches: list[tuple[Claimed, ...]] = []
    for prepared, taken in zip(claimed[::2], claimed[1::2], strict=True):
        facts, batch = read_claim(prepared, taken)
        batches.append(tuple(batch))
        left |= facts.unsettled or ((facts.due or facts.has_rivals) and not batch)
    return Exchange(tuple(accepted), tuple(fenced), tuple(batches)), left
