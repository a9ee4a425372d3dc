"""Point forecasts, for every API that serves them: `point`, Open-Meteo and EDR."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from itertools import chain
from typing import TypeVar

import orjson

from gribmill.catalogue.reads import Catalogue
from gribmill.identity import RunRef
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.read.point.kept_tiles import KeptTiles, NotKept, OnlyKept
from gribmill.tiles.read.point.place import Place
from gribmill.tiles.read.point.point import PointRequest, TileSource, forecasts
from gribmill.tiles.read.point.series import Series, hour_number, time_text, valid_times

Answer = TypeVar("Answer")
NOT_NUMBERS = (":nan", ":inf", ":-inf")
# How many runs may be removed during a request.
MOST_TURNS = 3


@dataclass(frozen=True, slots=True)
class RunTimes:
    """When the newest file of a run was downloaded, and when its newest tile was built; None if unknown."""

    ingested_at: datetime | None
    built_at: datetime | None


@dataclass(frozen=True, slots=True)
class PointSource:
    """The tiles and their catalogue records. Reads from disk or database only with `wait`."""

    tiles: KeptTiles
    catalogue: Catalogue
    wait: bool

    @property
    def source(self) -> TileSource:
        return self.tiles if self.wait else OnlyKept(self.tiles)

    def series(self, places: Sequence[Place], request: PointRequest) -> list[Series | TileError]:
        return forecasts(places, request, self.source)

    def times(self, series: Series) -> RunTimes:
        """The times of a series' (newest) run."""
        if series.choice is None:
            return RunTimes(None, None)
        return self.folder_times(series.choice.folders[0])

    def folder_times(self, folder: TileFolder) -> RunTimes:
        state = self.tiles.folder(folder, wait=self.wait)
        key = "ingested", folder.model, folder.run
        look = lambda: self.catalogue.ingested_at(RunRef(folder.model, folder.run))  # noqa: E731
        return RunTimes(self.tiles.looked(key, look, wait=self.wait), state.built_at)


async def answered_in_thread(server: ServerContext, answer: Callable[[PointSource], Answer]) -> Answer:
    """The result of `answer`, which computes so much that other requests would have to wait for it."""
    try:
        return await server.compute(answer, PointSource(server.tiles, server.weather.catalogue, wait=False))
    except (NotKept, VanishedRun):
        return await server.run_slow(answered_now, server, answer)


async def answered(server: ServerContext, answer: Callable[[PointSource], Answer]) -> Answer:
    """The result of `answer`: computed directly if everything is cached, otherwise in a thread."""
    try:
        return answer(PointSource(server.tiles, server.weather.catalogue, wait=False))
    except (NotKept, VanishedRun):
        return await server.run(answered_now, server, answer)


def answered_now(server: ServerContext, answer: Callable[[PointSource], Answer]) -> Answer:
    """The result of `answer` with a source that may read, for use in a thread.

    If the chosen run is removed meanwhile, it is asked again, and chooses another run.
    """
    source = PointSource(server.tiles, server.weather.catalogue, wait=True)
    for turn in range(MOST_TURNS):
        try:
            return answer(source)
        except VanishedRun as error:
            if turn == MOST_TURNS - 1:
                raise HttpProblem(404, without_paths(server.root, str(error))) from None
            source.tiles.look_again()
    raise AssertionError("the last turn returns or raises")


def one_series(source: PointSource, place: Place, request: PointRequest) -> Series:
    """The forecast at one place; raises a problem 404 if there is none."""
    try:
        (found,) = source.series([place], request)
    except VanishedRun:
        raise
    except TileError as error:
        found = error
    if isinstance(found, TileError):
        raise HttpProblem(404, without_paths(request.root, str(found)))
    return found


def point_json(series: Series, times: RunTimes, root: DataRoot) -> bytes:
    """The output of `gribmill point --json`, plus the times at which the run was downloaded and built."""
    facts = series.facts()
    facts["notes"] = [without_paths(root, note) for note in series.notes]
    facts["days"] = None
    facts["ingested_at"] = _time(times.ingested_at)
    facts["built_at"] = _time(times.built_at)
    return orjson.dumps(facts)[:-1] + b',"hours":[' + _rows(series).encode() + b"]}"


def _rows(series: Series) -> str:
    """The hours as JSON. Formatting them in one go is three times as fast as value by value."""
    form = _form(tuple(series.columns), series.steps, series.row_runs, series.zone)
    values = tuple(chain.from_iterable(zip(*(column.values for column in series.columns.values()), strict=True)))
    text = form % values
    if not math.isfinite(sum(values)):
        for word in NOT_NUMBERS:
            text = text.replace(word, ":null")
    return text


# All places of a run share the same template; only the numbers differ.
@lru_cache(maxsize=64)
def _form(names: tuple[str, ...], steps: tuple[int, ...], runs: tuple[str, ...], zone: tzinfo) -> str:
    times = valid_times(runs, steps, zone)
    cells = "".join(f",{_quoted(name)}:%.9g" for name in names)
    return ",".join(
        f'{{"hour":{hour_number(step)},"time":"{time_text(moment)}","run":"{run}"{cells}}}'
        for step, run, moment in zip(steps, runs, times, strict=True)
    )


def _quoted(name: str) -> str:
    return orjson.dumps(name).decode().replace("%", "%%")


def without_paths(root: DataRoot, text: str) -> str:
    """The message without the server's file paths."""
    for folder in (root.tiles, root.path):
        text = text.replace(f"{folder}/", "").replace(f" under {folder}", "").replace(f" in {folder}", "")
    return text


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else time_text(moment.replace(microsecond=0))
