"""Whether a tile may take the place of one that exists: not if that was cut from another source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from gribmill.grib.field_identity import FieldIdentity, identity_text
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import GridRecord, Meta, SourceFile
from gribmill.tiles.read.tile import read_tile

REFUSED = (
    "{path} was cut from {old}; {new} would replace it: give another --model or --out, or --replace to replace the tile"
)


def common_identity(identities: Iterable[Mapping[str, str | int | float]]) -> FieldIdentity:
    """What all variables of a tile have in common."""
    return reduce(_common, map(dict, identities))


def check_replaceable(path: StoredPath, source: SourceFile, identity: FieldIdentity, grid: GridRecord) -> None:
    """Raise TileError if the tile at `path` was cut from another file, model, member or grid.

    A file of the same name, identity and grid is taken for a newer copy of the same file.
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
    """The metadata of the tile that is there; None if there is none, or only a damaged one."""
    try:
        return read_tile(path).meta if path.is_file() else None
    except TileError:
        return None


def _common(one: FieldIdentity, other: FieldIdentity) -> FieldIdentity:
    return one if one == other else dict(one.items() & other.items())


def _words(name: str, identity: Mapping[str, str | int | float]) -> str:
    return f"{name} ({text})" if (text := identity_text(identity)) else name
