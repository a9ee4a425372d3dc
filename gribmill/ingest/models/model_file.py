"""The schema of a model's TOML file. Unknown keys are rejected."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from gribmill.checked.constraints import After, Bounds, Length, Matches
from gribmill.checked.problem import CheckFailed
from gribmill.checked.read import read
from gribmill.errors import shortened
from gribmill.ingest.errors import ModelError
from gribmill.ingest.mirrors.mirror import IndexKind
from gribmill.toml_table import read_toml

FILE_LIMIT_BYTES = 500_000


def _on_the_hour(moment: datetime) -> datetime:
    if moment.minute or moment.second or moment.microsecond:
        raise ValueError("runs begin on the hour")
    return moment


_Name = Annotated[str, Matches(r"[a-z0-9][a-z0-9_-]{0,29}")]
_RunTime = Annotated[datetime, After(_on_the_hour)]
_Steps = Annotated[str, Length(most=400)]
_Words = Annotated[str, Length(most=1000)]
_Minutes = Annotated[float, Bounds(ge=0, le=10_000)]


@dataclass(frozen=True, kw_only=True)
class Dated:
    """A table for runs from one time (inclusive) until another (exclusive)."""

    begins: _RunTime | None = dataclasses.field(default=None, metadata={"key": "from"})
    ends: _RunTime | None = dataclasses.field(default=None, metadata={"key": "until"})


@dataclass(frozen=True, kw_only=True)
class MirrorTable(Dated):
    """One mirror; the best one comes first."""

    name: _Name
    root: _Words
    host: _Name = "other"


@dataclass(frozen=True, kw_only=True)
class LayoutTable(Dated):
    """How keys are formed, for all or only some cycles or mirrors; the first match is used."""

    key: _Words
    index: IndexKind | None = None
    cycles: _Steps | None = None
    mirrors: tuple[_Name, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class HoursTable(Dated):
    """Which cycles run and which hours they have; the first match is used."""

    cycles: _Steps
    steps: _Steps
    # Hours differ from run to run: the listing shows them, and `steps` are the possible hours.
    discover: bool = False


@dataclass(frozen=True, kw_only=True)
class LatencyTable:
    """Publishing times: [hour, usual minutes, late minutes] after the run's start."""

    points: Annotated[tuple[tuple[int, _Minutes, _Minutes], ...], Length(1, 100)]
    cycles: _Steps | None = None
    mirror: _Name | None = None
    measured: bool = False

    def __post_init__(self) -> None:
        hours = [hour for hour, _, _ in self.points]
        if hours != sorted(set(hours)) or any(late < usual for _, usual, late in self.points):
            raise ValueError("hours must increase, and an hour cannot be late before it usually arrives")


@dataclass(frozen=True, kw_only=True)
class MemberTable(Dated):
    """One member, or several with `numbers`: {n} and {nn} are replaced by each number."""

    id: Annotated[str, Matches(r"[a-z0-9{}]{1,12}")]
    numbers: _Steps | None = None
    token: Annotated[str, Matches(r"[A-Za-z0-9_{}]{0,30}")] = ""
    extra: tuple[_Words, ...] | None = None
    minutes: Annotated[int, Bounds(ge=-1440, le=0)] = 0


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """A model's TOML file."""

    title: _Words
    grid: _Name | None = None
    index: IndexKind
    extra: Annotated[tuple[_Words, ...], Length(1)] = ("",)
    licence: _Words
    attribution: _Words
    variables: Annotated[tuple[Annotated[str, Matches(r"[a-z][a-z0-9_]{0,39}")], ...], Length(1, 1000)]
    mirrors: Annotated[tuple[MirrorTable, ...], Length(1, 20)]
    layouts: Annotated[tuple[LayoutTable, ...], Length(1, 50)]
    hours: Annotated[tuple[HoursTable, ...], Length(1, 50)]
    latency: tuple[LatencyTable, ...] = ()
    members: Annotated[tuple[MemberTable, ...], Length(most=200)] = ()
    sample: _Name | None = None
    sns_topic: _Words | None = None
    scan_seconds: Annotated[int, Bounds(ge=5, le=3600)] = 60
    give_up_hours: Annotated[int, Bounds(ge=1, le=1000)] = 24
    stale_hours: Annotated[int, Bounds(ge=1, le=1000)] = 3

    def __post_init__(self) -> None:
        names = [mirror.name for mirror in self.mirrors]
        used = {name for layout in self.layouts for name in layout.mirrors or ()}
        used |= {row.mirror for row in self.latency if row.mirror}
        if len(set(names)) < len(names) or not used <= set(names):
            raise ValueError(f"mirrors need different names, and only {', '.join(names)} can be referred to")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("a variable is listed twice")
        if any("{member}" in layout.key for layout in self.layouts) and not self.members:
            raise ValueError("a key with {member} needs [[members]]")


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises a ModelError that names the file."""
    return read_toml(path, FILE_LIMIT_BYTES, ModelError, "a model")


def check_tables(tables: Mapping[str, Any], source: str) -> ModelFile:
    """The tables as a ModelFile. Raises a ModelError that names the source and up to five wrong keys."""
    try:
        return read(ModelFile, tables)
    except CheckFailed as error:
        sentences = []
        for problem in error.problems[:5]:
            place = shortened(problem.key, 200)
            sentences.append(f"{place}: {problem.text}" if place else problem.text)
        raise ModelError(f"{source}: {'; '.join(sentences)}") from None
