"""`gribmill groups`: add, list, show, cancel, retry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gribmill.queue.model import Failed, NewTenant, Succeeded
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import add, end, take


def lines(*jobs: dict[str, Any]) -> str:
    return "\n".join(json.dumps(job) for job in jobs)


SLEEPS = lines(*({"type": "sleep", "args": {"say": str(n)}} for n in range(3)))


def test_group_from_json_lines_is_followed_cancelled_and_retried(gribmill: Run, store: Store) -> None:
    made = gribmill("groups", "add", "nightly", "--on-failure", "stop", stdin=SLEEPS)
    assert made.out == "nightly: 3 jobs enqueued; `gribmill groups show nightly` shows the progress\n"
    end(store, Succeeded())
    assert "nightly: running, 33.3 % of 3 jobs: 2 pending, 1 succeeded\n" in gribmill("groups", "show", "nightly").out
    end(store, Failed("no", permanent=True))
    shown = gribmill("groups", "show", "nightly").out.splitlines()
    assert shown[0] == "nightly: failed, 100 % of 3 jobs: 1 succeeded, 1 failed, 1 cancelled"
    assert shown[1].startswith("parallel; on failure: stop, made by ")
    assert shown[2] == "stopped: `gribmill groups retry nightly` resumes it"
    assert gribmill("groups", "retry", "nightly").out == "nightly: retried 2 jobs\n"
    take(store)
    cancelled = gribmill("groups", "cancel", "1", "--reason", "enough")
    assert cancelled.out == "nightly: cancelled 1 job; workers have been asked to stop 1\n"
    listed = gribmill("groups", "list").out.splitlines()
    assert listed[1].split()[:8] == ["1", "nightly", "running", "66.6", "%", "3", "parallel", "stop"]


def test_json_matches_the_goldens(gribmill: Run, store: Store) -> None:
    add(store)
    answer = gribmill("groups", "add", "nightly", "--mode", "sequential", "--json", stdin=SLEEPS)
    check_golden("groups add", answer.out)
    end(store, Succeeded())
    end(store, Failed("no", permanent=True))
    check_golden("groups list", gribmill("groups", "list", "--json").out)
    check_golden("groups show", gribmill("groups", "show", "nightly", "--json").out)
    check_golden("groups retry", gribmill("groups", "retry", "nightly", "--json").out)
    check_golden("groups cancel", gribmill("groups", "cancel", "nightly", "--json").out)


def test_jobs_are_enqueued_into_a_group_and_listed_by_it(gribmill: Run, store: Store) -> None:
    gribmill("jobs", "enqueue", "sleep", "--group-name", "mine")
    gribmill("jobs", "enqueue", "sleep")
    page = gribmill("jobs", "list", "--group-name", "mine", "--json").json
    assert [(job["id"], job["group_id"]) for job in page["jobs"]] == [(1, 1)]
    assert store.groups.progress(1).pending == 1
    missing = gribmill("jobs", "list", "--group-name", "other")
    assert (missing.code, missing.err) == (1, "error: there is no group other of the tenant global\n")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"type": "sleep", "colour": 1}', "stdin, line 2: unknown key 'colour'"),
        ('{"args": {}}', "stdin, line 2: `type` must be a job type"),
        ('{"type": "sleep", "priority": "high"}', "stdin, line 2: `priority` must be an integer"),
        ('{"type": "nonsense"}', "stdin, line 2: "),
        ('{"type": "sleep", "args": {"seconds": "x"}}', "stdin, line 2: "),
    ],
)
def test_bad_line_is_named_and_nothing_is_enqueued(gribmill: Run, store: Store, line: str, says: str) -> None:
    answer = gribmill("groups", "add", "nightly", stdin=f'{{"type": "sleep"}}\n{line}\n')
    assert answer.code == 1 and says in answer.err
    assert store.groups.list() == [] and not store.jobs.list().jobs


def test_groups_of_other_tenants_are_not_found(gribmill: Run, store: Store) -> None:
    store.tenants.add(NewTenant("acme"))
    gribmill("groups", "add", "nightly", "--tenant", "acme", stdin=SLEEPS)
    for verb in ("show", "cancel", "retry"):
        for name in ("nightly", "1"):
            answer = gribmill("groups", verb, name)
            assert (answer.code, answer.err) == (1, f"error: there is no group {name} of the tenant global\n")
    assert gribmill("groups", "show", "nightly", "--tenant", "acme").code == 0
    assert gribmill("groups", "list").out.count("nightly") == 1
    assert (
        gribmill("groups", "list", "--tenant", "global").err
        == "there are no groups; `gribmill groups add --help` shows how to add one\n"
    )
