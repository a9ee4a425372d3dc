"""The `--json` output of the queue's commands, compared with goldens."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.queue.model import ClaimRequest, Failed, NewJob, NewTenant, Report, Snoozed, Succeeded
from gribmill.queue.store import Store
from tests.cli.conftest import Answer, Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import add, by_hand, end, take

TILE = {"model_id": "hrrr", "run_id": "20230125_12", "hour": 5, "region": "ne"}


@pytest.fixture
def busy(store: Store, data: Path) -> Store:
    """A job in every state, with parents, children, a retry, siblings, output and a dead letter."""
    done = add(store, args={"say": "Grüße", "seconds": 0.5}, dedupe_key="nightly", created_by="me")
    end(store, Succeeded(artifacts=("a.npz",)), exit_code=0, stdout_tail="out\n", stderr_tail="err\n")
    add(store)
    end(store, Failed("ValueError: never", permanent=True), exit_code=1)
    dead = add(store, max_attempts=1)
    end(store, Failed("again"))
    add(store, priority=7)
    end(store, Snoozed(600, "not published yet"))
    store.tenants.add(NewTenant("acme"))
    add(store, tenant_id="acme")
    take(store, "host-1-ab")
    store.jobs.cancel(add(store), "cancelled by me: seen enough")
    add(store, priority=3, after=(add(store, delay_seconds=600), done))
    store.jobs.enqueue_many([NewJob("build_tile", {**TILE, "region": region}) for region in ("ne", "texas")])
    store.claim(ClaimRequest("host-1-ab", ("build_tile",), 60.0, batch_limit=2))
    store.jobs.retry(dead, created_by="me")
    store.workers.heartbeat("host-1-ab", 60.0, types=("sleep", "build_tile"))
    store.workers.heartbeat("gone", 60.0, state="stopped")
    store.types.pause("sleep")
    return store


LOOKS = {
    "failed ones": ("jobs list", "--status", "failed"),
    "a page": ("jobs list", "--limit", "1", "--status", "pending"),
    "--queue": ("jobs list", "--queue", "--limit", "2"),
    "completed": ("jobs show", "1"),
    "dead letter": ("jobs show", "3"),
    "snoozed": ("jobs show", "4"),
    "running": ("jobs show", "5"),
    "one of a batch": ("jobs show", "9"),
    "waits on others": ("jobs show", "8"),
    "stats": ("jobs stats",),
    "types": ("jobs types", "sleep"),
    "workers": ("workers",),
    "prune": ("jobs prune", "--completed-days", "0", "--dry-run"),
}


@pytest.mark.parametrize("case", LOOKS)
def test_listings_match_their_goldens(gribmill: Run, busy: Store, case: str) -> None:
    command, *words = LOOKS[case]
    answer = gribmill(*command.split(), *words, "--json")
    assert answer.code == 0, answer.err
    check_golden(command, answer.out, case=case)


def test_drain_and_dismiss_match_their_goldens(gribmill: Run, busy: Store, data: Path) -> None:
    check_golden("workers drain", gribmill("workers", "drain", "host-1-ab", "--json").out)
    by_hand(data, "UPDATE worker_heartbeats SET last_heartbeat = '2026-01-01 00:00:00.000'")
    by_hand(data, "UPDATE jobs SET lease_expires_at = '2026-01-01 00:00:00.000' WHERE status = 'processing'")
    check_golden("workers dismiss", gribmill("workers", "dismiss", "host-1-ab", "--json").out)


def test_retry_and_cancel_with_refusals_match_their_goldens(gribmill: Run, busy: Store) -> None:
    check_golden("jobs retry", _refused(gribmill("jobs", "retry", "1", "3", "4", "99", "--json")))
    check_golden("jobs cancel", _refused(gribmill("jobs", "cancel", "1", "5", "7", "99", "--json")))


def _refused(answer: Answer) -> str:
    assert answer.code == 1
    return answer.out


def test_enqueue_matches_its_golden_and_says_if_the_job_is_new(gribmill: Run) -> None:
    lines = '{"say": "a"}\n{"say": "b"}\n'
    check_golden("jobs enqueue", gribmill("jobs", "enqueue", "sleep", "-", "--json", stdin=lines).out)
    words = ("jobs", "enqueue", "sleep", "--dedupe", "k", "--json")
    assert gribmill(*words).json == [{"id": 3, "created": True}]
    assert gribmill(*words).json == [{"id": 3, "created": False}]


def test_verify_matches_its_golden(gribmill: Run, busy: Store, data: Path) -> None:
    assert gribmill("jobs", "verify", "--json").out == "[]\n"
    by_hand(data, "UPDATE job_attempts SET status = 'succeeded' WHERE status = 'running'")
    by_hand(data, "UPDATE job_counts SET n = n + 1 WHERE type = 'sleep' AND status = 'failed'")
    check_golden("jobs verify", _refused(gribmill("jobs", "verify", "--json")))


def test_reservations_match_their_goldens(gribmill: Run, data: Path) -> None:
    made = gribmill("jobs", "reserve", "--type", "sleep", "--for", "10m", "--json")
    reservation = made.json["id"]
    check_golden("jobs reserve", made.out.replace(reservation, "<id>"))
    check_golden("jobs reservations", gribmill("jobs", "reservations", "--json").out.replace(reservation, "<id>"))
    assert gribmill("jobs", "reserve", "--extend", reservation, "--json").json["id"] == reservation


def test_tick_matches_its_golden(gribmill: Run, store: Store) -> None:
    add(store)
    add(store, args={"fail": "permanently"})
    answer = gribmill("tick", "-n", "3", "--json")
    assert answer.code == 1
    check_golden("tick", answer.out)


def test_triggers_match_their_goldens(gribmill: Run) -> None:
    said = '{"say": "{{event.word}}"}'
    added = gribmill("triggers", "add", "noon", "sleep", "--cron", "0 12 * * *", "--timezone", "Europe/Paris", "--json")
    check_golden("triggers add", added.out)
    gribmill("triggers", "add", "tired", "sleep", said, "--event", "tired", "--priority", "2")
    emit = ("triggers", "emit", "tired")
    check_golden("triggers emit", gribmill(*emit, '{"word": "good night"}', "--json").out)
    check_golden("triggers emit", gribmill(*emit, '{"word": "good night"}', "--json").out, case="again")
    check_golden("triggers emit", _refused(gribmill(*emit, "--json")), case="refused")
    check_golden("triggers list", gribmill("triggers", "list", "--json").out)
    check_golden("triggers disable", _refused(gribmill("triggers", "disable", "1", "7", "--json")))
    check_golden("triggers enable", gribmill("triggers", "enable", "1", "--json").out)
    check_golden("triggers remove", _refused(gribmill("triggers", "remove", "2", "7", "--json")))
    slots = gribmill("triggers", "preview", "15 6 * * *", "-n", "2", "--json").json
    assert [slot[10:] for slot in slots] == ["T06:15:00.000Z"] * 2


def test_rows_of_other_programs_are_shown_as_they_are(gribmill: Run, store: Store, data: Path) -> None:
    by_hand(data, "INSERT INTO jobs (type, priority, created_at, args) VALUES ('mine', 'high', 'yesterday', '[1]')")
    by_hand(data, "UPDATE jobs SET error_message = x'ff00', attempt_no = 1.5")
    (job,) = gribmill("jobs", "list", "--json").json["jobs"]
    assert (job["priority"], job["created_at"], job["args"]) == ("high", None, [1])
    assert (job["error_message"], job["attempt_no"]) == ("b'\\xff\\x00'", 1.5)


def test_a_report_with_odd_characters_survives(gribmill: Run, store: Store) -> None:
    add(store)
    store.exchange("w1", [Report(take(store).ref, Failed("\x1b[2J\u2028é", permanent=True))])
    assert gribmill("jobs", "show", "1", "--json").json["job"]["error_message"] == "\x1b[2J\u2028é"
