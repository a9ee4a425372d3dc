"""The protocol that the verbs use: named statements on one connection, at one point in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from gribmill.queue.model import Enqueued, PreparedJob

RecordT = TypeVar("RecordT")
RawParams = Mapping[str, Any] | Sequence[Any]
"""Parameters: by name, or by position in statements that run for every job."""


class Row(Protocol):
    """One row, by column name."""

    def __getitem__(self, column: str, /) -> Any: ...


class Result(Protocol):
    @property
    def rowcount(self) -> int: ...


class Session(Protocol):
    """Below the protocol, times are text (`stamp`); above it, they are datetimes."""

    source_job: int | None
    wakes: bool
    """Set when a job became ready."""

    @property
    def seconds(self) -> float: ...

    @property
    def stamp(self) -> str: ...

    def query(self, record: type[RecordT], name: str, params: Mapping[str, Any] = ...) -> list[RecordT]: ...

    def first(self, record: type[RecordT], name: str, params: Mapping[str, Any] = ...) -> RecordT | None: ...

    def change(self, name: str, params: Mapping[str, Any] = ...) -> int: ...

    def send(self, name: str, params: RawParams = ...) -> None:
        """Run a statement whose result is not needed; it may wait for the next statement or the commit."""
        ...

    def execute(self, name: str, params: RawParams = ...) -> Result: ...

    def execute_many(self, name: str, rows: Iterable[RawParams]) -> int: ...

    def rows(self, name: str, params: RawParams = ...) -> Sequence[Row]: ...

    def after(self, seconds: float) -> str:
        """The time `seconds` from now."""
        ...

    def across_tenants(self) -> AbstractContextManager[None]:
        """Within this context, even a request for one tenant may read and change rows of other tenants."""
        ...

    def names_in(self, folder: str) -> Sequence[str]:
        """The statements in a folder."""
        ...


class WithJobs(Session, Protocol):
    """For verbs that enqueue."""

    def insert_jobs(self, jobs: Sequence[PreparedJob]) -> list[Enqueued]: ...

    def hold_groups(self, job_ids: Sequence[int]) -> None: ...
