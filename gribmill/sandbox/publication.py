"""Publishes synthetic forecasts into a folder: hour by hour, each file before its index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gribmill.identity import run_id, run_time
from gribmill.ingest.errors import IngestError
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.model import Model
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.storage.atomic import write_atomic

Wait = Callable[[float], bool]


@dataclass(frozen=True, slots=True)
class Publication:
    """A file to publish: its key in the folder, and the model or members whose fields it has."""

    key: str
    index_key: str | None
    models: tuple[Model, ...]
    run: datetime
    hour: int


@dataclass(frozen=True, slots=True)
class PublicationPlan:
    """Files in the order of publication; the files of one hour of all models are together."""

    hours: tuple[tuple[Publication, ...], ...]

    @property
    def files(self) -> int:
        """The number of files."""
        return sum(map(len, self.hours))


def plan(
    models: Sequence[Model], hours: str, now: datetime, *, run: str | None = None, runs: int = 1
) -> PublicationPlan:
    """The plan for the given run, or for each model's newest, oldest first, with the hours that each run has.

    A member that has ended, or has none of the hours, is left out if other members of its family have some.
    """
    try:
        wanted = set(parse_steps(hours))
    except IngestError as error:
        raise SandboxError(f"--hours: {error}") from None
    steps: dict[tuple[int, int], list[Publication]] = {}
    for model in models:
        for turn, moment in enumerate(_runs(model, now, run, runs)):
            for hour in wanted.intersection(model.hours(moment)):
                _add(steps.setdefault((turn, hour), []), model, moment, hour)
    there = {model.family for hour in steps.values() for one in hour for model in one.models}
    for model in models:
        if model.family not in there:
            raise SandboxError(_why_nothing(model, hours, _runs(model, now, run, runs)))
    return PublicationPlan(tuple(tuple(steps[place]) for place in sorted(steps)))


def publish(
    plan: PublicationPlan,
    folder: Path,
    forecaster: Forecaster,
    *,
    every_seconds: float = 0,
    wait: Wait = lambda seconds: False,
) -> Iterator[tuple[Publication, int]]:
    """Generate and write each file; yields it with its size. `wait` waits that long and returns whether to stop."""
    for place, hour in enumerate(plan.hours):
        if wait(every_seconds if place else 0):
            return
        for publication in hour:
            made = forecaster.make(publication.models, publication.run, publication.hour)
            _write(folder / publication.key, made.grib)
            if made.index is not None and publication.index_key is not None:
                _write(folder / publication.index_key, made.index)
            yield publication, len(made.grib)


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomic(path, [content])
    except OSError as error:
        raise SandboxError(f"{path} cannot be written: {error.strerror}") from None


def roots(models: Iterable[Model], url: str) -> dict[str, str]:
    """The [roots] for these models: all their mirrors point to this sandbox, so no request goes elsewhere."""
    return {mirror.name: f"{url}{model.mirrors[0].name}/" for model in models for mirror in model.mirrors}


def models_in(models: Iterable[Model], folder: Path) -> list[Model]:
    """The models that a folder may contain, judging by the names of its subfolders."""
    return [model for model in models if (folder / model.mirrors[0].name).is_dir()]


def _runs(model: Model, now: datetime, run: str | None, runs: int) -> list[datetime]:
    if run is not None:
        return [run_time(run)]
    return model.runs(now)[:runs][::-1]


def _why_nothing(model: Model, hours: str, runs: Sequence[datetime]) -> str:
    if not runs:
        return f"{model.id} has no run of the last two days; name one with --run"
    return f"{model.id} has none of the hours {hours} in its run {run_id(runs[-1])}"


def _add(hour: list[Publication], model: Model, run: datetime, number: int) -> None:
    """Groups members that share a file."""
    source = model.urls(run, number)[0]
    bucket = model.mirrors[0].name
    key = f"{bucket}/{source.grib_url.removeprefix(source.mirror.root)}"
    index = f"{bucket}/{source.index_url.removeprefix(source.mirror.root)}" if source.index_url else None
    for place, other in enumerate(hour):
        if other.key == key:
            hour[place] = Publication(key, index, (*other.models, model), run, number)
            return
    hour.append(Publication(key, index, (model,), run, number))
