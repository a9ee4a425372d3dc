"""When a schedule is due: five cron fields in a time zone.

On days when clocks change it does as Debian's cron does: what falls into the hour that is left out comes right after
it, and what names an hour that comes twice comes once.
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
    """One cron expression in one time zone; or BadTrigger. Times come and go as UTC."""

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
            raise BadTrigger(f"{expression!r} is not a schedule: {str(error).lower()}") from None

    def after(self, moment: datetime) -> datetime | None:
        """The first slot after a moment; None when there is none in the next fifty years."""
        return next(self.since(moment + timedelta(microseconds=1)), None)

    def since(self, moment: datetime) -> Iterator[datetime]:
        """Every slot that is not before a moment."""
        slots = CronSim(self.expression, (moment - timedelta(seconds=1)).astimezone(self._zone))
        # In the hour that comes twice the iterator may begin with what came the first time.
        return (utc for utc in (slot.astimezone(UTC) for slot in slots) if utc >= moment)

    def latest(self, moment: datetime) -> datetime | None:
        """The last slot that is not after a moment."""
        # The iterator begins before what it is given, and a slot at the moment itself counts.
        just_after = moment.replace(microsecond=0) + timedelta(seconds=1)
        found = next(CronSim(self.expression, just_after.astimezone(self._zone), reverse=True), None)
        if found is None:
            return None
        # Backwards it passes over some slots of the hour that comes twice. Forwards is what counts.
        return max(takewhile(lambda slot: slot <= moment, self.since(found.astimezone(UTC))), default=None)


def check_zone(name: str) -> None:
    """BadTrigger when there is no such time zone."""
    _zone(name)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise BadTrigger(f"there is no time zone {name[:60]!r}; 'UTC' and 'America/New_York' are such names") from None
