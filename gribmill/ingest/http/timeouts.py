"""How long a request may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. A request as a whole may take `base` and what its bytes need at the slowest bearable speed.

    `base` alone is for all that comes before the body, `page` for all of a listing or an index.
    """

    connect: float = 10.0
    read: float = 30.0
    base: float = 60.0
    # The longest index, that of ECMWF's ensemble, has some 2 MB.
    page: float = 60.0
    slowest_bytes_per_second: float = 50_000.0
    turn: float = 20.0

    def total(self, length: int) -> float:
        """The longest time for that many bytes."""
        return self.base + length / self.slowest_bytes_per_second
