"""An xarray Dataset for tiles that also finds variables by their names in other versions of gribmill."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import xarray as xr

from gribmill.grib.names.lexicon import lexicon


class TileDataset(xr.Dataset):  # type: ignore[no-untyped-call]  # its __init_subclass__ has no types
    """`ds["ceil"]` finds a variable that is now called `ceil_msl`, with a single warning; and vice versa."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        """A variable, or a dataset with some of them."""
        if isinstance(key, str):
            key = self._name(key)
        elif isinstance(key, list):
            key = [self._name(one) for one in key]
        return super().__getitem__(key)

    def _name(self, name: Hashable) -> Hashable:
        if name in self or not isinstance(name, str):
            return name
        others = lexicon().other_names(name, str(self.attrs.get("model", "")))
        return next((one for one in others if one in self), name)
