"""The result of a check of `doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from gribmill.identity import TileRef
from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.storage.open_root import root_of


@dataclass(frozen=True)
class Examination:
    """What the checks examine, and what they leave for `--fix`. The database is opened when a check first needs it, so
    that other checks run even if it is damaged."""

    settings: Settings
    fix: bool = False

    @property
    def root(self) -> DataRoot:
        return root_of(self.settings)

    @cached_property
    def context(self) -> Context:
        return make_context(self.settings)

    @cached_property
    def store(self) -> Store:
        return open_queue(self.settings)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of output. `good` is None for a note; `remedy` says what to do."""

    check: str
    good: bool | None
    detail: str
    remedy: str = ""
    lost: tuple[TileRef, ...] = ()
    """Tiles that `--fix` will rebuild."""


DoctorCheck = Callable[[Examination], Iterator[Finding]]
