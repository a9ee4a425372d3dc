"""Effects: what the application records in the transaction that ends an attempt. The queue only carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gribmill.database.protocol import Transaction
from gribmill.queue.errors import BadEffect
from gribmill.queue.model import Effect

Change = Callable[[Transaction], None]


class EffectReader(Protocol):
    """The effects that an application knows."""

    def prepare(self, effect: Effect) -> Change:
        """The change that the effect asks for, or BadEffect. Called before the transaction begins."""
        ...


class NoEffects:
    """For queues whose handlers record nothing."""

    def prepare(self, effect: Effect) -> Change:
        raise BadEffect(f"this queue has no effect {effect.kind!r}")
