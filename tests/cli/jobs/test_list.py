"""Listing: filters, pages, the order of the queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.queue.model import Failed, NewJob, NewTenant, Outcome, Report, Succeeded
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.job_driver import add, by_hand, take


@pytest.fixture
def one_of_each(store: Store) -> dict[str, int]:
    """A job in every state."""
    ids = {name: add(store) for name in ("completed", "failed", "dead_letter", "processing", "cancelled", "pending")}
    outcomes: list[Outcome] = [Succeeded(), Failed("never", permanent=True)]
    for outcome in outcomes:
        store.exchange("w1", [Report(take(store).ref, outcome)])
    for _ in range(3):
        if store.jobs.get(ids["dead_letter"]).status == "pending":
            store.jobs.run_now(ids["dead_letter"])
            store.exchange("w1", [Report(take(store).ref, Failed("again"))])
    take(store, "w2")
    store.jobs.cancel(ids["cancelled"])
    return ids


def listed(gribmill: Run, *words: str) -> list[int]:
    answer = gribmill("jobs", "list", "--json", *words)
    assert answer.code == 0, answer.err
    return [job["id"] for job in answer.json["jobs"]]


def test_each_status_is_listed_alone(gribmill: Run, one_of_each: dict[str, int]) -> None:
    for status in ("completed", "processing", "cancelled", "pending", "dead_letter"):
        assert listed(gribmill, "--status", status) == [one_of_each[status]]
    assert listed(gribmill, "--status", "failed") == [one_of_each["dead_letter"], one_of_each["failed"]]


def test_the_table_distinguishes_dead_letters_from_failures(gribmill: Run, one_of_each: dict[str, int]) -> None:
    lines = gribmill("jobs", "list").out.splitlines()
    assert lines[0].split() == ["id", "type", "status", "priority", "age", "runs", "took", "what"]
    states = {int(line.split()[0]): line.split()[2] for line in lines[1:]}
    assert states == {job_id: name for name, job_id in one_of_each.items()}


def test_filters_by_type_tenant_group_and_worker(gribmill: Run, store: Store) -> None:
    store.tenants.add(NewTenant("acme"))
    ours, theirs = add(store, priority=1), add(store, tenant_id="acme")
    tile = store.jobs.enqueue(
        NewJob("build_tile", {"model_id": "hrrr", "run_id": "20230125_12", "hour": 5, "region": "ne"})
    ).id
    assert listed(gribmill, "--type", "build_tile") == [tile]
    assert listed(gribmill, "--tenant", "acme") == [theirs]
    assert listed(gribmill, "--group", "hrrr/20230125_12/005") == [tile]
    assert take(store, "w7").id == ours
    assert listed(gribmill, "--worker", "w7") == [ours]
    assert listed(gribmill, "--worker", "w8") == []


def test_filters_by_age(gribmill: Run, store: Store, data: Path) -> None:
    young, old = add(store), add(store)
    _make_older(data, old, "-3 hours")
    assert listed(gribmill, "--since", "2h") == [young]
    assert listed(gribmill, "--before-age", "2h") == [old]
    assert listed(gribmill, "--since", "1d", "--before-age", "1h") == [old]


def _make_older(data: Path, job_id: int, by: str) -> None:
    by_hand(data, "UPDATE jobs SET created_at = strftime('%Y-%m-%d %H:%M:%f', created_at, ?) WHERE id = ?", by, job_id)


@pytest.mark.parametrize("limit", [1, 7, 10, 1000])
def test_cursor_walks_every_row_exactly_once(gribmill: Run, store: Store, limit: int) -> None:
    store.jobs.enqueue_many(NewJob("sleep") for _ in range(20))
    seen: list[int] = []
    cursor: list[str] = []
    while True:
        page = gribmill("jobs", "list", "--json", "--limit", str(limit), *cursor).json
        seen += [job["id"] for job in page["jobs"]]
        if page["next_before"] is None:
            break
        store.jobs.enqueue(NewJob("sleep"))  # newcomers do not shift the pages
        cursor = ["--before", str(page["next_before"])]
    assert seen == list(range(20, 0, -1))


def test_the_table_shows_the_cursor_of_the_next_page(gribmill: Run, store: Store) -> None:
    store.jobs.enqueue_many(NewJob("sleep") for _ in range(3))
    answer = gribmill("jobs", "list", "--limit", "2")
    assert answer.err == "more: --before 2\n"
    assert gribmill("jobs", "list", "--limit", "2", "--before", "2").err == ""


def test_queue_shows_pending_jobs_in_the_order_of_their_claims(gribmill: Run, store: Store) -> None:
    low, plain, high, late = add(store, priority=-1), add(store), add(store, priority=3), add(store, delay_seconds=600)
    store.jobs.move_to_front(late)
    answer = gribmill("jobs", "list", "--queue", "--json")
    assert [(job["place"], job["id"]) for job in answer.json] == [(1, high), (2, late), (3, plain), (4, low)]
    text = gribmill("jobs", "list", "--queue").out
    assert "in 10m 00s" in text or "in 9m 5" in text
    store.types.pause("sleep")
    assert gribmill("jobs", "list", "--queue").out.count("type is paused") == 4


def test_the_queue_shows_what_a_job_waits_for(gribmill: Run, store: Store) -> None:
    add(store, after=(add(store), add(store)))
    assert "after 2 other jobs" in gribmill("jobs", "list", "--queue").out


def test_queue_with_other_filters_is_a_usage_error(gribmill: Run) -> None:
    assert gribmill("jobs", "list", "--queue", "--status", "pending").code == 2
    assert gribmill("jobs", "list", "--queue", "--before", "3").code == 2


def test_an_empty_list_is_reported_on_standard_error(gribmill: Run) -> None:
    answer = gribmill("jobs", "list")
    assert (answer.code, answer.out, answer.err) == (0, "", "no jobs\n")
    assert gribmill("jobs", "list", "--json").json == {"jobs": [], "next_before": None}
    assert gribmill("jobs", "list", "--queue", "--json").json == []


def test_rows_stay_on_one_line_in_a_pipe(gribmill: Run, store: Store) -> None:
    add(store, args={"say": "word " * 100})
    lines = gribmill("jobs", "list").out.splitlines()
    assert len(lines) == 2
    assert len(lines[1]) > 100, "cut as for a terminal of eighty columns"
    assert all(line == line.rstrip() for line in lines)


def test_control_characters_cannot_reach_the_terminal(gribmill: Run, store: Store) -> None:
    job_id = add(store)
    store.exchange("w1", [Report(take(store).ref, Failed("\x1b[2Jgone\x9b31m", permanent=True), 1, "\x1b]0;x\x07")])
    for answer in (gribmill("jobs", "list"), gribmill("jobs", "show", str(job_id))):
        assert "\\x1b[2Jgone\\x9b" in answer.out
        assert not {"\x1b", "\x07", "\x9b"} & set(answer.out)


def test_unknown_type_and_bad_age_are_refused(gribmill: Run) -> None:
    assert "no job type 'slep'" in gribmill("jobs", "list", "--type", "slep").err
    answer = gribmill("jobs", "list", "--since", "yesterday")
    assert answer.code == 2 and "not a duration" in answer.err
    assert gribmill("jobs", "list", "--status", "lost").code == 2


def test_undeclared_types_of_manual_rows_can_be_listed(gribmill: Run, store: Store, data: Path) -> None:
    by_hand(data, "INSERT INTO jobs (type) VALUES ('by_hand')")
    assert listed(gribmill, "--type", "by_hand") == [1]


def test_jobs_are_listed_by_source_chain_template_and_absolute_times(gribmill: Run, store: Store) -> None:
    gribmill("jobs", "enqueue", "sleep", "--correlation", "c-1")
    gribmill("templates", "add", "nap", "sleep")
    gribmill("templates", "run", "nap")
    store.jobs.enqueue(NewJob("sleep", source="system"))

    def ids(*words: str) -> list[int]:
        answer = gribmill("jobs", "list", "--json", *words)
        assert answer.code == 0, answer.err
        return [job["id"] for job in answer.json["jobs"]]

    assert ids("--correlation", "c-1") == [1]
    assert ids("--correlation", "c-1", "--status", "failed") == []
    assert ids("--template", "nap") == [2]
    assert ids("--source", "system") == [3]
    assert ids("--from", "2020-01-01") == [3, 2, 1]
    assert ids("--to", "2020-01-01T06") == []
    assert ids("--from", "2999-01-01T00:00+02:00") == []
    for words in (("--since", "1h", "--from", "2020-01-01"), ("--before-age", "1h", "--to", "2020-01-01")):
        answer = gribmill("jobs", "list", *words)
        assert (answer.code, "exclude each other" in answer.err) == (2, True)
    assert "no template 'gone'" in gribmill("jobs", "list", "--template", "gone").err
