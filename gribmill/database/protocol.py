"""The seam between the queue's logic and a database: named statements inside transactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

Row = Mapping[str, Any]
Params = Mapping[str, Any] | Sequence[Any]
"""By name; by place in the statements that run for every job."""


class Transaction(Protocol):
    """Named statements that become true together, or not at all. `now` is one moment for all of them."""

    now: float
    stamp: str
    """`now` as database text."""
    lasting: bool
    """Whether its end waits for the disk, as it does unless told otherwise. What only living processes rely on need
    not: a power cut ends them too."""

    def rows(self, name: str, params: Params = ...) -> list[Row]:
        """Every row that the statement gives."""
        ...

    def change(self, name: str, params: Params = ...) -> int:
        """How many rows the statement changed."""
        ...

    def change_many(self, name: str, rows: Iterable[Params]) -> int:
        """The statement once for each of `rows`; how many rows it changed in all."""
        ...

    def insert(self, name: str, params: Params) -> int | None:
        """The id of the new row; None when the statement found an equal one."""
        ...


class Listener(Protocol):
    """Something to wait on: readable when another process may have made work."""

    def fileno(self) -> int: ...

    def drain(self) -> None:
        """Take the wake-ups that have come."""
        ...

    def close(self) -> None: ...


class Database(Protocol):
    """What a store needs of its database."""

    dialect: str

    def read(self) -> AbstractContextManager[Transaction]:
        """One consistent look, blocking nobody."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """One exclusive change: commits at the end, rolls back on any error."""
        ...

    def insert_alone(self, name: str, columns: Sequence[Any]) -> int:
        """One row, whose first column is this moment: a whole transaction by itself. Its id."""
        ...

    def changed(self) -> bool:
        """Whether another connection has committed since this thread last asked. Costs microseconds."""
        ...

    def announce(self) -> None:
        """Wake the workers that listen: there may be work. Losing it only costs them a poll."""
        ...

    def listener(self) -> Listener: ...

    def backup(self, target: Path) -> None:
        """A consistent copy, made while workers go on."""
        ...

    def invariants(self) -> tuple[str, ...]:
        """The statements that find rows which break a promise of the queue."""
        ...

    def integrity(self) -> list[str]:
        """What the database itself finds wrong with its file; empty when sound."""
        ...

    def close(self) -> None: ...
