"""Jobs: put in, listed, moved, cancelled, retried."""

from __future__ import annotations

from gribmill.queue.store.enqueue import Enqueueing
from gribmill.queue.store.operator_actions import OperatorActions
from gribmill.queue.store.ordering import Ordering
from gribmill.queue.store.queries import Listing


class Jobs(Enqueueing, Listing, OperatorActions, Ordering):
    """Everything that is asked of, or done to, single jobs."""
