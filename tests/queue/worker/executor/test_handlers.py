"""Whatever a handler does affects its own job, never the worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.queue.worker.worker_driver import SteppedWorker, attempts, enqueue, holding, statuses

pytestmark = pytest.mark.process

RETRIED = {
    "nonsense": "returned int, which is not an outcome",
    "exit": "SystemExit: 0",
    "unsendable": "not JSON serializable",
    "too_large": "larger than the",
    "undecodable": "\\udcff",
    "empty_error": "",
    "endless_error": "xxx",
}
EXIT_CODES = {"exit": 0}
CRASHES = {
    "odd": "exit code 1",
    "interrupt": "SIGINT",
    "segfault": "SIGSEGV",
    "close_everything": "exit code",
}
CRASH_CODES = {"odd": 1, "interrupt": -2, "segfault": -11, "close_everything": 1}
FINAL = {
    "snooze_never": "between 0 and ten years",
    "snooze_words": "seconds",
    "then_unknown": "there is no job type 'no_such_type'",
    "then_bad_arguments": "seconds",
    "then_no_job": "then.0",
    "then_unstorable": "refused",
    "also_unknown": "the job's result was refused: there is no effect 'no_such_kind'",
    "also_incomplete": "the job's result was refused: pause: a field is missing",
    "also_garbled": "the job's result was refused: pause: Expecting property name",
    "also_no_text": "also.0.payload",
    "also_too_large": "refused",
}


def test_any_return_value_or_exception_of_a_handler_becomes_an_outcome(shared_worker: SteppedWorker) -> None:
    worker, store = shared_worker, shared_worker.store
    ids = {do: enqueue(store, do, max_attempts=2) for do in [*RETRIED, *FINAL]}
    worker.finish(*ids.values())
    for do, sentence in RETRIED.items():
        assert statuses(store, ids[do]) == ["failed", "failed"], do
        assert sentence in (store.jobs.get(ids[do]).error_message or ""), do
        assert store.jobs.get(ids[do]).dead_lettered_at is not None, do
        assert [attempt.exit_code for attempt in attempts(store, ids[do])] == [EXIT_CODES.get(do, 1)] * 2, do
    for do, sentence in FINAL.items():
        assert statuses(store, ids[do]) == ["failed"], do
        assert sentence in (store.jobs.get(ids[do]).error_message or ""), do
        assert store.jobs.get(ids[do]).dead_lettered_at is None, do
    assert worker.run("nothing")[0].status == "completed"


def test_a_handler_that_ends_its_process_costs_one_attempt(shared_worker: SteppedWorker) -> None:
    worker, store = shared_worker, shared_worker.store
    ids = {do: enqueue(store, do, max_attempts=1) for do in CRASHES}
    worker.finish(*ids.values())
    for do, sentence in CRASHES.items():
        (run,) = attempts(store, ids[do])
        assert run.status == "failed", do
        assert sentence in (run.error_text or ""), do
        assert run.exit_code == CRASH_CODES[do], do
    (segfault,) = attempts(store, ids["segfault"])
    assert segfault.stdout_tail == "the last words\n"
    assert "Fatal Python error: Segmentation fault" in (segfault.stderr_tail or "")
    assert worker.run("nothing")[0].status == "completed"


def test_follow_up_jobs_and_effects_are_applied_with_the_completion(shared_worker: SteppedWorker) -> None:
    worker, store = shared_worker, shared_worker.store
    worker.run("then_and_also")
    follower = store.jobs.list().jobs[0]
    assert follower.type == "other_lane"
    assert next(kind for kind in store.types.stats() if kind.type == "limited").paused
    assert worker.finish(follower.id)[0].status == "completed"
    store.types.resume("limited")


def test_a_refused_effect_leaves_nothing_of_its_job_behind_and_its_neighbours_alone(
    shared_worker: SteppedWorker,
) -> None:
    worker, store = shared_worker, shared_worker.store
    ids = [enqueue(store, do) for do in ("nothing", "then_and_refused_also", "nothing")]
    ended = [job.status for job in worker.finish(*ids)]
    assert ended == ["completed", "failed", "completed"]
    assert store.jobs.list().jobs[0].id == ids[-1], "no job followed"
    assert not next(kind for kind in store.types.stats() if kind.type == "limited").paused


def test_job_that_closes_its_stdout_does_not_affect_later_jobs(shared_worker: SteppedWorker, tmp_path: Path) -> None:
    worker, store = shared_worker, shared_worker.store
    assert worker.run("close_stdout")[0].status == "completed"
    assert worker.run("speak", text="still heard\n")[1][0].stdout_tail == "still heard\n"
    path = tmp_path / "go"
    job_id = enqueue(store, "close_pipe", path=str(path))
    pid = worker.until(lambda: holding(path), "the job to hold")
    worker.supervisor.run_once(0.0)
    # The end of a stream stays readable: it must not be selected again.
    assert worker.supervisor._selector.select(0.0) == [], "the worker would spin"
    path.touch()
    worker.finish(job_id)
    _, (run,) = worker.run("speak", text="heard again\n")
    assert run.stdout_tail == "heard again\n"
    assert run.pid != pid


def test_output_of_any_size_is_captured(shared_worker: SteppedWorker, tmp_path: Path) -> None:
    worker, store = shared_worker, shared_worker.store
    path = tmp_path / "go"
    babbler = enqueue(store, "babble", path=str(path))
    worker.until(lambda: holding(path), "the babbler")
    job, (run,) = worker.run("shout", "other_lane", count=5000)
    assert job.status == "completed"
    assert (run.stdout_tail or "").endswith("the end\n")
    path.touch()
    worker.finish(babbler)
    for job_id in (job.id, babbler):
        assert len(attempts(store, job_id)[0].stdout_tail or "") <= 8193


def test_invalid_bytes_in_the_channel_fail_the_job_that_wrote_them(
    shared_worker: SteppedWorker, tmp_path: Path
) -> None:
    args: dict[str, Any] = {"text": "\xff\xff\xff\xffrubbish", "path": str(tmp_path / "never"), "max_attempts": 1}
    job, _ = shared_worker.run("scribble", **args)
    assert job.status == "failed"
    assert "it sent nonsense" in (job.error_message or "")
    assert shared_worker.run("nothing")[0].status == "completed"
