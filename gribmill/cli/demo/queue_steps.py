"""The queue part of the demo. A step's docstring is its title; its results are checked in the database."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from itertools import pairwise

from gribmill.cli.demo.stage import LEASE_SECONDS, Stage
from gribmill.queue.model import Attempt, Job
from gribmill.queue.store.jobs.listing import JobFilter

ORDINARY = 10
DELAY_SECONDS = 3


def fill(stage: Stage) -> None:
    """Jobs are enqueued; higher priority runs first, then first in, first out"""
    lines = "".join(f'{{"seconds": 0.3, "say": "job {n}"}}\n' for n in range(1, ORDINARY + 1))
    pipe = f"""seq {ORDINARY} | sed 's/.*/{{"seconds": 0.3, "say": "job &"}}/'"""
    stage.gribmill("jobs", "enqueue", "sleep", "-", stdin=lines, pipe=pipe)
    stage.enqueue("low", '{"say": "I can wait"}', "--priority=-5")
    stage.enqueue("urgent", '{"say": "me first"}', "--priority", "10")
    stage.enqueue("moved", '{"say": "pushed ahead"}')
    stage.gribmill("jobs", "move", str(stage.ids["moved"]), "--front")
    stage.gribmill("jobs", "list", "--queue")
    ids = [job.id for job in stage.store.jobs.upcoming()]
    stage.check(
        ids[:2] == [stage.ids["urgent"], stage.ids["moved"]] and ids[-1] == stage.ids["low"],
        "the order is by priority, then position, then arrival",
    )


def delay(stage: Stage) -> None:
    """A job can be delayed"""
    stage.enqueue("delayed", '{"say": "now is my time"}', "--delay", str(DELAY_SECONDS), "--priority", "99")


def deduplicate(stage: Stage) -> None:
    """A job is not enqueued twice while an equal one is active"""
    first = stage.enqueue("nightly", '{"say": "once is enough"}', "--dedupe", "nightly")
    stage.gribmill("jobs", "enqueue", "sleep", '{"say": "once is enough"}', "--dedupe", "nightly")
    stage.check(stage.newest() == first, "the second call enqueued no second job")


def fail(stage: Stage) -> None:
    """Jobs fail in three ways, and invalid arguments are refused"""
    stage.enqueue("once", '{"fail": "once"}')
    stage.enqueue("permanent", '{"fail": "permanently"}')
    stage.enqueue("always", '{"fail": "always"}', "--max-attempts", "2")
    code = stage.gribmill("jobs", "enqueue", "sleep", '{"secnds": 1}')
    stage.check(code == 1, "a job with a misspelt argument was refused, and the error names it")


def kill_worker(stage: Stage) -> None:
    """A worker starts, and is killed with kill -9 while it runs jobs"""
    worker = stage.start_worker()
    busy = JobFilter(status="processing")
    stage.wait_until(
        "the first worker runs jobs",
        lambda: stage.count("completed") >= 3 and len(stage.store.jobs.list(busy).jobs) == 2,
    )
    stage.say(f"$ kill -9 {worker.pid}")
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    stage.gribmill("jobs", "list", "--status", "processing")
    stage.gribmill("workers")
    stage.say(f"{len(stage.store.jobs.list(busy).jobs)} jobs have a dead worker, and the queue does not know it yet.")


def recover(stage: Stage) -> None:
    """A second worker recovers the jobs of the dead one, and finishes all"""
    stage.start_worker()
    stage.wait_until("every job has ended", lambda: stage.count("pending", "processing") == 0)
    stage.gribmill("jobs", "list", "--limit", "20")
    jobs = stage.store.jobs.list(limit=1000).jobs
    attempts = {job.id: stage.store.jobs.history(job.id).attempts for job in jobs}
    lost = [job_id for job_id, tries in attempts.items() if any(one.status == "lost" for one in tries)]
    stage.check(
        bool(lost) and all(stage.store.jobs.get(job_id).status == "completed" for job_id in lost),
        f"the killed worker's jobs ({', '.join(map(str, lost))}) ran again, {LEASE_SECONDS:g} s after its heartbeat",
    )
    if lost:
        stage.gribmill("jobs", "show", str(lost[0]))
    good = [job for job in jobs if job.status == "completed"]
    once = all(sum(one.status == "succeeded" for one in attempts[job.id]) == 1 for job in good)
    stage.check(once and len(good) == len(jobs) - 2, f"all {len(good)} valid jobs completed, each exactly once")
    _check_order(stage, attempts)
    _check_failures(stage, attempts)


def _check_order(stage: Stage, attempts: dict[int, tuple[Attempt, ...]]) -> None:
    named = stage.ids
    order = [named["urgent"], named["moved"], *range(1, ORDINARY + 1), named["low"]]
    starts = [_first_start(attempts[job_id]) for job_id in order]
    stage.check(all(before <= after for before, after in pairwise(starts)), "they started in the order of the queue")
    delayed = stage.store.jobs.get(named["delayed"])
    assert delayed.created_at is not None
    waited = (_first_start(attempts[delayed.id]) - delayed.created_at).total_seconds()
    stage.check(waited >= DELAY_SECONDS, f"the delayed job waited {waited:.1f} s, in spite of its priority")


def _first_start(tries: tuple[Attempt, ...]) -> datetime:
    assert tries and tries[0].started_at is not None
    return tries[0].started_at


def _check_failures(stage: Stage, attempts: dict[int, tuple[Attempt, ...]]) -> None:
    def job(name: str) -> tuple[Job, list[str]]:
        return stage.store.jobs.get(stage.ids[name]), [one.status for one in attempts[stage.ids[name]]]

    once, tries = job("once")
    stage.check(
        once.status == "completed" and tries.count("failed") == 1, "the job that failed once was retried and completed"
    )
    permanent, tries = job("permanent")
    stage.check(
        permanent.status == "failed" and permanent.dead_lettered_at is None and tries.count("failed") == 1,
        "the job with a permanent failure was not retried",
    )
    always, tries = job("always")
    stage.check(
        always.dead_lettered_at is not None and len(tries) == 2,
        "the job that always fails is a dead letter after 2 attempts",
    )


def cancel(stage: Stage) -> None:
    """A running job is cancelled, and its process ends"""
    job_id = stage.enqueue("long", '{"seconds": 600}')
    stage.wait_until("the long job runs", lambda: stage.store.jobs.get(job_id).status == "processing")
    stage.gribmill("jobs", "cancel", str(job_id), "--reason", "seen enough")
    stage.wait_until("the job is cancelled", lambda: stage.store.jobs.get(job_id).status == "cancelled")
    pid = stage.store.jobs.history(job_id).attempts[-1].pid
    stage.check(pid is not None and not _is_alive(pid), f"process {pid}, which ran it, has ended")


def _is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)  # signal 0 only checks
        return True
    return False


def look(stage: Stage) -> None:
    """Statistics, a backup, and every invariant checked on the live database"""
    stage.gribmill("jobs", "stats")
    code = stage.gribmill("jobs", "backup", str(stage.folder / "backup.db"))
    stage.check(code == 0, "a consistent copy was made while the worker ran")
    stage.check(stage.gribmill("jobs", "verify") == 0, "verify finds that all invariants hold")


def drain(stage: Stage) -> None:
    """The worker is stopped: it finishes its running jobs, then ends"""
    job_id = stage.enqueue("last", '{"seconds": 1, "say": "let me finish"}')
    stage.wait_until("the last job runs", lambda: stage.store.jobs.get(job_id).status == "processing")
    worker = stage.workers[-1]
    stage.say(f"$ kill -TERM {worker.pid}")
    worker.terminate()
    stage.wait_until("the worker ends", lambda: worker.poll() is not None)
    done = worker.returncode == 0 and stage.store.jobs.get(job_id).status == "completed"
    stage.check(done, "the running job was completed before the worker ended")
    stage.gribmill("workers", "--all")


QUEUE_STEPS: list[Callable[[Stage], None]] = [
    fill,
    delay,
    deduplicate,
    fail,
    kill_worker,
    recover,
    cancel,
    look,
    drain,
]
