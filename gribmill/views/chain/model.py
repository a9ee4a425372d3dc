"""Models: in a list, in full, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Self

from pydantic import Field

from gribmill.identity import run_id
from gribmill.ingest.models.hour_ranges import write_steps
from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.ingest.mirror import Mirror, SourceUrls
    from gribmill.ingest.models.model import CycleHours, Model
    from gribmill.pipeline.model_check import Findings


class ModelView(View):
    """A model, or a family of ensemble members in one row; `members` is null for a single model."""

    model: str
    title: str
    members: int | None
    grid: str | None
    variables: int
    newest_run: str | None
    mirrors: tuple[str, ...]

    @classmethod
    def of(cls, name: str, group: Sequence[Model], now: datetime) -> Self:
        """`group` contains the model or the members that `name` stands for."""
        first, newest = group[0], next(iter(group[-1].runs(now)), None)
        return cls(
            model=name,
            title=_title(first, of_member=name == first.id),
            members=len(group) if first.id != first.family else None,
            grid=first.grid,
            variables=len(first.variables),
            newest_run=run_id(newest) if newest else None,
            mirrors=tuple(mirror.name for mirror in first.mirrors),
        )


class ModelMirrorView(View):
    """Where a model is published, and the limits for requests there."""

    mirror: str
    root: str
    listing: str
    connections: int
    requests_per_minute: int | None = Field(alias="requests a minute")
    retention_hours: int | None = Field(alias="keeps hours")

    @classmethod
    def of(cls, mirror: Mirror) -> Self:
        return cls(
            mirror=mirror.name,
            root=mirror.root,
            listing=mirror.listing,
            connections=mirror.host.connections,
            requests_per_minute=mirror.host.requests_per_minute,
            retention_hours=mirror.host.retention_hours,
        )


class LatencyView(View):
    """How long after the start of a run an hour is published."""

    hour: int
    usual: str = Field(alias="usually after")
    late: str = Field(alias="late after")


class ScheduleView(View):
    """The forecast hours of some cycles, for runs within some period."""

    cycles: str
    hours: str
    begins: str | None = Field(alias="from")
    ends: str | None = Field(alias="until")

    @classmethod
    def of(cls, schedule: CycleHours) -> Self:
        return cls(
            cycles=write_steps(schedule.cycles),
            hours=write_steps(schedule.hours),
            begins=f"{schedule.begins:%Y-%m-%d %H}" if schedule.begins else None,
            ends=f"{schedule.ends:%Y-%m-%d %H}" if schedule.ends else None,
        )


class AddressView(View):
    """The addresses of one file on one mirror."""

    mirror: str
    file: str
    index: str | None

    @classmethod
    def of(cls, urls: SourceUrls) -> Self:
        return cls(mirror=urls.mirror.name, file=urls.grib_url, index=urls.index_url)


class ModelDetailView(View):
    """One model or family in full. Latency and addresses are for an example run: the newest, or the last one."""

    model: str
    title: str
    members: tuple[str, ...] | None
    grid: str | None
    cycles: str
    newest_run: str = Field(alias="newest run")
    hours: str
    index: str
    line_endings: tuple[str, ...] | None = Field(alias="ends lines with")
    offset_minutes: int | None = Field(alias="minutes within the hour")
    variables: tuple[str, ...]
    licence: str
    attribution: str
    notifications: str | None
    mirrors: tuple[ModelMirrorView, ...]
    latency: tuple[LatencyView, ...]
    schedule: tuple[ScheduleView, ...]
    addresses: tuple[AddressView, ...]

    @classmethod
    def of(cls, group: Sequence[Model], now: datetime) -> Self:
        """`group` is one model, or the members of a family; the first one that has a run is the example."""
        # Imported late: it loads the index parsers and the lexicon, which lists do not need.
        from gribmill.pipeline.model_check import last_run

        model = next((one for one in group if one.runs(now)), group[-1])
        alone = len(group) == 1
        newest = next(iter(model.runs(now)), None)
        example = newest or last_run(model)
        hours = model.hours(example) if example else ()
        return cls(
            model=model.id if alone else model.family,
            title=_title(model, of_member=alone),
            members=None if alone else tuple(one.id for one in group),
            grid=model.grid,
            cycles=_cycles(model, example),
            newest_run=_newest(newest, example),
            hours=_hours(model, example, hours),
            index=model.layouts[0].index,
            line_endings=(tuple(extra for extra in model.extras if extra) or None) if alone else None,
            offset_minutes=(model.offset_minutes or None) if alone else None,
            variables=model.variables,
            licence=model.licence,
            attribution=model.attribution,
            notifications=model.sns_topic,
            mirrors=tuple(ModelMirrorView.of(mirror) for mirror in model.mirrors),
            latency=_latency(model, example, hours) if example else (),
            schedule=tuple(ScheduleView.of(row) for row in model.schedules),
            addresses=tuple(AddressView.of(urls) for urls in model.urls(example, hours[-1])) if example else (),
        )


class ModelCheckView(View):
    """The checks of one model: keys that were parsed back, variables found out of all, problems, and what could not be
    checked.

    `source` says where the index lines come from: `real`, `reported`, `made up`, or `index` for a given index.
    """

    model: str
    keys: int
    variables: str
    problems: tuple[str, ...]
    unchecked: str | None
    source: str | None
    source_text: str

    @classmethod
    def of(cls, findings: Findings) -> Self:
        found, missing = len(findings.found), len(findings.missing)
        return cls(
            model=findings.model,
            keys=findings.keys,
            variables=f"{found}/{found + missing}" if findings.unchecked is None else "not checked",
            problems=tuple(findings.problems),
            unchecked=findings.unchecked,
            source=findings.source,
            source_text=findings.source_text,
        )


def _title(model: Model, *, of_member: bool) -> str:
    """A member's title, or that of its family."""
    return model.title if of_member else model.title.removesuffix(f", {model.id.removeprefix(f'{model.family}.')}")


def _cycles(model: Model, example: datetime | None) -> str:
    runs = model.runs(example.replace(hour=23))[:24] if example else []
    return write_steps(tuple(sorted({run.hour for run in runs})))


def _newest(newest: datetime | None, example: datetime | None) -> str:
    if newest is not None:
        return run_id(newest)
    return f"none: the last was {run_id(example) if example else None}"


def _hours(model: Model, example: datetime | None, hours: tuple[int, ...]) -> str:
    open_end = example is not None and model.discovers(example)
    return write_steps(hours) + (" at most; the listing decides" if open_end else "")


def _latency(model: Model, example: datetime, hours: tuple[int, ...]) -> tuple[LatencyView, ...]:
    """The first hour, one in the middle, and the last."""
    views = []
    for hour in sorted({hours[0], hours[len(hours) // 2], hours[-1]}):
        arrival = model.expected_at(example, hour)
        usual, late = (_clock((moment - example).total_seconds()) for moment in (arrival.usual, arrival.late))
        views.append(LatencyView(hour=hour, usual=usual, late=late))
    return tuple(views)


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"
