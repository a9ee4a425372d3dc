"""When a schedule is due: five cron fields in a time zone.

Clock changes are handled as in Debian's cron: a slot in the skipped hour fires right after it, and a slot in the
repeated hour fires once.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from gribmill.queue.errors import BadTrigger

LONGEST_EXPRESSION = 200


class CronSchedule:
    """One cron expression in one time zone; raises BadTrigger if either is invalid. Takes and returns UTC times."""

    def __init__(self, expression: str, timezone: str) -> None:
        self.expression = expression
        self._zone = _zone(timezone)
        if len(expression) > LONGEST_EXPRESSION or len(expression.split()) != 5:
            raise BadTrigger(
                f"{expression[:60]!r} is not a schedule: it needs five fields (minute, hour, day of month, month,"
                " day of week), such as '*/10 * * * *' or '30 6 * * 1-5'"
            )
        try:
            CronSim(expression, datetime.now(self._zone))
        except CronSimError as error:
            field = str(error).lower().removeprefix("bad ").replace("-", " ")
            raise BadTrigger(f"{expression!r} is not a schedule: its {field} is wrong") from None

    def after(self, moment: datetime) -> datetime | None:
        """The first slot after `moment`; None if there is none within fifty years."""
        return next(self.since(moment + timedelta(microseconds=1)), None)

    def since(self, moment: datetime) -> Iterator[datetime]:
        """All slots at or after `moment`."""
        slots = CronSim(self.expression, (moment - timedelta(seconds=1)).astimezone(self._zone))
        # In the repeated hour, the iterator may start with slots of its first occurrence.
        return (utc for utc in (slot.astimezone(UTC) for slot in slots) if utc >= moment)

    def latest(self, moment: datetime) -> datetime | None:
        """The last slot at or before `moment`."""
        # The iterator excludes its start, but a slot at the moment itself counts.
        just_after = moment.replace(microsecond=0) + timedelta(seconds=1)
        found = next(CronSim(self.expression, just_after.astimezone(self._zone), reverse=True), None)
        if found is None:
            return None
        # Backward iteration skips some slots of the repeated hour, so iterate forward from what it found.
        return max(takewhile(lambda slot: slot <= moment, self.since(found.astimezone(UTC))), default=None)


def check_cron(expression: str) -> None:
    """Raise BadTrigger if it is not a schedule."""
    CronSchedule(expression, "UTC")


def check_zone(name: str) -> None:
    """Raise BadTrigger if there is no such time zone."""
    _zone(name)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise BadTrigger(f"there is no time zone {name[:60]!r}; 'UTC' and 'America/New_York' are such names") from None
