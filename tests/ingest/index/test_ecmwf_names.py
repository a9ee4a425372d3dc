"""ECMWF's index lines with current and future names: each model file selects both."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import eccodes
import pytest

from gribmill.grib.names.lexicon import lexicon
from gribmill.ingest.index.parse import parse_ecmwf
from gribmill.ingest.index.select import Selection, select, wanted
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import load_models
from tests.ingest.make_index import ecmwf_line

RUN = datetime(2025, 3, 1, tzinfo=UTC)
HOUR = 6
# One member of each model file.
MODELS = {
    model.family: model
    for model in reversed(load_models().values())
    if model.family in {"ifs", "ifs_enfo", "ifs_wave", "aifs", "aifs_ens"}
}
# Names in ECMWF's current indexes, and ecCodes' names of the same fields under tables 34 and later.
RENAMED: dict[str, list[dict[str, Any]]] = {
    "t2m_max": [{"param": "mx2t3"}, {"param": "mx2t6"}, {"param": "max_2t"}, {"param": "max_2t", "step": "3-6"}],
    "t2m_min": [{"param": "mn2t3"}, {"param": "mn2t6"}, {"param": "min_2t"}, {"param": "min_2t", "step": "3-6"}],
    "gust_max": [{"param": "10fg"}, {"param": "10fg3"}, {"param": "max_i10fg"}, {"param": "max_i10fg", "step": "3-6"}],
    "u100": [
        {"param": "100u"}, {"param": "u", "levtype": "hl", "levelist": "100"},
        {"param": "u", "levtype": "sfc", "levelist": "100"},
    ],
    "v100": [
        {"param": "100v"}, {"param": "v", "levtype": "hl", "levelist": "100"},
        {"param": "v", "levtype": "sfc", "levelist": "100"},
    ],
}  # fmt: skip
# Fields of the same file that must not be confused with them.
OTHERS = [
    {"param": "u", "levtype": "pl", "levelist": "100"}, {"param": "v", "levtype": "pl", "levelist": "100"},
    {"param": "2t"}, {"param": "10u"}, {"param": "u", "levtype": "hl", "levelist": "10"},
    {"param": "max_2t", "step": "6-9"},
]  # fmt: skip


def line(model: Model, offset: int, words: dict[str, Any]) -> str:
    kind, _, number = model.extras[0].partition(":")
    return ecmwf_line(None, offset, **{"type": kind, "number": number or None, **words})


def chosen(model: Model, name: str, words: dict[str, Any]) -> Selection:
    lines = [line(model, 1000 * place, one) for place, one in enumerate([*OTHERS, words])]
    inventory = parse_ecmwf("".join(lines).encode(), "x.index", RUN)
    return select(inventory, wanted([name]), HOUR, extras=model.extras)


@pytest.mark.parametrize("family", MODELS)
def test_every_ecmwf_model_is_tried(family: str) -> None:
    assert len(MODELS) == 5
    assert MODELS[family].variables


@pytest.mark.parametrize(
    ("family", "name", "words"),
    [
        (family, name, words)
        for family, model in MODELS.items()
        for name, lines in RENAMED.items()
        for words in lines
        if name in model.variables
    ],
)
def test_either_name_is_selected(family: str, name: str, words: dict[str, Any]) -> None:
    found = chosen(MODELS[family], name, words)
    assert {name: entry.offset for name, entry in found.found.items()} == {name: 1000 * len(OTHERS)}
    assert not found.missing and not found.duplicates


def test_the_renamed_variables_are_those_of_the_operational_models() -> None:
    assert {*RENAMED} <= {*MODELS["ifs"].variables}
    assert {"u100", "v100"} <= {*MODELS["aifs"].variables} & {*MODELS["ifs_enfo"].variables}


@pytest.mark.parametrize("family", MODELS)
def test_no_other_variable_gets_a_new_name(family: str) -> None:
    """The witness is ecCodes: its names for the keys of each current name under table version 35."""
    for name in MODELS[family].variables:
        row = lexicon().get(name)
        assert row is not None and row.ecmwf, name
        if row.is_family or row.levels == () or ("_" in name and name not in RENAMED):
            continue  # on pressure levels, by the same words
        params = {text.partition("@")[0] for text in row.ecmwf}
        for param in params:
            assert new_names(param) <= params, (name, param)


def new_names(param: str) -> set[str]:
    """The short names that ecCodes gives to the keys of a short name when the tables are new."""
    found = set()
    for process in (155, 160):
        message = eccodes.codes_grib_new_from_samples("GRIB2")
        try:
            eccodes.codes_set(message, "centre", 98)
            eccodes.codes_set(message, "shortName", param)
            eccodes.codes_set(message, "tablesVersion", 35)
            eccodes.codes_set(message, "generatingProcessIdentifier", process)
            found.add(eccodes.codes_get(message, "shortName"))
        except eccodes.CodesInternalError:
            continue  # these tables do not have it
        finally:
            eccodes.codes_release(message)
    return found - {"unknown"}
