"""The metadata of a tile: JSON in its `meta` array, validated when it is read.

It is written from cached texts of the variables (VariableText), most of which all regions share.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from gribmill.checked.constraints import Bounds, CheckFailed, Length, Matches, WrongValue
from gribmill.checked.table import read
from gribmill.identity import MODEL_ID, REGION_NAME, RUN_ID, IdentityError, run_time
from gribmill.regions.tile_options import Method
from gribmill.tiles.errors import TileError
from gribmill.version import __version__

FORMAT = 1
# Names of members of a tile: the metadata, and the axes for each kind of grid.
META = "meta"
COORDINATES = {"regular": ("lat", "lon"), "projected": ("y", "x")}
LIMIT_META_BYTES = 16 * 2**20
# Where texts of variables, statistics and packings are filled in. Quotes within strings are escaped, so these occur
# nowhere else.
NO_VARIABLES = b'"variables":{}'
NO_STATISTICS = b'"min":null,"max":null,"mean":null,"missing":0'
NOT_PACKED = b'"packed":null'
ECMWF_ATTRIBUTION = (
    "Contains modified ECMWF open data, (C) European Centre for Medium-Range Weather Forecasts (ECMWF), "
    "licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). "
    "ECMWF does not accept any liability for errors or omissions in the data."
)

# What identifies a field: centre, process, ECMWF's labels, member, statistic of an ensemble, threshold.
IdentityKey = Annotated[str, Matches(r"[a-z_]{1,40}")]
IdentityValue = Annotated[str, Length(most=200)] | int | float
ARRAY_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
ArrayName = Annotated[str, Matches(ARRAY_NAME)]
Text = Annotated[str, Length(most=2000)]
# A file name without a folder, so that it cannot be a path to somewhere else.
FileName = Annotated[str, Length(most=2000), Matches(r"[^/\\\x00-\x1f]+")]
# Names of the other arrays of a tile, and of the coordinates of its dataset.
RESERVED = frozenset({"meta", "lat", "lon", "x", "y", "time", "run", "step", "crs"})
Unsigned = Annotated[int, Bounds(ge=0, lt=2**63)]
StepMinutes = Annotated[int, Bounds(ge=0, lt=2**31)]
# A time range may start before its run, for example that of a daily ozone maximum.
WindowMinutes = Annotated[int, Bounds(ge=-(2**31), lt=2**31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePacking:
    """How the GRIB message packs the values; `step` is the smallest difference that the packing can represent."""

    name: Text
    bits: Unsigned | None = None
    step: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedAs:
    """value = float32((integer * scale + reference) * factor), computed in float64; 65535 is missing.

    `differences`: the integers are the cumulative sums of each row, modulo 65536 (`np.cumsum(a, 1, dtype="u2")`).
    `zigzag`: each difference has its sign in the lowest bit (`a >> 1 ^ -(a & 1)`).
    """

    reference: float
    scale: float
    factor: float
    differences: bool = False
    zigzag: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableMeta:
    """One variable: its description, its GRIB message and its statistics."""

    units: Text
    long_name: Text
    standard_name: Text | None = None
    level: Text
    statistic: Text = "instant"
    step_minutes: tuple[WindowMinutes, WindowMinutes]
    # The time range that the message states, if it is known to be wrong.
    stated_minutes: tuple[WindowMinutes, WindowMinutes] | None = None
    message: Unsigned
    field: Unsigned = 1
    offset: Unsigned
    length: Unsigned
    packing: SourcePacking
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    missing: Unsigned = 0
    winds: Literal["earth", "grid"] | None = None
    method: Text | None = None
    packed: PackedAs | None = None
    # Numbers in the source that mean "no value", the smallest valid value, and the number of points in the source's
    # window that either of them turned into NaN.
    fill_values: tuple[float, ...] = ()
    valid_min: float | None = None
    filled: Unsigned = 0
    # Whether the source has the opposite sign of the lexicon's variable, for example ECMWF's CIN.
    negated: bool = False
    # For a code field: its values in ascending order, and their meanings.
    flag_values: tuple[int, ...] = ()
    flag_meanings: tuple[Text, ...] = ()
    # Only what differs from the identity of the tile.
    identity: dict[IdentityKey, IdentityValue] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.flag_values) != len(self.flag_meanings):
            raise ValueError(f"{len(self.flag_values)} flag values have {len(self.flag_meanings)} meanings")

    @property
    def flags(self) -> dict[int, str]:
        """The meaning of each value of a code field; empty for quantities."""
        return dict(zip(self.flag_values, self.flag_meanings, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedMessage:
    """A requested message that is not in the tile, and the reason."""

    name: Text
    message: Unsigned
    field: Unsigned = 1
    offset: Unsigned
    reason: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionRecord:
    """The region: its name and its box (west, south, east, north in degrees)."""

    name: Annotated[str, Matches(REGION_NAME.pattern)]
    title: Text = ""
    box: tuple[float, float, float, float]
    resolution: float | None = None
    method: Method | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRecord:
    """The tile's grid: CF grid mapping, definition of the source grid, and the window cut from it."""

    kind: Literal["regular", "projected"]
    mapping: dict[str, Any]
    definition: dict[str, Any]
    cell_km: float
    shape: tuple[Unsigned, Unsigned]
    source_shape: tuple[Unsigned, Unsigned]
    rows: tuple[Unsigned, Unsigned]
    cols: Annotated[tuple[tuple[Unsigned, Unsigned], ...], Length(1, 2)]

    def __post_init__(self) -> None:
        found = self.rows[1] - self.rows[0], sum(stop - start for start, stop in self.cols)
        if found != self.shape or 0 in found or any(start >= stop for start, stop in (self.rows, *self.cols)):
            raise ValueError(f"its window has {found[0]} × {found[1]} points, its shape is {list(self.shape)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """The GRIB file that the tile was cut from."""

    name: FileName
    url: Text | None = None
    etag: Text | None = None
    bytes: Unsigned
    sha256: Annotated[str, Matches(r"[0-9a-f]{64}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """All metadata of a tile."""

    format: Literal[1] = 1
    gribmill: Text = __version__
    model: Annotated[str, Matches(MODEL_ID.pattern)]
    run: Annotated[str, Matches(RUN_ID.pattern)]
    minutes: StepMinutes
    region: RegionRecord
    grid: GridRecord
    variables: dict[ArrayName, VariableMeta]
    absent: tuple[ArrayName, ...] = ()
    skipped: tuple[SkippedMessage, ...] = ()
    duplicates: tuple[SkippedMessage, ...] = ()
    winds: Literal["earth"] = "earth"
    source: SourceFile
    attribution: Text | None = None
    # What all variables have in common; empty in tiles of earlier versions.
    identity: dict[IdentityKey, IdentityValue] = dataclasses.field(default_factory=dict)
    # Notes on the source's grid.
    notes: tuple[Text, ...] = ()
    generation: Unsigned | None = None
    """The generation of the hour that it was cut from; None for a tile cut without a queue."""

    def __post_init__(self) -> None:
        taken = sorted(RESERVED.intersection(self.variables))
        if taken:
            raise ValueError(f"a variable cannot be called {taken[0]}: that is another array of a tile or its dataset")
        if self.source.name in (".", ".."):
            raise ValueError(f"its source is called {self.source.name!r}, which is a folder")

    @property
    def hour(self) -> int:
        """The forecast hour, rounded down; `minutes` is exact."""
        return self.minutes // 60

    @property
    def run_time(self) -> datetime:
        """When the run started."""
        return run_time(self.run)

    @property
    def valid_time(self) -> datetime:
        """The valid time."""
        return self.run_time + timedelta(minutes=self.minutes)

    def to_json(self) -> bytes:
        """The bytes of the `meta` array. Keys have a fixed order, so that equal contents give equal bytes."""
        from pydantic_core import to_json  # late: only writing needs it; ten times as fast as json

        moments = f'"hour":{self.hour},"run_time":"{_iso(self.run_time)}","valid_time":"{_iso(self.valid_time)}"'
        return to_json(self, inf_nan_mode="null")[:-1] + f",{moments}}}".encode()


class VariableText:
    """The metadata of a variable as JSON, encoded once for all regions; each tile fills in its own statistics."""

    def __init__(self, meta: VariableMeta) -> None:
        self.meta = meta
        self._texts: dict[frozenset[str], bytes] = {}

    def fill_in(self, common: frozenset[str], numbers: Mapping[str, Any], packed: PackedAs | None) -> bytes:
        """The text with these statistics, and without the identity keys that are common to the tile."""
        from pydantic_core import to_json  # late: as above

        text = self._texts.get(common)
        if text is None:
            own = {name: value for name, value in self.meta.identity.items() if name not in common}
            text = self._texts[common] = to_json(replace(self.meta, identity=own))
        text = text.replace(NO_STATISTICS, to_json(numbers)[1:-1], 1)
        return text if packed is None else text.replace(NOT_PACKED, b'"packed":' + to_json(packed), 1)


def meta_json(meta: Meta, variables: Iterable[tuple[str, bytes]]) -> bytes:
    """The result of `meta.to_json()` with these variables added; `meta` itself must have none."""
    texts = []
    for name, text in variables:
        if not re.fullmatch(ARRAY_NAME, name):
            raise TileError(f"an array cannot be called {name!r}")
        texts.append(b'"%b":%b' % (name.encode(), text))
    return meta.to_json().replace(NO_VARIABLES, b'"variables":{%b}' % b",".join(texts), 1)


def parse_meta(raw: bytes, where: str) -> Meta:
    """The validated content of a `meta` array. Raises a TileError that states what is wrong."""
    if len(raw) > LIMIT_META_BYTES:
        raise TileError(f"{where}: its meta has {len(raw)} bytes, more than {LIMIT_META_BYTES}")
    try:
        # Keys added by later versions of gribmill are ignored.
        meta = read(Meta, _parse_json(raw), ignore_unknown=True)
        meta.valid_time  # noqa: B018 - a run such as 20230199_00 has no time
    except CheckFailed as error:
        raise TileError(_what_is_wrong(error.problems, where)) from None
    except (IdentityError, OverflowError) as error:
        raise TileError(f"{where}: its meta has no valid time: {error}") from None
    except (ValueError, RecursionError) as error:
        raise TileError(f"{where}: its meta is not JSON: {str(error)[:200]}") from None
    return meta


def _parse_json(raw: bytes) -> Any:
    text = raw.decode()
    found = json.loads(text)
    if "\\ud" in text.lower():  # half of a surrogate pair, which cannot be written to a file or terminal
        json.dumps(found, ensure_ascii=False).encode()
    return found


def _what_is_wrong(problems: list[WrongValue], where: str) -> str:
    for problem in problems:
        if problem.place == ("format",) and isinstance(problem.value, int) and problem.value > FORMAT:
            return f"{where} has tile format {problem.value}; this gribmill reads format {FORMAT}, use a newer one"
    first = problems[0]
    return f"{where}: its meta is wrong at {first.key[:100] or 'its top level'}: {first.text}"


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
