"""The `sleep` job, for trying out the queue."""

from __future__ import annotations

import os
import signal
import sys
import time

from gribmill.queue.job_type import JobType
from gribmill.queue.model import Snoozed, Succeeded
from gribmill.queue.worker.task import PermanentFailure, Task


def run(task: Task) -> Succeeded | Snoozed:
    """Sleep, print, then succeed or fail as requested."""
    from gribmill.queue.arguments import SleepArgs  # imported here so that listing types does not load pydantic

    args = task.args_as(SleepArgs)
    if args.say:
        sys.stdout.write(args.say + "\n")
    time.sleep(args.seconds)
    if args.snooze_seconds is not None and task.attempt_no == 1:
        return Snoozed(args.snooze_seconds, "asked to come back later")
    if args.fail == "permanently":
        raise PermanentFailure("asked to fail for good")
    if args.fail == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if args.fail == "always" or (args.fail == "once" and task.attempt_no == 1):
        raise RuntimeError(f"asked to fail ({args.fail})")
    return Succeeded()


SLEEP = JobType(
    key="sleep",
    description="Sleeps, prints and fails on request: for trying the queue.",
    args="gribmill.queue.arguments:SleepArgs",
    lane="default",
    handler="gribmill.queue.sleep:run",
    timeout_seconds=3600,
    max_attempts=3,
    backoff_base_s=1.0,
    backoff_cap_s=60.0,
)
