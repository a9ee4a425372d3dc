"""Joins the rows of a point forecast from one or several runs: each valid time is from the newest run that has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise

from gribmill.identity import run_time
from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.read.point.place import Place, Sampling
from gribmill.tiles.read.point.sample import Samples
from gribmill.tiles.read.point.series import Column, TimeWindow
from gribmill.tiles.read.run_choice import RunChoice, valid_minutes

SampleFolder = Callable[[TileFolder, Sequence[Place], Sampling, list[str] | None], list[Samples]]


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The rows at one place: the run of each, its step in that run, and its minutes after the newest run's start."""

    samples: Samples
    runs: tuple[str, ...]
    steps: tuple[int, ...]
    minutes: tuple[int, ...]
    columns: tuple[Column, ...]
    notes: tuple[str, ...]


def read_rows(
    choice: RunChoice, places: Sequence[Place], method: Sampling, wanted: list[str] | None, sample: SampleFolder
) -> list[JoinedRows]:
    """The rows of each place. Runs that would add no valid time are not read."""
    parts: list[list[tuple[str, Samples]]] = [[] for _ in places]
    have: set[int] = set()
    if len(choice.folders) == 1:
        several = sample(choice.folders[0], places, method, wanted)
        return [_join([(choice.run, samples)], wanted) for samples in several]
    for folder in choice.folders:
        minutes = valid_minutes(folder, choice.run)
        if have.issuperset(minute for minute in minutes if minute >= 0):
            continue
        try:
            several = sample(folder, places, method, wanted)
        except TileError:
            if folder == choice.folders[-1] and not have:
                raise
            continue
        for part, samples in zip(parts, several, strict=True):
            part.append((folder.run, samples))
        # Hours that cannot be read may be in an older run.
        have |= {minute for row, minute in enumerate(minutes) if not any(row in samples.unread for samples in several)}
    if not all(parts):
        raise VanishedRun(f"no tile in {choice.folders[0].path} can be read: the run was removed")
    return [_join(part, wanted) for part in parts]


def _join(parts: Sequence[tuple[str, Samples]], wanted: list[str] | None) -> JoinedRows:
    newest, first = parts[0]
    if len(parts) == 1 and first.steps and first.steps[0] >= 0 and first.steps == sorted({*first.steps}):
        steps = tuple(first.steps)
        # A column that is requested twice is shown once.
        columns = {column.name: column for column in first.columns()}
        notes = tuple(dict.fromkeys(first.notes))
        return JoinedRows(first, (newest,) * len(steps), steps, steps, tuple(columns.values()), notes)
    place: dict[int, tuple[int, int]] = {}
    for number, (run, samples) in enumerate(parts):
        shift = (run_time(run) - run_time(newest)) // timedelta(minutes=1)
        for row, step in enumerate(samples.steps):
            if row not in samples.unread and shift + step >= 0:
                place.setdefault(shift + step, (number, row))
    # An unreadable hour that no other run has becomes a row without values.
    for row, step in enumerate(first.steps):
        place.setdefault(step, (0, row))
    minutes = sorted(place)
    chosen = [place[minute] for minute in minutes]
    each = [{column.name: column for column in columns} for columns in _columns(parts, wanted)]
    names = dict.fromkeys(name for columns in each for name in columns)
    joined = [_joined([columns.get(name) for columns in each], chosen, minutes) for name in names]
    order = {name: number for number, name in enumerate(wanted or ())}
    joined.sort(key=lambda column: order.get(column.name, len(order)))
    return JoinedRows(
        first,
        tuple(parts[number][0] for number, _ in chosen),
        tuple(parts[number][1].steps[row] for number, row in chosen),
        tuple(minutes),
        tuple(joined),
        tuple(dict.fromkeys(note for _, samples in parts for note in samples.notes)),
    )


def _columns(parts: Sequence[tuple[str, Samples]], wanted: list[str] | None) -> list[list[Column]]:
    """The columns of each run. A run lacks the columns of variables that it does not have."""
    if wanted is None or len(parts) == 1:
        return [samples.columns() for _, samples in parts]
    found: list[list[Column]] = []
    errors: list[tuple[str, TileError]] = []
    for _, samples in parts:
        columns: list[Column] = []
        for name in wanted:
            try:
                columns += replace(samples, wanted=[name]).columns()
            except TileError as error:
                errors.append((name, error))
        found.append(columns)
    known = {column.name for columns in found for column in columns}
    for name, problem in errors:
        if name not in known:
            raise problem
    return found


def _joined(columns: Sequence[Column | None], chosen: Sequence[tuple[int, int]], minutes: Sequence[int]) -> Column:
    """One variable over all rows. At a change of run, an amount that overlaps the previous run is left out."""
    like = next(column for column in columns if column is not None)
    values: list[float] = []
    windows: list[TimeWindow | None] = []
    for at, (number, row) in enumerate(chosen):
        column = columns[number]
        value = math.nan if column is None else column.values[row]
        window = None if column is None or column.windows is None else column.windows[row]
        seam = at > 0 and chosen[at - 1][0] != number
        if seam and like.summed and window and window[1] - window[0] > minutes[at] - minutes[at - 1]:
            value, window = math.nan, None
        values.append(value)
        windows.append(window)
    timed = any(column is not None and column.windows is not None for column in columns)
    return replace(like, values=tuple(values), windows=tuple(windows) if timed else None)


# All places of a run have the same rows.
@lru_cache(maxsize=64)
def missing_hours(minutes: tuple[int, ...]) -> tuple[int, ...]:
    """The missing steps between the rows, inferred from the spacing after a longer gap."""
    found: list[int] = []
    gaps = [after - before for before, after in pairwise(minutes)]
    for number, gap in enumerate(gaps[:-1]):
        usual = min(gaps[number + 1 :])
        if usual and gap > usual:
            found += range(minutes[number] + usual, minutes[number + 1], usual)
    return tuple(found)
