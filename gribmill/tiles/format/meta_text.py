"""Assembles the JSON of a tile's `meta` from cached texts of its variables, most of which all regions share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import ARRAY_NAME, Meta, PackedAs, VariableMeta

MetaJson = bytes
# Quotes within strings are escaped, so these occur nowhere else.
NO_VARIABLES = b'"variables":{}'
NO_STATISTICS = b'"min":null,"max":null,"mean":null,"missing":0'
NOT_PACKED = b'"packed":null'


class VariableText:
    """The metadata of a variable as JSON, encoded once for all tiles; each tile inserts its own statistics."""

    def __init__(self, meta: VariableMeta) -> None:
        self.meta = meta
        self._texts: dict[frozenset[str], bytes] = {}

    def fill_in(self, common: frozenset[str], numbers: Mapping[str, Any], packed: PackedAs | None) -> bytes:
        """The text with these statistics, and without the identity keys that are common to the tile."""
        text = self._texts.get(common)
        if text is None:
            own = {name: value for name, value in self.meta.identity.items() if name not in common}
            text = self._texts[common] = to_json(replace(self.meta, identity=own))
        text = text.replace(NO_STATISTICS, to_json(numbers)[1:-1], 1)
        return text if packed is None else text.replace(NOT_PACKED, b'"packed":' + to_json(packed), 1)


def meta_json(meta: Meta, variables: Iterable[tuple[str, bytes]]) -> MetaJson:
    """The result of `meta.to_json()` with these variables added; `meta` itself must have none."""
    texts = []
    for name, text in variables:
        if not re.fullmatch(ARRAY_NAME, name):
            raise TileError(f"an array cannot be called {name!r}")
        texts.append(b'"%b":%b' % (name.encode(), text))
    return meta.to_json().replace(NO_VARIABLES, b'"variables":{%b}' % b",".join(texts), 1)
