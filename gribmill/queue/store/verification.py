"""The queue's promises, checked on a live database."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.queue.store.base import Facet


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise: which one, where, how."""

    invariant: str
    job_id: int | None
    detail: str


class Verification(Facet):
    """Every statement below `verify` is an invariant that finds the rows which break it."""

    def verify(self) -> list[Violation]:
        """All invariants in one consistent look; empty when every promise holds."""
        found: list[Violation] = []
        with self.database.read() as tx:
            for name in self.database.invariants():
                for row in tx.rows(name):
                    found.append(Violation(name.removeprefix("verify/"), row["job_id"], row["detail"]))
        found += [Violation("database_sound", None, line) for line in self.database.integrity()]
        return found
