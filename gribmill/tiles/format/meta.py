"""What a tile says about itself: JSON in its `meta` array, checked when it is read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import gribmill
from gribmill.identity import IdentityError, ModelId, RegionName, RunId, run_time
from gribmill.regions.tile_options import Method
from gribmill.tiles.errors import TileError

FORMAT = 1
LIMIT_META_BYTES = 16 * 2**20
ECMWF_ATTRIBUTION = (
    "Contains modified ECMWF open data, (C) European Centre for Medium-Range Weather Forecasts (ECMWF), "
    "licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). "
    "ECMWF does not accept any liability for errors or omissions in the data."
)

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
Text = Annotated[str, Field(max_length=2000)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Minutes = Annotated[int, Field(ge=0, lt=2**31)]
# A window may begin before its run: a day's highest ozone does.
WindowMinutes = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class Record(BaseModel):
    """A frozen part of `meta`. Keys that a later gribmill adds are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Packing(Record):
    """How the source packed the values; `step` is the smallest difference it can express."""

    name: Text
    bits: Count | None = None
    step: float | None = None


class PackedAs(Record):
    """value = float32((integer * scale + reference) * factor), worked out in doubles; 65535 is missing.

    `differences`: the integers are the running sums of each row, modulo 65536 (`np.cumsum(a, 1, dtype="u2")`).
    `zigzag`: each difference has its sign in the lowest bit (`a >> 1 ^ -(a & 1)`).
    """

    reference: float
    scale: float
    factor: float
    differences: bool = False
    zigzag: bool = False


class Quantity(Record):
    """One variable: what it is, where it came from, and its statistics."""

    units: Text
    long_name: Text
    standard_name: Text | None = None
    level: Text
    statistic: Text = "instant"
    step_minutes: tuple[WindowMinutes, WindowMinutes]
    message: Count
    field: Count = 1
    offset: Count
    length: Count
    packing: Packing
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    missing: Count = 0
    winds: Literal["earth", "grid"] | None = None
    method: Text | None = None
    packed: PackedAs | None = None


class Skipped(Record):
    """A message that was asked for but is not in the tile, and why."""

    name: Text
    message: Count
    field: Count = 1
    offset: Count
    reason: Text


class Place(Record):
    """The region: its name and its box (west, south, east, north in degrees)."""

    name: RegionName
    title: Text = ""
    box: tuple[float, float, float, float]
    resolution: float | None = None
    method: Method | None = None


class GridRecord(Record):
    """The tile's grid: CF mapping, the source grid's own numbers, and the window cut from it."""

    kind: Literal["regular", "projected"]
    mapping: dict[str, Any]
    definition: dict[str, Any]
    cell_km: float
    shape: tuple[Count, Count]
    source_shape: tuple[Count, Count]
    rows: tuple[Count, Count]
    cols: tuple[tuple[Count, Count], ...]


class Source(Record):
    """The GRIB that the tile was cut from."""

    name: Text
    url: Text | None = None
    etag: Text | None = None
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Meta(Record):
    """Everything that a tile says about itself."""

    format: Literal[1] = 1
    gribmill: Text = gribmill.__version__
    model: ModelId
    run: RunId
    minutes: Minutes
    region: Place
    grid: GridRecord
    variables: dict[Name, Quantity]
    absent: tuple[Name, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    duplicates: tuple[Skipped, ...] = ()
    winds: Literal["earth"] = "earth"
    source: Source
    attribution: Text | None = None

    @property
    def hour(self) -> int:
        """The whole forecast hour (minutes beyond it are in `minutes`)."""
        return self.minutes // 60

    @property
    def run_time(self) -> datetime:
        """When the run started."""
        return run_time(self.run)

    @property
    def valid_time(self) -> datetime:
        """The moment that the tile is about."""
        return self.run_time + timedelta(minutes=self.minutes)

    def to_json(self) -> bytes:
        """The bytes of the `meta` array: its parts are in one order, so that equal contents give equal bytes."""
        moments = f'"hour":{self.hour},"run_time":"{_iso(self.run_time)}","valid_time":"{_iso(self.valid_time)}"'
        # Written by what the models are made of: it takes a tenth of what a dictionary of everything would.
        return self.__pydantic_serializer__.to_json(self)[:-1] + f",{moments}}}".encode()


def parse_meta(raw: bytes, where: str) -> Meta:
    """The checked content of a `meta` array, or a TileError that says what is wrong with it."""
    if len(raw) > LIMIT_META_BYTES:
        raise TileError(f"{where}: its meta has {len(raw)} bytes, more than {LIMIT_META_BYTES}")
    try:
        meta = Meta.model_validate_json(raw)
        meta.valid_time  # noqa: B018 - a run such as 20230199_00 has no moment
    except ValidationError as error:
        raise TileError(_what_is_wrong(error, where)) from None
    except (IdentityError, OverflowError) as error:
        raise TileError(f"{where}: its meta has no valid time: {error}") from None
    return meta


def _what_is_wrong(error: ValidationError, where: str) -> str:
    faults = error.errors(include_url=False)
    for fault in faults:
        if fault["loc"] == ("format",) and isinstance(fault["input"], int) and fault["input"] > FORMAT:
            return f"{where} has tile format {fault['input']}, this gribmill reads {FORMAT}: use a newer one"
    first = faults[0]
    if first["type"] == "json_invalid":
        return f"{where}: its meta is not JSON: {first['msg']}"
    place = ".".join(str(part) for part in first["loc"]) or "its top level"
    return f"{where}: its meta is wrong at {place}: {first['msg']}"


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
