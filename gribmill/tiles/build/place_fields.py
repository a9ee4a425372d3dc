"""Finds the tile that each field of a file belongs to: run, step, grid, model and ensemble member."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gribmill.grib.decode.field import Field
from gribmill.grib.errors import GribError
from gribmill.grib.guess_model import AEROSOLS, ModelGuess, guess_model
from gribmill.grib.names.array_name import array_name
from gribmill.grib.product.grib2 import TEMPLATES
from gribmill.identity import run_id
from gribmill.regions.grids import Grid
from gribmill.tiles.build.describe_fields import skipped_message
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import SkippedMessage

# (run, minutes since the run, grid, model id): the fields that share a tile.
Step = tuple[str, int, Grid, str]
MINUTE = timedelta(minutes=1)
SEVERAL_MEMBERS = "it has {count} members ({some} …), which cannot all be {model}: give --model a name without a dot"


@dataclass(frozen=True, slots=True)
class PlacedFields:
    """The step of each field (None if it has none), and notes about skipped fields."""

    steps: list[Step | None]
    skipped: list[SkippedMessage]
    # The names given to models that were not recognised.
    unrecognised: frozenset[str] = frozenset()


def place_fields(
    items: Sequence[Field], wanted: Callable[[Field], bool], model: str | None, *, split_members: bool
) -> PlacedFields:
    """The steps of the wanted fields. Without a given `model`, each field's model is derived from its keys.

    `split_members`: with a given model, each of several ensemble members becomes MODEL.MEMBER.
    """
    skipped: list[SkippedMessage] = []
    places = [_place(item, skipped) if wanted(item) else None for item in items]
    if model is not None and not split_members:
        return PlacedFields([place and (*place, model) for place in places], skipped)
    aerosols = any(item.keys.template in AEROSOLS for item in items)
    guesses = [
        place and guess_model(item.keys, place[2], Path(item.source).name, aerosols=aerosols)
        for item, place in zip(items, places, strict=True)
    ]
    ids = _ids({guess for guess in guesses if guess is not None}, model)
    steps = [(*place, ids[guess]) if place and guess else None for place, guess in zip(places, guesses, strict=True)]
    unknown = {guess.family for guess in ids if not guess.recognised} if model is None else ()
    return PlacedFields(steps, skipped, frozenset(unknown))


def model_ids(steps: Sequence[Step | None]) -> dict[Step, str]:
    """The model id of each step; fields on a second grid at the same time get a separate one (`gfs-g2`)."""
    found: dict[Step, str] = {}
    grids: dict[tuple[str, int, str], int] = {}
    for step in steps:
        if step is not None and step not in found:
            run, minutes, _, model = step
            number = grids[run, minutes, model] = grids.get((run, minutes, model), 0) + 1
            found[step] = model if number == 1 else f"{model}-g{number}"
    return found


def _ids(guesses: set[ModelGuess], model: str | None) -> dict[ModelGuess, str]:
    if model is None:
        return {guess: guess.model_id for guess in guesses}
    members = sorted({guess.member for guess in guesses})
    if len(members) < 2:
        return dict.fromkeys(guesses, model)
    if "." in model:
        some = ", ".join(member or "none" for member in members[:4])
        raise TileError(SEVERAL_MEMBERS.format(count=len(members), some=some, model=model))
    return {guess: f"{model}.{guess.member}" if guess.member else model for guess in guesses}


def _place(item: Field, skipped: list[SkippedMessage]) -> tuple[str, int, Grid] | None:
    """Run, minutes and grid; a field without them is noted as skipped."""
    name = array_name(item.keys)
    end = item.keys.end
    if end is None or item.keys.valid is None or end < timedelta(0):
        skipped.append(skipped_message(name, item, _why_without_step(item)))
        return None
    try:
        return run_id(item.keys.reference), end // MINUTE, item.grid
    except GribError as error:
        # The path is removed: the bytes of a tile must not depend on the folder of its GRIB file.
        place = f"{item.source}: message {item.label} at byte {item.offset}: "
        skipped.append(skipped_message(name, item, str(error).removeprefix(place)))
        return None


def _why_without_step(item: Field) -> str:
    """Why a field has no step: tiles are filed by the time since the start of the run."""
    keys = item.keys
    if keys.template is not None and keys.template not in TEMPLATES:
        return f"product template 4.{keys.template} is not supported"
    if keys.end is None or keys.valid is None:
        return "its forecast time is unknown"
    return f"it is for {keys.valid:%Y-%m-%d %H:%M}, before its run began"
