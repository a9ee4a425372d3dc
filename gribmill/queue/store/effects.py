"""Effects: changes to the application's records, applied in the transaction that ends an attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gribmill.database.protocol import Transaction
from gribmill.queue.errors import BadEffect
from gribmill.queue.model import Effect

Change = Callable[[Transaction], None]


class EffectReader(Protocol):
    """Interprets the effects of an application."""

    def prepare(self, effect: Effect) -> Change:
        """Validate an effect and return the change it makes; raises BadEffect. Called before the transaction begins."""
        ...


class NoEffects:
    """Rejects all effects, for queues that use none."""

    def prepare(self, effect: Effect) -> Change:
        raise BadEffect(f"this queue has no effect {effect.kind!r}")
