"""Live before backfill, the newest run first, short hours first; scans before all."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from gribmill.identity import HourRef, run_id
from gribmill.pipeline.job_types import PRUNE_PRIORITY, SCAN_PRIORITY
from gribmill.pipeline.job_types import file_priority as hour_priority
from gribmill.queue.job_type import PRIORITY_LIMIT

RUN = datetime(2026, 11, 15, 6, tzinfo=UTC)


def file_priority(run: datetime, hour: int, *, live: bool) -> int:
    return hour_priority(HourRef("hrrr", run_id(run), hour), live=live)


def test_priorities_sort_as_users_wait() -> None:
    earlier = RUN - timedelta(hours=1)
    wanted = [
        SCAN_PRIORITY,
        file_priority(RUN, 0, live=True),
        file_priority(RUN, 1, live=True),
        file_priority(RUN, 840, live=True),
        file_priority(earlier, 0, live=True),
        file_priority(RUN, 0, live=False),
        file_priority(RUN, 48, live=False),
        file_priority(earlier, 0, live=False),
        PRUNE_PRIORITY,
    ]
    shuffled = random.Random(1).sample(wanted, len(wanted))
    assert sorted(shuffled, reverse=True) == wanted


def test_priorities_fit_the_queue_for_decades() -> None:
    far = datetime(2099, 12, 31, 18, tzinfo=UTC)
    assert file_priority(far, 0, live=True) < SCAN_PRIORITY <= PRIORITY_LIMIT
    assert file_priority(far, 0, live=False) < file_priority(datetime(2000, 1, 2, tzinfo=UTC), 384, live=True)
