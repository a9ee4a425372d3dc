"""One job with its timeline, parents, children and retries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gribmill.queue.model import ClaimRequest, Failed, NewJob, NewTenant, Snoozed, Succeeded
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.job_driver import add, by_hand, end, take


def test_the_timeline_shows_attempts_with_exit_codes_output_and_errors(gribmill: Run, store: Store) -> None:
    job_id = add(store, args={"say": "hi"})
    end(store, Failed("ValueError: broke\nTraceback"), exit_code=3, stdout_tail="one\ntwo\n", stderr_tail="oops\n")
    store.jobs.run_now(job_id)
    end(store, Snoozed(0, "not yet"))
    end(store, Succeeded(artifacts=("a.npz",)), exit_code=0)
    text = gribmill("jobs", "show", str(job_id)).out
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == f"job {job_id}  sleep  completed"
    attempts = [line for line in lines if " attempt " in line]
    assert [line.split()[3] for line in attempts] == ["failed", "snoozed", "succeeded"]
    assert "exit code 3" in attempts[0] and "w1 pid 4711" in attempts[0]
    for line in ("error ValueError: broke", "error Traceback", "stdout one", "stdout two", "stderr oops"):
        assert line in lines
    assert "note not yet" in lines
    assert "completed after" in lines[-1]


def test_json_holds_everything(gribmill: Run, store: Store) -> None:
    store.tenants.add(NewTenant("acme"))
    job_id = add(store, args={"say": "hi"}, tenant_id="acme")
    end(store, Succeeded(artifacts=("a.npz",)), exit_code=0, stdout_tail="x")
    shown = gribmill("jobs", "show", str(job_id), "--json").json
    assert shown["job"]["id"] == job_id
    assert shown["job"]["args"]["say"] == "hi"
    assert shown["job"]["created_at"].endswith("Z")
    (attempt,) = shown["attempts"]
    assert (attempt["status"], attempt["exit_code"], attempt["stdout_tail"]) == ("succeeded", 0, "x")
    assert attempt["artifacts"] == ["a.npz"]
    assert attempt["seconds"] >= 0
    assert set(shown) == {"job", "attempts", "retry_chain", "siblings", "parents", "children"}


def test_running_job_shows_its_worker_and_lease(gribmill: Run, store: Store) -> None:
    job_id = add(store)
    take(store, "w9")
    store.jobs.cancel(job_id, "enough")
    text = gribmill("jobs", "show", str(job_id)).out
    assert "w9" in text and "for another" in text and "stop requested" in text


def test_pending_job_shows_what_it_waits_for(gribmill: Run, store: Store) -> None:
    assert "in 59m" in gribmill("jobs", "show", str(add(store, delay_seconds=3599))).out


def test_retry_chain_is_shown_from_both_ends(gribmill: Run, store: Store) -> None:
    first = add(store)
    end(store, Failed("x", permanent=True))
    second = store.jobs.retry(first).id
    for job_id in (first, second):
        chain = gribmill("jobs", "show", str(job_id), "--json").json["retry_chain"]
        assert [one["id"] for one in chain] == [first, second]
        assert "retry chain" in gribmill("jobs", "show", str(job_id)).out
    assert "retry chain" not in gribmill("jobs", "show", str(add(store))).out


def test_siblings_of_the_batch_are_shown(gribmill: Run, store: Store) -> None:
    tile = {"model_id": "hrrr", "run_id": "20230125_12", "hour": 5}
    ids = [store.jobs.enqueue(NewJob("build_tile", {**tile, "region": name})).id for name in ("ne", "nw", "sw")]
    store.claim(ClaimRequest("w1", ("build_tile",), 60.0))
    shown = gribmill("jobs", "show", str(ids[1]), "--json").json["siblings"]
    assert [(one["id"], one["args"]["region"]) for one in shown] == [(ids[0], "ne"), (ids[2], "sw")]
    assert "same batch" in gribmill("jobs", "show", str(ids[1])).out


def test_parents_and_children_are_shown(gribmill: Run, store: Store) -> None:
    parent = add(store)
    child = add(store, after=(parent,))
    assert f"job {child}  pending" in gribmill("jobs", "show", str(parent)).out.partition("waited on by")[2]
    assert f"job {parent}  pending" in gribmill("jobs", "show", str(child)).out.partition("waits on")[2]


def test_manually_inserted_rows_are_shown_as_they_are(gribmill: Run, store: Store, data: Path) -> None:
    by_hand(data, "INSERT INTO jobs (type, args, created_at) VALUES ('odd', '[1]', 'yesterday')")
    assert gribmill("jobs", "show", "1").code == 0
    assert gribmill("jobs", "list").code == 0
    assert gribmill("jobs", "show", "1", "--json").json["job"]["args"] == [1]
    assert json.loads(gribmill("jobs", "list", "--json").out)["jobs"][0]["created_at"] is None


def test_a_missing_job_is_an_error_with_its_id(gribmill: Run) -> None:
    answer = gribmill("jobs", "show", "99")
    assert (answer.code, answer.err) == (1, "error: there is no job 99; it may have been pruned\n")
    assert gribmill("jobs", "show", "x").code == 2
    assert gribmill("jobs", "show", str(2**63)).code == 2


@pytest.mark.parametrize(
    "words",
    [("jobs", "show", "abc"), ("jobs", "cancel", "1,x"), ("triggers", "remove", "abc"), ("jobs", "show", "9" * 5000)],
)
def test_an_invalid_id_is_refused_with_the_same_message_everywhere(gribmill: Run, words: tuple[str, ...]) -> None:
    answer = gribmill(*words)
    assert answer.code == 2
    assert "is not an id; an id is a number, such as 12" in answer.err


def test_ids_that_are_given_but_empty_are_refused(gribmill: Run) -> None:
    assert gribmill("jobs", "cancel", ",").code == 2
