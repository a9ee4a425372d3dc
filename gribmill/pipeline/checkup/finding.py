"""What a check of `doctor` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gribmill.identity import TileRef
from gribmill.pipeline.context import Context
from gribmill.queue.store import Store


@dataclass(frozen=True, slots=True)
class Examination:
    """What the checks look at, and what they leave for `--fix`."""

    context: Context
    store: Store
    fix: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `good` is None for what is worth knowing and not wrong; `remedy` says what to do."""

    check: str
    good: bool | None
    detail: str
    remedy: str = ""
    lost: tuple[TileRef, ...] = ()
    """Tiles that `--fix` brings back."""


DoctorCheck = Callable[[Examination], Iterator[Finding]]
