"""The list of jobs, the page of one job, and their actions, over HTTP without scripts."""

from __future__ import annotations

import re
import threading

import pytest

from gribmill.console.frame import AnyStore
from gribmill.console.pages import bulk
from gribmill.console.pages.bulk import BulkAction
from gribmill.queue.model import ClaimRequest, Failed, NewJob, Report, Succeeded
from gribmill.queue.store import Store
from tests.console.visits import inline_content, visiting
from tests.server.live_server import LiveServer
from tests.waiting import wait_until

WORKER = "host-1-2f"
HOSTILE = "<script>alert('1')</script><img src=x onerror=alert(2)>"


def add(store: Store, count: int = 1, **options: object) -> list[int]:
    jobs = [NewJob("sleep", {"say": f"job {n}"}, **options) for n in range(count)]  # type: ignore[arg-type]
    return [made.id for made in store.jobs.enqueue_many(jobs)]


def run_one(store: Store, error: str | None = None, *, output: str = "") -> int:
    (job,) = store.claim(ClaimRequest(WORKER, ("sleep",), 60.0))
    outcome = Succeeded() if error is None else Failed(error, permanent=True)
    store.exchange(WORKER, [Report(job.ref, outcome, 0, output, output)])
    return job.id


def statuses(store: Store) -> dict[str, int]:
    return {status: n for (_, status), n in store.activity.counts().items()}


def test_the_list_shows_jobs_by_state_with_counts(dev_server: LiveServer) -> None:
    add(dev_server.store, 3)
    done = run_one(dev_server.store)
    failed = run_one(dev_server.store, "no route to host")
    with visiting(dev_server) as visit:
        everything = visit.page("/jobs")
        only_failed = visit.page("/jobs?status=failed")
    assert re.search(r"All <span class=\"n\">3</span>", everything)
    assert re.search(r"Failed <span class=\"n\">1</span>", everything)
    assert f"/jobs/{done}" in everything
    assert f"/jobs/{done}" not in only_failed
    assert "no route to host" in only_failed
    assert f'href="/jobs/{failed}"' in only_failed


def test_pages_are_linked_by_cursor_and_keep_the_search(dev_server: LiveServer) -> None:
    ids = add(dev_server.store, 60)
    with visiting(dev_server) as visit:
        first = visit.page("/jobs?status=pending&q=type:sleep")
        older = re.search(r'href="(/jobs\?[^"]*before=\d+)"', first)
        assert older is not None
        second = visit.page(older[1].replace("&amp;", "&"))
    assert f'value="{ids[-1]}"' in first
    assert f'value="{ids[0]}"' not in first
    assert f'value="{ids[0]}"' in second
    assert 'value="type:sleep"' in second
    assert "Newest" in second


@pytest.mark.parametrize(
    ("search", "error"),
    [
        ("colour:red", "cannot be searched for"),
        ("boom", "cannot be searched for"),
        ("group:none-such", "there is no group"),
        ("source:moon", "is not a job source"),
    ],
)
def test_invalid_search_is_refused_with_the_reason(dev_server: LiveServer, search: str, error: str) -> None:
    add(dev_server.store)
    with visiting(dev_server) as visit:
        shown = visit.page(f"/jobs?q={search}")
    assert error in shown
    assert "No jobs here" in shown


def test_searches_narrow_by_every_prefix(dev_server: LiveServer) -> None:
    store = dev_server.store
    group = store.groups.open("nightly")
    (grouped,) = (made.id for made in store.groups.add(group.id, [NewJob("sleep", {"say": "g"}, priority=-9)]))
    (correlated,) = add(store, correlation_id="chain-7", priority=-9)
    (running,) = add(store)
    store.claim(ClaimRequest(WORKER, ("sleep",), 60.0))
    with visiting(dev_server) as visit:
        for search, expected in (
            ("group:nightly", grouped),
            (f"group:{group.id}", grouped),
            ("correlation:chain-7", correlated),
            (f"worker:{WORKER}", running),
        ):
            found = re.findall(r'name="id" value="(\d+)"', visit.page(f"/jobs?q={search}"))
            assert found == [str(expected)], search
        assert f"Job {grouped}" in visit.page(f"/jobs?q={grouped}"), "a number alone leads to the job"


def test_search_without_an_index_continues_page_by_page(
    dev_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gribmill.console.pages.jobs.SEARCHED_AT_ONCE", 20)
    (wanted,) = add(dev_server.store, source="event", source_ref="1")
    add(dev_server.store, 30)
    with visiting(dev_server) as visit:
        first = visit.page("/jobs?q=source:event")
        assert "Searched down to job" in first and f'value="{wanted}"' not in first
        older = re.search(r'href="(/jobs\?[^"]*before=\d+)"', first)
        assert older is not None
        assert f'value="{wanted}"' in visit.page(older[1].replace("&amp;", "&"))


def test_a_job_shows_its_attempts_relatives_and_allowed_actions(dev_server: LiveServer) -> None:
    store = dev_server.store
    (parent,) = add(store)
    (child,) = add(store, after=(parent,))
    with visiting(dev_server) as visit:
        waiting = visit.page(f"/jobs/{child}")
        assert "after 1 other job" in waiting
        assert f'aria-label="Job {parent} sleep, queued"' in waiting
        assert f"/jobs/{child}/cancel" in waiting
        assert f"/jobs/{child}/retry" not in waiting
        run_one(store, "no route to host", output="what it printed")
        ended = visit.page(f"/jobs/{parent}")
    assert "what it printed" in ended
    assert "attempt 1 failed" in ended
    assert f"/jobs/{parent}/retry" in ended
    assert f"/jobs/{parent}/cancel" not in ended


def test_one_job_is_cancelled_and_retried(dev_server: LiveServer) -> None:
    store = dev_server.store
    (job,) = add(store)
    with visiting(dev_server) as visit:
        assert f"Job {job} was cancelled" in visit.post(f"/jobs/{job}/cancel")
        assert store.jobs.get(job).status == "cancelled"
        assert "has ended already" in visit.post(f"/jobs/{job}/cancel"), "the page says why nothing happened"
        page = visit.post(f"/jobs/{job}/retry")
    retry = store.jobs.list(limit=1).jobs[0]
    assert retry.retry_of == job
    assert f"Job {retry.id} retries job {job}" in page
    assert f"<h1>Job {retry.id}" in page


def test_waiting_jobs_are_moved_and_started(dev_server: LiveServer) -> None:
    store = dev_server.store
    first, second = add(store, 2)
    (late,) = add(store, delay_seconds=3600)
    with visiting(dev_server) as visit:
        visit.post(f"/jobs/{second}/move_to_front")
        assert [job.id for job in store.jobs.upcoming()][:2] == [second, first]
        visit.post(f"/jobs/{second}/move_to_back")
        assert [job.id for job in store.jobs.upcoming()] == [first, late, second]
        assert "Run now" in visit.page(f"/jobs/{late}")
        visit.post(f"/jobs/{late}/run_now")
    assert store.jobs.get(late).next_run_at is None


def test_bulk_action_shows_the_count_before_it_changes_anything(dev_server: LiveServer) -> None:
    store = dev_server.store
    ids = add(store, 60)
    with visiting(dev_server) as visit:
        asked = visit.post("/jobs/bulk", {"action": "cancel", "scope": "matching", "status": "pending", "q": ""})
        assert "Cancel 60 jobs?" in asked
        assert statuses(store) == {"pending": 60}, "nothing is changed before it is confirmed"
        (newcomer,) = add(store)
        confirmed = {"action": "cancel", "scope": "matching", "status": "pending", "confirmed": "60", "newest": ids[-1]}
        assert "60 jobs cancelled" in visit.post("/jobs/bulk", confirmed)
    assert statuses(store) == {"cancelled": 60, "pending": 1}
    assert store.jobs.get(newcomer).status == "pending", "what came after the question is not affected"


def test_a_bulk_action_on_a_selection_changes_only_what_it_can(dev_server: LiveServer) -> None:
    store = dev_server.store
    one, two, three = add(store, 3)
    ended = run_one(store)
    with visiting(dev_server) as visit:
        asked = visit.post("/jobs/bulk", {"action": "cancel", "scope": "selected", "id": [one, two, 999, "x"]})
        assert "Cancel 1 job?" in asked
        nothing = visit.post("/jobs/bulk", {"action": "retry", "scope": "selected", "id": [three]})
        assert "none of those selected can be retried" in nothing
        done = visit.post("/jobs/bulk", {"action": "cancel", "scope": "selected", "id": [one, two], "confirmed": "1"})
    assert ended == one
    assert "1 job cancelled" in done
    assert store.jobs.get(two).status == "cancelled"
    assert store.jobs.get(three).status == "pending"


def test_hostile_content_is_shown_as_text(dev_server: LiveServer) -> None:
    store = dev_server.store
    store.jobs.enqueue(NewJob("sleep", {"say": HOSTILE}, correlation_id=HOSTILE, created_by=HOSTILE))
    job = run_one(store, HOSTILE, output=HOSTILE)
    with visiting(dev_server) as visit:
        for path in ("/jobs", f"/jobs/{job}", f"/jobs?q={HOSTILE}", "/"):
            shown = visit.page(path)
            assert "<script>alert" not in shown
            assert "<img src=x" not in shown
            assert inline_content(shown) == []
        assert "&lt;script&gt;alert" in visit.page(f"/jobs/{job}")


def test_the_log_of_an_attempt_is_plain_text(dev_server: LiveServer) -> None:
    (job,) = add(dev_server.store)
    run_one(dev_server.store)
    folder = dev_server.settings.data_root / "logs" / "0"
    folder.mkdir(parents=True)
    (folder / f"{job}-1.log").write_text(HOSTILE)
    with visiting(dev_server) as visit:
        answer = visit.client.get(f"/jobs/{job}/attempts/1/log")
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.text == HOSTILE
        assert "has no log" in visit.page(f"/jobs/{job}/attempts/2/log", 404)


def test_unknown_job_is_a_not_found_page(dev_server: LiveServer) -> None:
    with visiting(dev_server) as visit:
        assert "There is no job 77" in visit.page("/jobs/77", 404)
        assert "there is no job" in visit.post("/jobs/77/cancel", status=404).lower()
        assert "/jobs" in visit.page("/jobs/none", 422)


def test_local_visitor_without_a_token_can_only_read(live_server: LiveServer) -> None:
    (job,) = add(live_server.store)
    with visiting(live_server) as visit:
        shown = visit.page(f"/jobs/{job}")
        assert "<form" not in shown.replace('action="/logout"', "")
        answer = visit.client.post(f"/jobs/{job}/cancel")
    assert answer.status_code == 401
    assert live_server.store.jobs.get(job).status == "pending"


def test_cross_site_form_changes_nothing(dev_server: LiveServer) -> None:
    (job,) = add(dev_server.store)
    with visiting(dev_server, **{"Sec-Fetch-Site": "cross-site"}) as visit:
        assert visit.client.post(f"/jobs/{job}/cancel").status_code == 403
    assert dev_server.store.jobs.get(job).status == "pending"


def test_a_bulk_action_on_many_jobs_shows_its_progress(dev_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    store, gate, reached = dev_server.store, threading.Event(), threading.Event()
    ids = add(store, 30)
    act = bulk.act_on

    def act_and_wait(handle: AnyStore, action: BulkAction, job_id: int, by: str) -> None:
        if job_id == ids[6]:
            reached.set()
            assert gate.wait(60)
        act(handle, action, job_id, by)

    monkeypatch.setattr("gribmill.server.state.bulk.AT_ONCE", 20)
    monkeypatch.setattr("gribmill.console.routes.bulk.act_on", act_and_wait)
    confirmed = {"action": "cancel", "scope": "matching", "status": "pending", "confirmed": "yes"}
    with visiting(dev_server) as visit:
        answer = visit.client.post("/jobs/bulk", data=confirmed)
        progress = answer.headers["location"]
        assert progress.startswith("/jobs/bulk/")
        assert reached.wait(60)
        shown = visit.page(progress)
        assert "Cancelling 30 jobs" in shown and "6 of 30 so far (20 %)" in shown
        with visiting(dev_server, dev_server.token("tenant_admin", "acme")) as stranger:
            stranger.page(progress, 404)
        gate.set()
        wait_until(lambda: "30 jobs cancelled" in visit.page(progress))
        assert "data-refresh-seconds" not in visit.page(progress), "nothing changes any more"
    assert statuses(store) == {"cancelled": 30}


def test_a_job_that_was_retried_is_not_retried_with_all_that_match(dev_server: LiveServer) -> None:
    store = dev_server.store
    add(store, 2)
    first, _ = run_one(store, "broken"), run_one(store, "broken")
    store.jobs.retry(first)
    with visiting(dev_server) as visit:
        assert "Retry 1 job?" in visit.post("/jobs/bulk", {"action": "retry", "scope": "matching", "status": "failed"})


def test_a_number_never_matches_all_jobs(dev_server: LiveServer) -> None:
    (job,) = add(dev_server.store)
    fields = {"action": "cancel", "scope": "matching", "q": str(job), "confirmed": "yes"}
    with visiting(dev_server) as visit:
        assert "Open the job to change it." in visit.post("/jobs/bulk", fields)
    assert statuses(dev_server.store) == {"pending": 1}


def test_more_jobs_than_one_action_may_change_are_refused(
    dev_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(dev_server.store, 6)
    monkeypatch.setattr("gribmill.console.pages.bulk.MOST", 5)
    fields = {"action": "cancel", "scope": "matching", "confirmed": "yes"}
    with visiting(dev_server) as visit:
        assert "Too many jobs" in visit.post("/jobs/bulk", fields)
    assert statuses(dev_server.store) == {"pending": 6}
