"""`jobs retry` and `jobs cancel` by filter: which jobs match, how many are changed, and the confirmation."""

from __future__ import annotations

from collections.abc import Sequence

import click
import pytest

from gribmill.cli.jobs import cancel_retry
from gribmill.queue.model import ClaimRequest, Failed, NewJob, NewTenant, Report
from gribmill.queue.store import Store
from tests.cli.conftest import Run


def failed_jobs(store: Store, count: int, **more: str) -> list[int]:
    made = [store.jobs.enqueue(NewJob("sleep", {"say": str(n)}, **more)).id for n in range(count)]  # type: ignore[arg-type]
    for _ in made:
        (job,) = store.claim(ClaimRequest("w", ("sleep",), 60.0))
        store.exchange("w", [Report(job.ref, Failed("broke", permanent=True))])
    return made


def retries(store: Store) -> list[int | None]:
    return [job.retry_of for job in store.jobs.list(limit=500).jobs[::-1] if job.retry_of]


def test_failed_jobs_are_retried_by_filter_once(gribmill: Run, store: Store) -> None:
    failed = failed_jobs(store, 3)
    waiting = store.jobs.enqueue(NewJob("sleep", {})).id
    answer = gribmill("jobs", "retry", "--status", "failed", "--since", "1h")
    assert (answer.code, answer.out) == (0, "retried 3 jobs\n")
    assert retries(store) == failed
    again = gribmill("jobs", "retry", "--status", "failed")
    assert (again.code, again.out) == (0, "retried 0 jobs\n"), "each was retried already"
    assert store.jobs.get(waiting).status == "pending"


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (("--type", "sleep"), [0, 1]),
        (("--type", "build_tile"), []),
        (("--tenant", "ann"), [1]),
        (("--status", "dead_letter"), []),
        (("--status", "completed"), []),
        (("--group", "nothing"), []),
    ],
)
def test_filters_choose_jobs(gribmill: Run, store: Store, words: Sequence[str], chosen: list[int]) -> None:
    store.tenants.add(NewTenant("ann"))
    failed = [*failed_jobs(store, 1), *failed_jobs(store, 1, tenant_id="ann")]
    answer = gribmill("jobs", "retry", *words, "--dry-run", "--json")
    assert [one["id"] for one in answer.json] == [failed[place] for place in chosen]
    assert retries(store) == [], "a dry run changes nothing"
    assert gribmill("jobs", "retry", *words).code == 0
    assert retries(store) == [failed[place] for place in chosen]


def test_a_dry_run_names_a_dead_letter_as_listings_do(gribmill: Run, store: Store) -> None:
    dead = store.jobs.enqueue(NewJob("sleep", {}, max_attempts=1)).id
    (claim,) = store.claim(ClaimRequest("w", ("sleep",), 60.0))
    store.exchange("w", [Report(claim.ref, Failed("broke"))])
    shown = gribmill("jobs", "retry", "--status", "dead_letter", "--dry-run").out
    assert shown == f"would retry 1 job:\n  {dead}  sleep  dead_letter\n"


def test_pending_jobs_are_cancelled_by_filter(gribmill: Run, store: Store) -> None:
    ids = [store.jobs.enqueue(NewJob("sleep", {"say": str(n)})).id for n in range(3)]
    (running,) = store.claim(ClaimRequest("w", ("sleep",), 60.0))
    assert "would cancel 2 jobs" in gribmill("jobs", "cancel", "--type", "sleep", "--dry-run").out
    answer = gribmill("jobs", "cancel", "--type", "sleep", "--reason", "not needed")
    assert (answer.code, answer.out) == (0, "cancelled 2 jobs\n")
    assert [store.jobs.get(job_id).status for job_id in ids] == ["processing", "cancelled", "cancelled"]
    answer = gribmill("jobs", "cancel", "--status", "processing")
    assert answer.out == "cancelled 0 jobs; workers have been asked to stop 1\n"
    assert store.jobs.get(running.id).cancel_requested_at is not None


def test_a_job_that_was_retried_is_not_retried_again(gribmill: Run, store: Store) -> None:
    (failed,) = failed_jobs(store, 1)
    assert gribmill("jobs", "retry", str(failed)).out == f"job {failed} runs again as job {failed + 1}\n"
    answer = gribmill("jobs", "retry", str(failed))
    assert (answer.code, answer.out) == (0, f"job {failed} was retried already, as job {failed + 1} (pending)\n")
    assert retries(store) == [failed]


@pytest.mark.parametrize("words", [(), ("1", "--type", "sleep"), ("--dry-run",), ("--yes",)])
def test_ids_or_filters_are_needed_and_exclude_each_other(gribmill: Run, words: Sequence[str]) -> None:
    for verb in ("retry", "cancel"):
        answer = gribmill("jobs", verb, *words)
        assert answer.code == 2 and "name jobs by ids, or choose them" in answer.err


@pytest.mark.parametrize(
    ("words", "reply", "count"), [((), False, 0), ((), True, 21), (("--yes",), None, 21)], ids=["no", "yes", "--yes"]
)
def test_terminal_users_confirm_before_many_jobs_are_changed(
    gribmill: Run,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    words: Sequence[str],
    reply: bool | None,
    count: int,
) -> None:
    failed_jobs(store, cancel_retry.CONFIRM_ABOVE + 1)
    asked: list[str] = []

    def confirm(text: str, **_: object) -> None:
        asked.append(text)
        if not reply:
            raise click.Abort

    monkeypatch.setattr(cancel_retry, "_is_terminal", lambda: True)
    monkeypatch.setattr(click, "confirm", confirm)
    answer = gribmill("jobs", "retry", "--status", "failed", *words)
    assert answer.code == (0 if count else 1)
    assert asked == ([] if reply is None else ["retry 21 jobs?"])
    assert len(retries(store)) == count


@pytest.mark.parametrize("verb", ["retry", "cancel"])
def test_a_job_that_is_refused_counts_in_the_exit_code_and_the_others_are_changed(
    gribmill: Run, store: Store, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """A job may end, or be removed, between the choice and the change."""
    if verb == "retry":
        first, second = failed_jobs(store, 2)
    else:
        first, second = (store.jobs.enqueue(NewJob("sleep", {"say": str(n)})).id for n in range(2))
    found = cancel_retry._chosen_ids
    monkeypatch.setattr(
        cancel_retry, "_chosen_ids", lambda *words, **more: [first, 999, *(found(*words, **more) or [])[1:]]
    )
    answer = gribmill("jobs", verb, "--type", "sleep")
    assert (answer.code, "999" in answer.err) == (1, True)
    assert answer.out == ("retried 2 jobs\n" if verb == "retry" else "cancelled 2 jobs\n")
    assert second
