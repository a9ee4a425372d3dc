"""The JSON of `meta`, assembled from shared texts, equals what the model itself would write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic_core import to_json

from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import PackedAs, VariableMeta, VariableText, meta_json, parse_meta
from gribmill.tiles.read.tile import read_tile
from tests import make_grib
from tests.local_path import local
from tests.tiles.make_tile import BOSTON, make_tile, quantity

pytestmark = pytest.mark.slow

NUMBERS: dict[str, Any] = {"min": 1e-7, "max": 1e16, "mean": None, "missing": 3}


@pytest.mark.parametrize(("encoding", "resolution"), [("fast", None), ("packed", None), ("compact", 0.25)])
def test_meta_is_the_json_of_its_parsed_content(tmp_path: Path, encoding: str, resolution: float | None) -> None:
    values = make_grib.smooth_values(make_grib.GRIDS["gfs"].shape, seed=1, mean=280, span=20)
    file = make_grib.write(
        tmp_path / "a.grib2",
        [make_grib.make_message("gfs", name, values, step=1, decimal=1) for name in ("2t", "10u", "10v")],
    )
    method = "cells" if resolution else None
    region = Region("boston", BOSTON.box, resolution=resolution, method=method, encoding=encoding)  # type: ignore[arg-type]
    (built,) = build(file, [region], tmp_path).tiles
    with np.load(local(built.path)) as loaded:
        raw = loaded["meta"].tobytes()
    assert raw == built.meta_json
    assert parse_meta(raw, "a").to_json() == raw
    assert built.meta == read_tile(built.path).meta


def test_text_of_a_variable_has_its_statistics_and_only_its_own_identity() -> None:
    meta = VariableMeta(**quantity(long_name='"packed":null', identity={"centre": 7, "percentile": 10}))
    packed = PackedAs(reference=1.5, scale=0.1, factor=1.0)
    text = VariableText(meta).fill_in(frozenset({"centre"}), NUMBERS, packed)
    assert text == to_json(replace(meta, **NUMBERS, packed=packed, identity={"percentile": 10}))


def test_text_is_not_shared_between_tiles_with_other_identities() -> None:
    text = VariableText(VariableMeta(**quantity(identity={"centre": 7})))
    assert b'"identity":{}' in text.fill_in(frozenset({"centre"}), NUMBERS, None)
    assert b'"identity":{"centre":7}' in text.fill_in(frozenset(), NUMBERS, None)


def test_a_name_that_is_not_an_array_name_is_refused(tmp_path: Path) -> None:
    meta = read_tile(make_tile(tmp_path, {"t2m": (280, {})})).meta
    with pytest.raises(TileError, match="cannot be called"):
        meta_json(meta, [('t":1,"x', b"{}")])
