"""Job types that together cover every rule of the store."""

from __future__ import annotations

from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry


class PlainArgs(Args):
    """A number to distinguish jobs."""

    n: int = 0


class TileArgs(Args):
    """An hour shared with siblings, and the job's own region."""

    hour: int = 0
    region: str = "ne"


class NeedyArgs(Args):
    """A required argument."""

    region: str
    hour: int = 0
    note: str = ""


def hour_of(args: TileArgs) -> str:
    return f"hour/{args.hour:03d}"


PLAIN = JobType("plain", "Nothing special.", PlainArgs, "test", None, backoff_base_s=10.0, backoff_cap_s=45.0)
UNIQUE = JobType("unique", "Equal arguments make equal jobs.", PlainArgs, "test", None, dedupe=True)
TILE = JobType("tile", "Siblings of an hour go together.", TileArgs, "test", None, batch_max=4, group_by=hour_of)
LIMITED = JobType(
    "limited", "Two batches at most.", TileArgs, "test", None, batch_max=2, max_running=2, group_by=hour_of
)
POLLING = JobType("polling", "Looks three times again.", PlainArgs, "test", None, poll_limit=3)
FRAGILE = JobType("fragile", "A lost attempt is the last.", PlainArgs, "test", None, on_lost="fail")
NEEDY = JobType("needy", "Asks for a region.", NeedyArgs, "test", None)

TYPES = Registry(PLAIN, UNIQUE, TILE, LIMITED, FRAGILE, POLLING, NEEDY)
# Types that run without arguments.
ALL = tuple(kind.key for kind in TYPES if kind is not NEEDY)
