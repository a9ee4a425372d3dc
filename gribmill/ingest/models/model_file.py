"""The schema of a model's TOML file. Unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from gribmill.errors import shortened
from gribmill.ingest.errors import ModelError
from gribmill.ingest.mirrors.mirror import IndexKind
from gribmill.regular_file import open_regular
from gribmill.toml_table import parse_toml

FILE_LIMIT_BYTES = 500_000


def _on_the_hour(moment: datetime) -> datetime:
    if moment.minute or moment.second or moment.microsecond:
        raise ValueError("runs begin on the hour")
    return moment.astimezone(UTC)


_Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,29}$")]
_RunTime = Annotated[AwareDatetime, AfterValidator(_on_the_hour)]
_Steps = Annotated[str, Field(max_length=400)]
_Words = Annotated[str, Field(max_length=1000)]
_Minutes = Annotated[float, Field(ge=0, le=10_000)]


class Table(BaseModel):
    """A table of a model's file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Dated(Table):
    """A table for runs from one time (included) until another (not included)."""

    begins: _RunTime | None = Field(None, alias="from")
    ends: _RunTime | None = Field(None, alias="until")


class MirrorTable(Dated):
    """One mirror; the best comes first."""

    name: _Name
    root: _Words
    host: _Name = "other"


class LayoutTable(Dated):
    """How keys are formed, for some cycles or mirrors or for all; the first that fits is used."""

    key: _Words
    index: IndexKind | None = None
    cycles: _Steps | None = None
    mirrors: tuple[_Name, ...] | None = None


class HoursTable(Dated):
    """Which cycles run and which hours they have; the first that fits is used."""

    cycles: _Steps
    steps: _Steps
    # Hours differ from run to run: the listing shows them, and `steps` are the possible ones.
    discover: bool = False


class LatencyTable(Table):
    """Publishing times: [hour, usual minutes, late minutes] after the run began."""

    points: Annotated[tuple[tuple[int, _Minutes, _Minutes], ...], Field(min_length=1, max_length=100)]
    cycles: _Steps | None = None
    mirror: _Name | None = None
    measured: bool = False

    @model_validator(mode="after")
    def _rising(self) -> LatencyTable:
        hours = [hour for hour, _, _ in self.points]
        if hours != sorted(set(hours)) or any(late < usual for _, usual, late in self.points):
            raise ValueError("hours must increase, and an hour cannot be late before it usually arrives")
        return self


class MemberTable(Dated):
    """One member, or many with `numbers`: in the texts, {n} and {nn} are replaced by each number."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9{}]{1,12}$")]
    numbers: _Steps | None = None
    token: Annotated[str, Field(pattern=r"^[A-Za-z0-9_{}]{0,30}$")] = ""
    extra: tuple[_Words, ...] | None = None
    minutes: Annotated[int, Field(ge=-1440, le=0)] = 0


class ModelFile(Table):
    """A model."""

    title: _Words
    grid: _Name | None = None
    index: IndexKind
    extra: Annotated[tuple[_Words, ...], Field(min_length=1)] = ("",)
    licence: _Words
    attribution: _Words
    variables: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")], ...], Field(min_length=1, max_length=1000)
    ]
    mirrors: Annotated[tuple[MirrorTable, ...], Field(min_length=1, max_length=20)]
    layouts: Annotated[tuple[LayoutTable, ...], Field(min_length=1, max_length=50)]
    hours: Annotated[tuple[HoursTable, ...], Field(min_length=1, max_length=50)]
    latency: tuple[LatencyTable, ...] = ()
    members: Annotated[tuple[MemberTable, ...], Field(max_length=200)] = ()
    sample: _Name | None = None
    sns_topic: _Words | None = None
    scan_seconds: Annotated[int, Field(ge=5, le=3600)] = 60
    give_up_hours: Annotated[int, Field(ge=1, le=1000)] = 24
    stale_hours: Annotated[int, Field(ge=1, le=1000)] = 3

    @model_validator(mode="after")
    def _consistent(self) -> ModelFile:
        names = [mirror.name for mirror in self.mirrors]
        used = {name for layout in self.layouts for name in layout.mirrors or ()}
        used |= {row.mirror for row in self.latency if row.mirror}
        if len(set(names)) < len(names) or not used <= set(names):
            raise ValueError(f"mirrors need different names, and only {', '.join(names)} can be referred to")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("a variable is listed twice")
        if any("{member}" in layout.key for layout in self.layouts) and not self.members:
            raise ValueError("a key with {member} needs [[members]]")
        return self


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, or a ModelError that names it."""
    try:
        with open_regular(path) as file:
            data = file.read(FILE_LIMIT_BYTES + 1)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > FILE_LIMIT_BYTES:
        raise ModelError(f"{path} is larger than {FILE_LIMIT_BYTES} bytes, too large for a model")
    try:
        return parse_toml(data.decode())
    except UnicodeDecodeError:
        raise ModelError(f"{path} is not valid TOML: it is not UTF-8") from None
    except ValueError as error:
        raise ModelError(f"{path} {error}") from None


def check_tables(tables: Mapping[str, Any], source: str) -> ModelFile:
    """The tables as a ModelFile, or a ModelError that names the source and each wrong key."""
    try:
        return ModelFile.model_validate(dict(tables))
    except ValidationError as error:
        sentences = []
        for problem in error.errors(include_url=False)[:5]:
            key = ".".join(str(part) for part in problem["loc"])
            unknown = problem["type"] == "extra_forbidden"
            reason = "unknown key" if unknown else problem["msg"].removeprefix("Value error, ")
            sentences.append(f"{shortened(key, 200)}: {reason}" if key else reason)
        raise ModelError(f"{source}: {'; '.join(sentences)}") from None
