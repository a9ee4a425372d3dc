"""The queue itself: everything that can be done with jobs, on any database."""

from __future__ import annotations

from gribmill.queue.store.claims import Claims
from gribmill.queue.store.completion import Finishes
from gribmill.queue.store.enqueue import Enqueues
from gribmill.queue.store.operator_actions import Operations
from gribmill.queue.store.ordering import Order
from gribmill.queue.store.queries import Insights
from gribmill.queue.store.recovery import Recovery
from gribmill.queue.store.reservations import Reservations
from gribmill.queue.store.retention import Retention
from gribmill.queue.store.triggers import Triggers
from gribmill.queue.store.verification import Verification
from gribmill.queue.store.workers import Workers


class Store(
    Finishes,
    Triggers,
    Enqueues,
    Claims,
    Recovery,
    Operations,
    Order,
    Reservations,
    Workers,
    Retention,
    Insights,
    Verification,
):
    """One durable priority queue. Each concern is a file of this folder; the SQL is below `gribmill/database`."""


__all__ = ["Store", "queries", "reservations", "workers"]
