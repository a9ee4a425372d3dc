"""What keeps a queue healthy: lost jobs come back, old ones go."""

from __future__ import annotations

from gribmill.queue.store.recovery import Recovery
from gribmill.queue.store.retention import Retention


class Upkeep(Recovery, Retention):
    """Any worker may do it at any time; none has to."""
