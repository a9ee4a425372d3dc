"""Writes one tile: arrays are compressed and summarized as they are added, and the file is written at the end."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gribmill.arrays import Values
from gribmill.grib.names.lexicon import absent_names
from gribmill.grib.product.keys import FieldIdentity, identity_text
from gribmill.kernel import native
from gribmill.regions.tile_options import Encoding
from gribmill.storage.atomic import write_atomic
from gribmill.storage.layout import TileFolder
from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.tiles.build.region_cut import RegionCut
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import (
    META,
    RESERVED,
    GridRecord,
    Meta,
    PackedAs,
    SkippedMessage,
    SourceFile,
    VariableText,
    meta_json,
    parse_meta,
)
from gribmill.tiles.format.meta_member import check_generation
from gribmill.tiles.format.npz_writer import Member, Summary, encode_member, zip_pieces
from gribmill.tiles.format.requantize import requantize
from gribmill.tiles.format.tile_grid import write_grid
from gribmill.tiles.read.tile import read_tile

T = TypeVar("T")
# BuiltTile has an attribute `bytes`.
MetaJson = bytes
# Sums are computed in sixteen lanes, as in the kernel, so that both give bitwise equal means.
LANES = 16

REFUSED = (
    "{path} was cut from {old}; {new} would replace it: give another --model or --out, or --replace to replace the tile"
)


@dataclass(frozen=True)
class BuiltTile:
    """A tile that was written."""

    folder: TileFolder
    minutes: int
    path: StoredPath
    bytes: int
    meta_json: MetaJson = field(repr=False)

    @cached_property
    def meta(self) -> Meta:
        """Its metadata, parsed on demand: workers do not need it."""
        return parse_meta(self.meta_json, str(self.path))

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file as it is now, computed on demand: workers do not need it."""
        if isinstance(self.path, ObjectPath):
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def region(self) -> str:
        """The region's name."""
        return self.folder.region


class EncodePool:
    """Threads that encode arrays while the next field is decoded, and write tiles in parallel.

    With one thread, `submit` does the work at once. Use it as a context manager.
    """

    def __init__(self, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, "encode") if threads > 1 else None
        self._this: list[Future[Any]] = []
        self._before: list[Future[Any]] = []

    def __enter__(self) -> EncodePool:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=error is not None)

    def submit(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start the work; the returned function waits for its result."""
        if self._pool is None:
            done = work()
            return lambda: done
        future = self._pool.submit(work)
        self._this.append(future)
        return future.result

    def next_field(self) -> None:
        """Wait until the arrays of at most one field are pending, because decoding is faster than encoding."""
        wait(self._before)
        self._before, self._this = self._this, []


@dataclass(slots=True)
class TileWriter:
    """The tile of one region at one step: the variables added so far."""

    folder: TileFolder
    minutes: int
    cut: RegionCut
    encoding: Encoding = "fast"
    # The hour that the tile is stored under, for models whose hours are not valid times.
    hour: int | None = None
    pool: EncodePool = field(default_factory=EncodePool)
    encoded: dict[str, Callable[[], EncodedVariable]] = field(default_factory=dict)
    # The variables that were cut; with cell statistics, one variable gives several arrays.
    taken: set[str] = field(default_factory=set)
    skipped: list[SkippedMessage] = field(default_factory=list)
    duplicates: list[SkippedMessage] = field(default_factory=list)
    identities: list[FieldIdentity] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    generation: int | None = None

    @property
    def identity(self) -> FieldIdentity:
        """The identity common to all variables; sorted, so that equal contents give equal bytes."""
        return dict(sorted(reduce(_common, self.identities).items()))

    @property
    def path(self) -> StoredPath:
        """The path of the tile."""
        return self.folder.tile(self.minutes if self.hour is None else self.hour * 60)

    def add(self, name: str, values: Values, text: VariableText, packing: Any = None) -> None:
        """Add one variable. Its metadata does not have statistics yet.

        `packing` is the packing of the source, if the values are unchanged.
        """
        if name in RESERVED or name in self.encoded:
            raise TileError(f"two arrays of one tile would be named {name}")
        shape = self.cut.record.shape
        if values.shape != shape or values.dtype != np.float32:
            raise TileError(f"{name} is {values.dtype}{values.shape}, not float32{shape}")
        self.identities.append(text.meta.identity)
        self.encoded[name] = self.pool.submit(partial(_encode, name, values, text, packing, self.encoding))

    def write(self, source: SourceFile, wanted: frozenset[str], attribution: str | None) -> BuiltTile:
        """Write the tile, and the grid file next to it if it does not exist yet."""
        cut = self.cut
        # All at once: between fields, this code would run with a cold cache.
        made = [result() for _, result in sorted(self.encoded.items())]
        identity = self.identity
        common = frozenset(identity)
        meta = Meta(
            model=self.folder.model,
            run=self.folder.run,
            minutes=self.minutes,
            region=cut.region,
            grid=cut.record,
            variables={},
            absent=tuple(absent_names(wanted, self.taken)),
            skipped=tuple(self.skipped),
            duplicates=tuple(self.duplicates),
            source=source,
            attribution=attribution,
            identity=identity,
            notes=tuple(self.notes),
            generation=self.generation,
        )
        text = meta_json(meta, ((one.member.name, one.meta_text(common)) for one in made))
        others = (encode_member(META, np.array(text)), *cut.axes)
        path = self.path
        check = None if self.generation is None else partial(check_generation, path, self.generation)
        size = write_atomic(path, zip_pieces([*(one.member for one in made), *others]), check)
        write_grid(self.folder, cut.record, cut.y, cut.x)
        return BuiltTile(self.folder, self.minutes, path, size, text)


class EncodedVariable(NamedTuple):
    """One compressed variable; `packed` describes the array if it holds integers instead of values."""

    text: VariableText
    member: Member
    summary: Summary
    points: int
    packed: PackedAs | None

    def meta_text(self, common: frozenset[str]) -> bytes:
        """Its metadata with statistics, without the part of its identity that is common to the tile."""
        return self.text.fill_in(common, statistics_from(self.summary, self.points), self.packed)


def _encode(name: str, values: Values, text: VariableText, packing: Any, encoding: Encoding) -> EncodedVariable:
    found = requantize(values, packing) if encoding == "packed" and packing is not None else None
    array, how = found or (values, None)
    made = encode_member(name, array, "compact" if encoding == "compact" else "fast")
    return EncodedVariable(text, made, made.summary or summarize(values), values.size, how)


def statistics(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Minimum, maximum and mean of the values, and the number of missing points."""
    return statistics_from(summarize(array), array.size)


def statistics_from(summary: Summary, points: int) -> dict[str, Any]:
    """The statistics from a summary of `points` points."""
    least, greatest, total, missing = summary
    present = points - missing
    if not present:
        return {"min": None, "max": None, "mean": None, "missing": missing}
    return {"min": _number(least), "max": _number(greatest), "mean": _number(total / present), "missing": missing}


def summarize(array: np.ndarray[Any, Any]) -> Summary:
    """The summary of an array."""
    if array.dtype == np.float32 and array.flags.c_contiguous and native.available():
        return native.summarize(array)
    return _summarize(array)


def _summarize(array: np.ndarray[Any, Any]) -> Summary:
    nowhere = np.isnan(array)
    missing = int(np.count_nonzero(nowhere))
    if missing == array.size:
        return math.inf, -math.inf, 0.0, missing
    doubles = np.zeros((-(-array.size // LANES), LANES))
    doubles.reshape(-1)[: array.size] = np.where(nowhere, 0, array).reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        lanes: list[float] = doubles.sum(axis=0).tolist()
    total = 0.0
    for lane in lanes:
        total += lane
    return float(np.nanmin(array)), float(np.nanmax(array)), total, missing


def _number(value: float) -> float | None:
    # +0.0 for both zeros: libraries disagree about the minimum of 0.0 and -0.0.
    return value + 0.0 if math.isfinite(value) else None


def _common(one: FieldIdentity, other: FieldIdentity) -> FieldIdentity:
    return one if one == other else dict(one.items() & other.items())


def check_replaceable(path: StoredPath, source: SourceFile, identity: FieldIdentity, grid: GridRecord) -> None:
    """Raise TileError if the tile at `path` was cut from another file, model, member or grid.

    A file with the same name, identity and grid counts as a newer copy of the same file.
    """
    before = _existing(path)
    if before is None or before.source.sha256 == source.sha256:
        return
    same_kind = (not before.identity or before.identity == identity) and before.grid.definition == grid.definition
    if before.source.name == source.name and same_kind:
        return
    old, new = _words(before.source.name, before.identity), _words(source.name, identity)
    raise TileError(REFUSED.format(path=path, old=old, new=new))


def _existing(path: StoredPath) -> Meta | None:
    """The metadata of the existing tile; None if it does not exist or is damaged."""
    try:
        return read_tile(path).meta if path.is_file() else None
    except TileError:
        return None


def _words(name: str, identity: Mapping[str, str | int | float]) -> str:
    return f"{name} ({text})" if (text := identity_text(identity)) else name
