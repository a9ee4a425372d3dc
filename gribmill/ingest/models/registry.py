"""Loads all models: the built-in ones and the user's own, which take precedence. Each is a TOML file or table."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from gribmill.checked.constraints import After, Bounds, CheckFailed, Length, Matches
from gribmill.checked.table import read
from gribmill.errors import quoted, shortened
from gribmill.identity import IdentityError, check_family_name, check_model_id
from gribmill.ingest.errors import ModelError
from gribmill.ingest.mirror import IndexKind, Mirror, clean_root, hosts
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.model import MEMBER, CycleHours, KeyLayout, KeyTemplate, Model, PublishTime, PublishTimes
from gribmill.toml_table import read_toml

MOST_FILES = 500
FILE_LIMIT_BYTES = 500_000
MOST_MEMBERS = 1000


@dataclass(frozen=True, slots=True)
class OwnModels:
    """The user's own models: tables by name, a folder of TOML files, and replacement roots for mirrors."""

    tables: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    folder: Path | None = None
    roots: Mapping[str, str] = dataclasses.field(default_factory=dict)


def load_models(own: OwnModels | None = None) -> dict[str, Model]:
    """All models and members by id.

    A user's table overrides keys of a model or defines a new one, either completely or with `like = "hrrr"` and the
    keys that differ. Tables in the settings take precedence over files in the folder.
    """
    own = own or OwnModels()
    known = dict(_built_in_tables())
    sources = dict.fromkeys(known, "built-in model")
    for source, name, tables in _own_tables(own):
        known[name], sources[name] = _merged(name, tables, known, source), source
    roots = _checked_roots(own.roots, known)
    models: dict[str, Model] = {}
    for name, tables in known.items():
        source = f"model {name} ({sources[name]})"
        try:
            models |= {model.id: model for model in _models(name, check_tables(tables, source), roots)}
        except ModelError as error:
            text = str(error)
            raise ModelError(text if text.startswith(source) else f"{source}: {text}") from None
    return models


def models_named(models: Mapping[str, Model], name: str) -> list[Model]:
    """The model with that id, or all members of a family. Otherwise raises a ModelError that suggests similar names."""
    if name in models:
        return [models[name]]
    members = [model for model in models.values() if model.family == name]
    if members:
        return members
    near = difflib.get_close_matches(name, [*models, *(model.family for model in models.values())], n=3)
    hint = f"did you mean {', '.join(dict.fromkeys(near))}?" if near else "`gribmill models list` shows them all"
    raise ModelError(f"there is no model {name!r}; {hint}")


def find_key(models: Mapping[str, Model], key: str) -> list[tuple[Model, datetime, int]]:
    """All models that an object's key (of a GRIB file or its index) belongs to, with run and hour."""
    found = []
    for model in models.values():
        place = model.parse_key(key) or model.parse_index_key(key)
        if place:
            found.append((model, *place))
    return found


@lru_cache(maxsize=1)
def _built_in_tables() -> Mapping[str, dict[str, Any]]:
    folder = files("gribmill.ingest.models").joinpath("builtin")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return {
        name.removesuffix(".toml"): tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8")) for name in names
    }


def _own_tables(own: OwnModels) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    if own.folder is not None:
        if not own.folder.is_dir():
            raise ModelError(f"models_dir: there is no folder {own.folder}")
        paths = sorted(own.folder.glob("*.toml"))
        if len(paths) > MOST_FILES:
            raise ModelError(f"models_dir: {own.folder} holds more than {MOST_FILES} models")
        for path in paths:
            yield str(path), path.stem, read_toml(path, FILE_LIMIT_BYTES, ModelError, "a model")
    for name, tables in own.tables.items():
        yield f"settings, [models.{name}]", name, tables


def _merged(name: str, tables: Mapping[str, Any], known: Mapping[str, Any], source: str) -> dict[str, Any]:
    try:
        check_family_name(name)
    except IdentityError as error:
        raise ModelError(f"{source}: {error}") from None
    like = tables.get("like", name)
    if "like" in tables and not (isinstance(like, str) and like in known):
        raise ModelError(f"{source}: like = {quoted(like)}, but there is no such model")
    return {**known.get(like, {}), **{key: value for key, value in tables.items() if key != "like"}}


def _checked_roots(roots: Mapping[str, str], known: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    # The tables are not checked yet.
    listed = (tables.get("mirrors") for tables in known.values())
    mirrors = (mirror for some in listed if isinstance(some, list | tuple) for mirror in some)
    names = {
        mirror.get("name") for mirror in mirrors if isinstance(mirror, dict) and isinstance(mirror.get("name"), str)
    }
    for name in roots:
        if name not in names:
            near = difflib.get_close_matches(name, [str(each) for each in names], n=3)
            raise ModelError(
                f"[roots] {name}: no model has such a mirror" + (f"; did you mean {near[0]}?" if near else "")
            )
    return {name: clean_root(root) for name, root in roots.items()}


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
class _Dated:
    """A table for runs from one time (inclusive) until another (exclusive)."""

    begins: _RunTime | None = dataclasses.field(default=None, metadata={"key": "from"})
    ends: _RunTime | None = dataclasses.field(default=None, metadata={"key": "until"})


@dataclass(frozen=True, kw_only=True)
class _MirrorTable(_Dated):
    """One mirror; the best one comes first."""

    name: _Name
    root: _Words
    host: _Name = "other"


@dataclass(frozen=True, kw_only=True)
class _LayoutTable(_Dated):
    """How keys are formed, for all or only some cycles or mirrors; the first match is used."""

    key: _Words
    index: IndexKind | None = None
    cycles: _Steps | None = None
    mirrors: tuple[_Name, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class _HoursTable(_Dated):
    """Which cycles run and which hours they have; the first match is used."""

    cycles: _Steps
    steps: _Steps
    # Hours differ from run to run: the listing shows them, and `steps` are the possible hours.
    discover: bool = False


@dataclass(frozen=True, kw_only=True)
class _LatencyTable:
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
class _MemberTable(_Dated):
    """One member, or several with `numbers`: {n} and {nn} are replaced by each number."""

    id: Annotated[str, Matches(r"[a-z0-9{}]{1,12}")]
    numbers: _Steps | None = None
    token: Annotated[str, Matches(r"[A-Za-z0-9_{}]{0,30}")] = ""
    extra: tuple[_Words, ...] | None = None
    minutes: Annotated[int, Bounds(ge=-1440, le=0)] = 0


@dataclass(frozen=True, kw_only=True)
class _ModelFile:
    """A model's TOML file. Unknown keys are rejected."""

    title: _Words
    grid: _Name | None = None
    index: IndexKind
    extra: Annotated[tuple[_Words, ...], Length(1)] = ("",)
    licence: _Words
    attribution: _Words
    variables: Annotated[tuple[Annotated[str, Matches(r"[a-z][a-z0-9_]{0,39}")], ...], Length(1, 1000)]
    mirrors: Annotated[tuple[_MirrorTable, ...], Length(1, 20)]
    layouts: Annotated[tuple[_LayoutTable, ...], Length(1, 50)]
    hours: Annotated[tuple[_HoursTable, ...], Length(1, 50)]
    latency: tuple[_LatencyTable, ...] = ()
    members: Annotated[tuple[_MemberTable, ...], Length(most=200)] = ()
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
        if any(MEMBER in layout.key for layout in self.layouts) and not self.members:
            raise ValueError("a key with {member} needs [[members]]")


def check_tables(tables: Mapping[str, Any], source: str) -> _ModelFile:
    """A model's tables, checked. Raises a ModelError that names the source and up to five wrong keys."""
    try:
        return read(_ModelFile, tables)
    except CheckFailed as error:
        sentences = []
        for problem in error.problems[:5]:
            place = shortened(problem.key, 200)
            sentences.append(f"{place}: {problem.text}" if place else problem.text)
        raise ModelError(f"{source}: {'; '.join(sentences)}") from None


def _models(name: str, file: _ModelFile, roots: Mapping[str, str]) -> Iterator[Model]:
    mirrors = tuple(_mirror(table, roots) for table in file.mirrors)
    latencies = tuple(_latency(row) for row in file.latency)
    ids: set[str] = set()
    for member in _members(file):
        model_id = f"{name}.{member.id}" if member.id else name
        if model_id in ids:
            raise ModelError(f"members: two are called {member.id}; with numbers, an id needs {{n}} or {{nn}}")
        if len(ids) == MOST_MEMBERS:
            raise ModelError(f"members: there are more than {MOST_MEMBERS}")
        ids.add(model_id)
        try:
            check_model_id(model_id)
        except IdentityError as error:
            raise ModelError(str(error)) from None
        yield Model(
            id=model_id,
            family=name,
            title=f"{file.title}, {member.id}" if member.id else file.title,
            grid=file.grid,
            licence=file.licence,
            attribution=file.attribution,
            variables=file.variables,
            mirrors=mirrors,
            layouts=_layouts(file, member.token),
            schedules=tuple(_schedule(row, member.minutes) for row in file.hours),
            latencies=latencies,
            extras=member.extra if member.extra is not None else file.extra,
            offset_minutes=member.minutes,
            begins=member.begins,
            ends=member.ends,
            sample=file.sample,
            sns_topic=file.sns_topic,
            scan_seconds=file.scan_seconds,
            give_up_hours=file.give_up_hours,
            stale_hours=file.stale_hours,
        )


def _members(file: _ModelFile) -> Iterator[_MemberTable]:
    if not file.members:
        yield _MemberTable(id="")
    for table in file.members:
        for number in parse_steps(table.numbers) if table.numbers else (None,):
            yield replace(
                table,
                id=_numbered(table.id, number),
                token=_numbered(table.token, number),
                extra=None if table.extra is None else tuple(_numbered(text, number) for text in table.extra),
            )


def _numbered(text: str, number: int | None) -> str:
    return text if number is None else text.replace("{nn}", f"{number:02d}").replace("{n}", str(number))


def _mirror(table: _MirrorTable, roots: Mapping[str, str]) -> Mirror:
    if table.host not in hosts():
        raise ModelError(f"mirror {table.name}: there is no host {table.host}; use {', '.join(hosts())}")
    root = roots.get(table.name) or clean_root(table.root)
    return Mirror(table.name, root, hosts()[table.host], table.begins, table.ends)


def _layouts(file: _ModelFile, token: str) -> tuple[KeyLayout, ...]:
    return tuple(
        KeyLayout(
            KeyTemplate(row.key.replace(MEMBER, token)),
            row.index or file.index,
            row.begins,
            row.ends,
            parse_steps(row.cycles) if row.cycles is not None else None,
            row.mirrors,
        )
        for row in file.layouts
    )


def _schedule(row: _HoursTable, minutes: int) -> CycleHours:
    cycles = parse_steps(row.cycles)
    if cycles[-1] > 23:
        raise ModelError(f"cycles = {row.cycles!r}: runs begin at the hours 0 to 23")
    # A member that is valid before the full hour has no hour 0.
    hours = tuple(hour for hour in parse_steps(row.steps) if hour * 60 + minutes >= 0)
    return CycleHours(cycles, hours, row.begins, row.ends, row.discover)


def _latency(row: _LatencyTable) -> PublishTimes:
    points = tuple(PublishTime(hour, usual, late) for hour, usual, late in row.points)
    return PublishTimes(points, parse_steps(row.cycles) if row.cycles else None, row.mirror, row.measured)
