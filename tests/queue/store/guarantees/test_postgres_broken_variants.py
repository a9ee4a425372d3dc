"""Broken variants must fail in PostgreSQL too: if a safeguard is removed, its scenario fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from gribmill.queue.errors import QueueError
from gribmill.queue.store import Store
from tests.queue.backends import make_tables, open_address
from tests.queue.store.guarantees import scenarios as g
from tests.queue.store.guarantees.postgres_mutant import PostgresMutant, altered, without
from tests.queue.store.guarantees.test_state_machine import CALM, PostgresMachine
from tests.queue.store.jobs import test_batches, test_dependents, test_races
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, claim, fail, take
from tests.queue.store.tested_backend import BackendUnderTest, PostgresUnderTest
from tests.servers.shared_postgres import fresh_database

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

RED = (AssertionError, QueueError, psycopg.IntegrityError, pytest.fail.Exception)
FENCE = " AND attempt_no = :attempt_no AND worker_id = :worker_id"
NO_FENCE = ((FENCE, ""),)
ANY_ATTEMPT = (" AND j.attempt_no = d.attempt_no", "")
ANY_WORKER = (" AND j.worker_id = :worker_id", " AND :worker_id <> ''")
ANY_STATUS = (" AND j.status || '' = 'processing'", "")
ALSO_FINISHED = (
    without("gribmill_change_manually", "IF OLD.status NOT IN ('pending','processing')"),
    "DROP TRIGGER job_attempts_stay_ended ON job_attempts",
)
TAKE = "claims/take_next"
HEAD_IS_READY = (
    "WHERE type = open.key AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'"
)
HEAD_ORDER = "ORDER BY priority DESC, position, created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED"
BEST_HEAD = "ORDER BY h.priority DESC, h.position, h.created_at, h.id LIMIT 1"
Scenario = Callable[[BackendUnderTest], None]


def late_report_releases_no_child(backend: BackendUnderTest) -> None:
    test_dependents.test_a_late_report_about_a_completed_parent_does_not_release_its_child_again(backend.store)


def child_of_an_open_transaction_is_released(backend: BackendUnderTest) -> None:
    test_dependents.test_child_is_released_if_its_parent_completes_before_its_own_commit(backend.store, backend)


def siblings_come_in_order(backend: BackendUnderTest) -> None:
    test_batches.test_siblings_come_in_queue_order_and_the_head_is_the_best_of_all(backend.store)


def retried_job_runs_alone(backend: BackendUnderTest) -> None:
    test_batches.test_job_that_failed_runs_alone_so_that_its_crash_costs_no_sibling(backend.store, backend.clock)


def limit_of_a_type_holds(backend: BackendUnderTest) -> None:
    for hour in range(4):
        add(backend.store, "limited", {"hour": hour})
    for _ in range(2):
        take(backend.store)
    assert claim(backend.store) == ()


BROKEN: dict[str, tuple[PostgresMutant, Scenario]] = {
    "complete_without_fence": (
        PostgresMutant({"jobs/complete": (ANY_ATTEMPT, ANY_WORKER)}),
        g.fenced_success_changes_nothing,
    ),
    "complete_without_attempt_number": (
        PostgresMutant({"jobs/complete": (ANY_ATTEMPT,)}),
        g.fenced_success_changes_nothing,
    ),
    "complete_without_worker": (PostgresMutant({"jobs/complete": (ANY_WORKER,)}), g.fenced_success_changes_nothing),
    "complete_without_status": (
        PostgresMutant({"jobs/complete": (ANY_STATUS, ANY_WORKER)}, ALSO_FINISHED),
        g.job_succeeds_once,
    ),
    "complete_that_leaves_its_attempt_open": (
        PostgresMutant({"jobs/complete": ((" AND CASE a.status WHEN 'running' THEN true END", " AND false"),)}),
        g.processing_lease_and_running_attempt_are_one,
    ),
    "completion_that_no_dependent_learns_of": (
        PostgresMutant(by_hand=(altered("gribmill_note_ended", " AND p.status = 'completed'", " AND false"),)),
        g.dependents_follow_the_end_of_their_parent,
    ),
    "completion_that_is_noted_again": (
        PostgresMutant(by_hand=(altered("gribmill_note_ended", " AND p.xmin = pg_current_xact_id()::xid", ""),)),
        late_report_releases_no_child,
    ),
    "parents_that_are_not_locked": (
        PostgresMutant({"dependencies/parent_states": ((" FOR SHARE", ""),)}),
        child_of_an_open_transaction_is_released,
    ),
    "failure_that_no_dependent_learns_of": (
        PostgresMutant(by_hand=(without("gribmill_change_manually", "IF OLD.status IN ('pending','processing')"),)),
        g.dependents_follow_the_end_of_their_parent,
    ),
    "requeue_without_fence": (
        PostgresMutant({"jobs/held": NO_FENCE, "jobs/requeue": NO_FENCE}),
        g.fenced_failure_changes_nothing,
    ),
    "snooze_without_fence": (
        PostgresMutant({"jobs/held": NO_FENCE, "jobs/requeue": NO_FENCE}),
        g.fenced_snooze_changes_nothing,
    ),
    "end_without_fence": (
        PostgresMutant({"jobs/held": NO_FENCE, "jobs/end": NO_FENCE}),
        g.fenced_last_failure_changes_nothing,
    ),
    "stop_without_fence": (
        PostgresMutant({"jobs/held": NO_FENCE, "jobs/end": NO_FENCE}),
        g.fenced_stop_changes_nothing,
    ),
    "sweep_without_lease_check": (
        PostgresMutant({"leases/expired": ((" AND lease_expires_at <= :now", ""),)}),
        g.claimed_job_is_not_given_again,
    ),
    "sweep_that_comes_a_moment_late": (
        PostgresMutant({"leases/expired": (("lease_expires_at <= :now", "lease_expires_at < :now"),)}),
        g.job_of_a_dead_worker_comes_back_after_its_lease,
    ),
    "sweep_that_leaves_the_attempt_open": (
        PostgresMutant({"attempts/lose": ((" AND status = 'running'", " AND false"),)}),
        g.processing_lease_and_running_attempt_are_one,
    ),
    "crash_that_costs_nothing": (
        PostgresMutant({"leases/recover": (("retry_count + :cost", "retry_count + 0 * :cost"),)}),
        g.job_runs_at_most_its_attempts,
    ),
    "failure_that_costs_nothing": (
        PostgresMutant({"jobs/requeue": (("retry_count + :cost", "retry_count + 0 * :cost"),)}),
        g.job_runs_at_most_its_attempts,
    ),
    "heartbeat_that_renews_nothing": (
        PostgresMutant({"leases/renew": (("= :lease_expires_at", "= coalesce(lease_expires_at, :lease_expires_at)"),)}),
        g.heartbeat_keeps_the_job,
    ),
    "dedupe_index_missing": (
        PostgresMutant(by_hand=("DROP INDEX jobs_dedupe",)),
        g.equal_active_jobs_are_one,
    ),
    "dedupe_over_tenants": (
        PostgresMutant(
            {
                "jobs/insert": (("ON CONFLICT (tenant_id, dedupe_key)", "ON CONFLICT (dedupe_key)"),),
                "jobs/find_active": (("tenant_id = :tenant_id AND ", ""),),
            },
            (
                "DROP INDEX jobs_dedupe",
                "CREATE UNIQUE INDEX jobs_dedupe ON jobs (dedupe_key)"
                " WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing')",
            ),
        ),
        g.equal_active_jobs_are_one,
    ),
    "claim_without_status": (
        PostgresMutant({TAKE: ((HEAD_IS_READY, "WHERE type = open.key"), (" AND j.status = 'pending'", ""))}),
        g.claimed_job_is_not_given_again,
    ),
    "claim_of_finished_jobs": (
        PostgresMutant(
            {
                TAKE: (
                    (HEAD_IS_READY, "WHERE type = open.key AND status <> 'processing'"),
                    (" AND j.status = 'pending'", ""),
                )
            },
            ALSO_FINISHED,
        ),
        g.finished_job_stays_as_it_is,
    ),
    "claim_that_ignores_parents": (
        PostgresMutant({TAKE: ((HEAD_IS_READY, HEAD_IS_READY.replace(" AND deps_left = 0", "")),)}),
        g.job_that_waits_does_not_start,
    ),
    "claim_that_ignores_time": (
        PostgresMutant({TAKE: ((HEAD_IS_READY, HEAD_IS_READY.replace(" AND next_run_at IS NULL", "")),)}),
        g.job_that_waits_does_not_start,
    ),
    "promotion_that_ignores_time": (
        PostgresMutant(
            {
                "claims/prepare": (("next_run_at <= :now", ":now::text <> ''"),),
                "claims/promote": (("next_run_at <= :now\n", ":now::text <> ''\n"),),
            }
        ),
        g.job_that_waits_does_not_start,
    ),
    "promotion_that_finds_nothing": (
        PostgresMutant({"claims/promote": (("ORDER BY next_run_at LIMIT 500", "LIMIT 0"),)}),
        g.job_that_waits_does_not_start,
    ),
    "claim_by_age_alone": (
        PostgresMutant(
            {
                TAKE: (
                    (HEAD_ORDER, "ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED"),
                    (BEST_HEAD, "ORDER BY h.created_at, h.id LIMIT 1"),
                )
            }
        ),
        g.claims_follow_the_total_order,
    ),
    "claim_without_position": (
        PostgresMutant(
            {
                TAKE: (
                    (HEAD_ORDER, HEAD_ORDER.replace(" position,", "")),
                    (BEST_HEAD, BEST_HEAD.replace(" h.position,", "")),
                )
            }
        ),
        g.claims_follow_the_total_order,
    ),
    "claim_of_the_first_type_only": (
        PostgresMutant({TAKE: ((BEST_HEAD, "ORDER BY open.key LIMIT 1"),)}),
        g.claims_follow_the_total_order,
    ),
    "siblings_in_any_order": (
        PostgresMutant(
            {
                TAKE: (
                    ("id\n    LIMIT head.more", "id DESC\n    LIMIT head.more"),
                    (
                        "    ORDER BY priority DESC, position, created_at, id DESC",
                        "    ORDER BY priority, position DESC, created_at, id DESC",
                    ),
                )
            }
        ),
        siblings_come_in_order,
    ),
    "failed_job_that_takes_siblings_with_it": (
        PostgresMutant({TAKE: (("CASE WHEN h.retry_count = 0 THEN", "CASE WHEN true THEN"),)}),
        retried_job_runs_alone,
    ),
    "claim_that_ignores_reservations": (
        PostgresMutant({TAKE: (("r.status = 'ACTIVE'", "false"),)}),
        g.nothing_starts_under_a_reservation,
    ),
    "siblings_that_ignore_reservations": (
        PostgresMutant({"claims/may_join": (("r.status = 'ACTIVE'", "false"),)}),
        g.nothing_starts_under_a_reservation,
    ),
    "reservation_that_never_ends": (
        PostgresMutant({TAKE: ((" AND r.expires_at > :now", ""),)}),
        g.nothing_starts_under_a_reservation,
    ),
    "claim_that_ignores_limits": (
        PostgresMutant({TAKE: (("d.max_running IS NULL AND d.resources = '[]'", "true"),)}),
        limit_of_a_type_holds,
    ),
    "claim_without_an_attempt_row": (
        PostgresMutant({TAKE: ((":pid, :now FROM claimed", ":pid, :now FROM claimed WHERE false"),)}),
        g.processing_lease_and_running_attempt_are_one,
    ),
    "claim_that_counts_no_attempt": (
        PostgresMutant({TAKE: (("attempt_no = j.attempt_no + 1", "attempt_no = 1"),)}),
        g.fenced_success_changes_nothing,
    ),
    "claim_that_settles_nothing": (
        PostgresMutant(
            {
                "claims/prepare": (("OR EXISTS (SELECT 1 FROM ended_parents) AS", "AND false AS"),),
                "dependencies/ended_parents": (("LIMIT 100", "LIMIT 0"),),
            }
        ),
        g.dependents_follow_the_end_of_their_parent,
    ),
    "failure_without_its_event": (
        PostgresMutant(by_hand=(without("gribmill_change_manually", "IF NEW.status = 'failed' AND OLD"),)),
        g.failure_is_published_once,
    ),
    "turns_that_never_move": (
        PostgresMutant({"claims/in_turn": (("ORDER BY c.claimant <= :after, ", "ORDER BY "),)}),
        g.tenants_take_turns,
    ),
    "turns_that_are_forgotten": (
        PostgresMutant({"claims/last_turn": ((" WHERE types", " WHERE false AND types"),)}),
        g.tenants_take_turns,
    ),
    "default_tenant_that_jumps_the_queue": (
        PostgresMutant({"claims/prepare": (("WHEN found.has_rivals OR", "WHEN"),)}),
        g.tenants_take_turns,
    ),
    "finished_job_that_can_be_changed": (
        PostgresMutant(by_hand=ALSO_FINISHED[:1]),
        g.reset_makes_a_failed_job_new,
    ),
    "attempt_that_can_be_changed": (
        PostgresMutant(by_hand=("DROP TRIGGER job_attempts_stay_ended ON job_attempts",)),
        g.reset_makes_a_failed_job_new,
    ),
    "reset_that_leaves_the_end": (
        PostgresMutant(by_hand=(without("gribmill_change_manually", "IF NEW.status = 'pending'"),)),
        g.reset_makes_a_failed_job_new,
    ),
    "two_leaders": (
        PostgresMutant({"workers/take_lease": (("WHERE queue_leases.expires_at <= :now", "WHERE true OR false"),)}),
        g.one_leader_at_a_time,
    ),
    "two_firings": (
        PostgresMutant(
            {
                "triggers/insert_firing": (
                    ("WHERE trigger_firings.fired_at <=", "WHERE true OR trigger_firings.fired_at <="),
                )
            }
        ),
        g.one_firing_per_slot,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_variant_goes_red(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, scenario = BROKEN[name]
    backend = PostgresUnderTest()
    mutant.alter(backend)
    mutant.apply(monkeypatch)
    with pytest.raises(RED):
        scenario(backend)
    monkeypatch.undo()
    backend.close()


@pytest.mark.parametrize("scenario", list(dict.fromkeys(scenario for _, scenario in BROKEN.values())))
def test_scenario_passes_when_nothing_is_broken(scenario: Scenario) -> None:
    backend = PostgresUnderTest()
    scenario(backend)
    assert backend.store.verify() == []
    backend.close()


# True after a moment, in which another transaction may interfere.
PAUSE = "pg_sleep(0.01) IS NOT NULL"
SLOW_CLAIM = ("true AS is_new", f"{PAUSE} AS is_new")
WITHOUT_HOLD = ((" FOR SHARE", ""), ("on_failure <> 'stop'", f"on_failure <> 'stop' AND {PAUSE}"))

# Faults that only concurrent writers reveal. A pause makes them meet, and there are several rounds.
LOCKS: dict[str, tuple[PostgresMutant, Callable[[Store], None]]] = {
    "limits_that_are_not_locked": (
        PostgresMutant(
            {
                "claims/prepare": (("gribmill_lock_limits(:keys::text[])", "''"),),
                TAKE: (SLOW_CLAIM,),
            }
        ),
        test_races.test_max_running_is_never_exceeded,
    ),
    "reservation_that_does_not_wait_for_claims": (
        PostgresMutant(
            {
                "reservations/lock": (("pg_advisory_xact_lock(7217, 1) IS NULL", "false"),),
                "reservations/insert": (("'ACTIVE')\n", f"CASE WHEN {PAUSE} THEN 'ACTIVE' END)\n"),),
            }
        ),
        test_races.test_no_job_starts_under_a_new_reservation,
    ),
    "groups_that_are_not_locked": (
        PostgresMutant(
            {
                TAKE: (
                    ("pg_try_advisory_xact_lock(hashtextextended(type || ':' || group_key, 0))", "true"),
                    SLOW_CLAIM,
                )
            }
        ),
        test_races.test_siblings_are_not_split_between_workers,
    ),
    "heads_that_are_not_locked": (
        PostgresMutant({TAKE: ((" FOR UPDATE SKIP LOCKED) h", ") h"), (" AND j.status = 'pending'", ""), SLOW_CLAIM)}),
        test_races.test_each_job_is_claimed_by_one_worker,
    ),
    "stopped_groups_that_are_not_held": (
        PostgresMutant({"groups/hold": WITHOUT_HOLD}),
        test_races.test_no_follow_up_is_left_in_a_group_cancelled_meanwhile,
    ),
    "sequential_groups_that_are_not_held": (
        PostgresMutant({"groups/hold": WITHOUT_HOLD}),
        test_races.test_job_added_to_a_sequential_group_waits_for_a_concurrent_follow_up,
    ),
    "attempt_that_is_not_locked_before_it_ends": (
        PostgresMutant({"jobs/held": (("\nFOR NO KEY UPDATE", f" AND {PAUSE}"),)}),
        partial(test_races.test_cancellation_is_not_lost_when_the_attempt_ends_meanwhile, end=fail),
    ),
    "job_that_is_not_locked_before_it_is_cancelled": (
        PostgresMutant({"jobs/lock": ((" FOR NO KEY UPDATE", f" AND {PAUSE}"),)}),
        partial(test_races.test_cancellation_is_not_lost_when_the_attempt_ends_meanwhile, end=fail),
    ),
    "recovery_that_overlooks_a_cancellation": (
        PostgresMutant(
            {
                "leases/recover": ((" (cancel_requested_at IS NOT NULL)::int = :cancel_requested", " true"),),
                "leases/expired": (("lease_expires_at <= :now", f"lease_expires_at <= :now AND {PAUSE}"),),
            }
        ),
        test_races.test_cancellation_is_not_lost_when_the_job_is_recovered_meanwhile,
    ),
}  # fmt: skip
ROUNDS = 25


@pytest.mark.parametrize("name", LOCKS)
def test_missing_lock_is_found_by_a_race(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, race = LOCKS[name]
    mutant.apply(monkeypatch)
    with pytest.raises(RED):
        for _ in range(ROUNDS):
            _race(race)


def _race(race: Callable[[Store], None]) -> None:
    with fresh_database("tables", make_tables) as url:
        store = Store(open_address(url), TYPES)
        try:
            race(store)
            assert store.verify() == []
        finally:
            store.close()


# Histories find more broken variants on SQLite, where a step takes a fraction of the time.
MACHINE_BROKEN: dict[str, PostgresMutant] = {
    "lease_check": PostgresMutant({"leases/expired": ((" AND lease_expires_at <= :now", ""),)}),
    "release_of_children": PostgresMutant({"dependencies/release": (("deps_left - 1", "0"),)}),
}


@pytest.mark.parametrize("name", MACHINE_BROKEN)
def test_random_histories_find_a_broken_variant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MACHINE_BROKEN[name].apply(monkeypatch)
    calm: dict[str, Any] = CALM
    search = settings(
        max_examples=200,
        stateful_step_count=50,
        derandomize=True,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        **calm,
    )
    with pytest.raises(RED):
        run_state_machine_as_test(PostgresMachine, settings=search)
