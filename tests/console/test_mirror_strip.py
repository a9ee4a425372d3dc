"""The health of mirrors over the last days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gribmill.console.mirror_strip import mirror_strips
from gribmill.ingest.mirror import MirrorHealth
from gribmill.pipeline.status.mirror_status import mirror_status

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_mirror_that_became_sick_before_the_kept_events_is_shown_as_sick() -> None:
    for answered, share in ((None, 0.0), (NOW - timedelta(days=60), 0.0), (NOW - timedelta(days=3.5), 0.5)):
        health = MirrorHealth(
            "aws-hrrr", failures=9, open_until=NOW + timedelta(minutes=5), last_success=answered, last_reason="refused"
        )
        (strip,) = mirror_strips([mirror_status("aws-hrrr", health, NOW)], [], NOW)
        assert (strip.share, len(strip.sick)) == (share, 1)
        assert strip.sick[0].label.endswith(": refused")
