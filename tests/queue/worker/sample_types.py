"""Job types whose handlers misbehave on request."""

from __future__ import annotations

import dataclasses
from typing import Any

from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.sleep import SLEEP


class StuntArgs(Args):
    do: str
    path: str = ""
    text: str = ""
    count: int = 0


class GroupArgs(Args):
    group: str
    n: int
    do: str = "ok"
    path: str = ""
    text: str = ""


def _stunt(key: str, **how: Any) -> JobType:
    settings: dict[str, Any] = {"lane": "fetch", "backoff_base_s": 0.05, "backoff_cap_s": 0.1, **how}
    return JobType(
        key=key, description="", args=StuntArgs, handler="tests.queue.worker.sample_handlers:run", **settings
    )


TYPES = Registry(
    dataclasses.replace(SLEEP, lane="fetch", backoff_base_s=0.05, backoff_cap_s=0.1),
    _stunt("stunt"),
    _stunt("other_lane", lane="build"),
    _stunt("once", timeout_seconds=600, max_attempts=1),
    _stunt("limited", max_running=1),
    _stunt("slow_to_retry", backoff_base_s=3600.0, backoff_cap_s=3600.0),
    JobType(
        key="group",
        description="",
        args=GroupArgs,
        lane="build",
        handler="tests.queue.worker.sample_handlers:run_group",
        batch_max=12,
        backoff_base_s=0.05,
        backoff_cap_s=0.1,
        group_by=lambda args: args.group,
    ),
)
TYPES_PATH = "tests.queue.worker.sample_types:TYPES"
