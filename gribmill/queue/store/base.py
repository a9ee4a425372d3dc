"""What all facets of the store share: the database, the job types in effect, and the repeat after a conflict.

In effect are the types declared in code, as tuned by operators, and types that operators added.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import random
import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from gribmill.database.protocol import Database, Snapshot
from gribmill.queue.command import make_command_type
from gribmill.queue.errors import BadDefinition, JobNotFound, NotAllowed, StoreConflict
from gribmill.queue.job_type import JobType, Registry, canonical_json
from gribmill.queue.model import TUNABLE, Definition, Job

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger("gribmill.queue")

# Ids are 64-bit signed integers.
ID_LIMIT = 2**63
# How often definitions are read.
LOOK_SECONDS = 1.0
TRIES = 3
LONGEST_WAIT_SECONDS = 0.05


class Facet:
    """One noun of the store: its database, and the job types in force."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self.database = database
        self.registry = KnownTypes.over(database, registry)


class KnownTypes(Registry):
    """A registry with the values of the stored definitions. Call `refresh` outside a transaction only."""

    def __init__(self, database: Database, declared: Registry) -> None:
        super().__init__(*declared, command_handler=declared.command_handler)
        self.declared = declared
        self.inactive: frozenset[str] = frozenset()
        self.generation = 0
        """Changes whenever any type changes."""
        self._database = database
        self._rows: Sequence[Definition] = ()
        self._looked_up = -math.inf

    @classmethod
    def over(cls, database: Database, registry: Registry) -> KnownTypes:
        return registry if isinstance(registry, KnownTypes) else cls(database, registry)

    def refresh(self) -> None:
        """Read the definitions at most once a second: they rarely change, and jobs arrive by the thousand."""
        if time.monotonic() >= self._looked_up + LOOK_SECONDS:
            self._looked_up = time.monotonic()
            with self._database.read() as tx:
                self.load(tx.query(Definition, "types/list"))

    def expect(self, key: str) -> JobType:
        """The type, even if another process added it within the last second."""
        if key not in self:
            self.forget()
            self.refresh()
        return self[key]

    def refuse_inactive(self, types: set[str]) -> None:
        """Refuse jobs of inactive or unknown types, which would wait forever."""
        for key in types:
            _ = self[key]
        if off := types & self.inactive:
            raise NotAllowed(f"{min(off)} is inactive: its jobs are neither accepted nor run")

    def forget(self) -> None:
        """Read the definitions again at the next refresh, because one has changed."""
        self._looked_up = -math.inf

    def load(self, rows: Sequence[Definition]) -> None:
        """Load the stored definitions."""
        if rows == self._rows:
            return
        self._rows = rows
        self.generation += 1
        self.inactive = frozenset(row.key for row in rows if not row.is_active)
        types = {kind.key: kind for kind in self.declared}
        for row in rows:
            if row.key in types:
                types[row.key] = dataclasses.replace(types[row.key], **_tuned(row))
            elif kind := self._made_by_operator(row):
                types[row.key] = kind
        self._types = types

    def _made_by_operator(self, row: Definition) -> JobType | None:
        """A type with a command; None for a type of another version, or a damaged row."""
        if row.command is None or self.command_handler is None:
            return None
        try:
            schema_text = canonical_json(row.arg_schema)
            tuned = {**_tuned(row), "description": row.description}
            return make_command_type(row.key, self.command_handler, row.command, schema_text, **tuned)
        except (BadDefinition, ValueError) as error:
            log.error("the definition %s cannot be used: %s", row.key, error)
            return None


def _tuned(row: Definition) -> dict[str, Any]:
    defaults = row.default_args if isinstance(row.default_args, dict) else {}
    return {**{name: getattr(row, name) for name in TUNABLE}, "default_args": defaults or None}


def get_job(tx: Snapshot, job_id: int) -> Job:
    """The job, or JobNotFound."""
    job = tx.first(Job, "jobs/get", {"job_id": job_id}) if 0 < job_id < ID_LIMIT else None
    if job is None:
        raise JobNotFound(f"there is no job {job_id}; it may have been pruned")
    return job


def retried(action: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function of one transaction: runs it again if a conflict or deadlock rolled it back."""

    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return action(*args, **kwargs)
            except StoreConflict:
                # Keeps the two from colliding again.
                time.sleep(random.uniform(0, LONGEST_WAIT_SECONDS))  # noqa: S311
        return action(*args, **kwargs)

    return run
