"""One file of a synthetic forecast: its messages and its index."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.grib.decode.winds import northward, partners
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.product.keys import NCEP
from gribmill.ingest.models.model import Model
from gribmill.regions.grids import Grid
from gribmill.regions.grids.spec import named_grids
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.clock import hours_since_epoch
from gribmill.sandbox.forecast.encoder import Encoder
from gribmill.sandbox.forecast.file_contents import PlannedField, contents
from gribmill.sandbox.forecast.geography import geography
from gribmill.sandbox.forecast.index_lines import WrittenMessage, write_index
from gribmill.sandbox.forecast.publisher_style import style_of
from gribmill.sandbox.forecast.quantities import values_of
from gribmill.sandbox.forecast.thinned_grid import thinned
from gribmill.sandbox.forecast.weather import Weather
from gribmill.sandbox.grib_writer.sections import multi_field

# The spread of the members is at most this share of the quantity's usual range.
LARGEST_SPREAD = 0.05
SPREADS = ("ens spread", "ens std dev")


@dataclass(frozen=True, slots=True)
class MadeFile:
    """The bytes of a file and of its index."""

    grib: bytes
    index: bytes | None


@dataclass(frozen=True, slots=True)
class Forecaster:
    """Generates files. `coarse` keeps every Nth point of the model's grid; `only` limits the variables."""

    seed: int = 0
    coarse: int = 1
    only: frozenset[str] = frozenset()

    def make(self, models: Sequence[Model], run: datetime, hour: int) -> MadeFile:
        """The file for that hour, with one model or the members that share it. Reproducible for the same seed."""
        first = models[0]
        grid = thinned(model_grid(first), self.coarse)
        style = style_of(first)
        parts: list[bytes] = []
        placed: list[WrittenMessage] = []
        offset = 0
        with Encoder(grid, style) as encoder:
            for items, message in self._messages(models, run, hour, grid, encoder):
                parts.append(message)
                placed.append(WrittenMessage(items, offset, len(message)))
                offset += len(message)
        return MadeFile(b"".join(parts), write_index(first.layouts[0].index, placed, style, run))

    def _messages(
        self, models: Sequence[Model], run: datetime, hour: int, grid: Grid, encoder: Encoder
    ) -> Iterator[tuple[tuple[PlannedField, ...], bytes]]:
        for model in models:
            weather = _weather(grid, self.seed, _member(model))
            waiting: tuple[PlannedField, bytes] | None = None
            for item in contents(model, hour, self._only(model)):
                values = self._values(item, run, weather, along_grid=encoder.style.grid_relative)
                message = encoder.message(item, run, values)
                if encoder.style.uv_together and item.parameter in partners(NCEP):
                    waiting = item, message
                elif waiting and partners(NCEP)[waiting[0].parameter] == item.parameter:
                    yield (waiting[0], item), multi_field([waiting[1], message])
                    waiting = None
                else:
                    yield (item,), message

    def _only(self, model: Model) -> Collection[str]:
        return self.only & set(model.variables) if self.only else ()

    def _values(self, item: PlannedField, run: datetime, weather: Weather, *, along_grid: bool) -> AnyFloats:
        if item.extra in SPREADS:
            return _spread(item, run, weather)
        values = values_of(item.variable, item.window, run, weather)
        if not along_grid or item.parameter not in partners(NCEP).keys() | northward(NCEP):
            return values
        eastward = item.parameter in partners(NCEP)
        partner = lexicon().get(("v" if eastward else "u") + item.variable.name[1:])
        assert partner is not None, item.variable.name
        other = values_of(partner, item.window, run, weather)
        cosine, sine = weather.places.turn_cosine, weather.places.turn_sine
        return values * cosine - other * sine if eastward else values * cosine + other * sine


def model_grid(model: Model) -> Grid:
    """The grid that a model is published on."""
    for named in named_grids():
        if named.name == model.grid:
            return named.grid
    raise SandboxError(f"{model.id} has no named grid, so its files cannot be generated")


def _spread(item: PlannedField, run: datetime, weather: Weather) -> AnyFloats:
    """The spread of the members: small, and larger in some places."""
    low, high = item.variable.range
    moment = weather.at(hours_since_epoch(run) + item.window.end / 60)
    return np.float32((high - low) * LARGEST_SPREAD) * moment.cloud / 100


# Members share the arrays of their grid; the arrays of one Weather take 60 MB on an HRRR grid.
@lru_cache(maxsize=2)
def _weather(grid: Grid, seed: int, member: int) -> Weather:
    return Weather(geography(grid), seed, member)


def _member(model: Model) -> int:
    found = re.fullmatch(r"(?:ENS=\+|pf:)([0-9]{1,3})", model.extras[0])
    return int(found[1]) if found else 0
