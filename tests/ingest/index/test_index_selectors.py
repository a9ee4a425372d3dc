"""From the lexicon to selectors of index entries."""

from __future__ import annotations

import pytest

from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.time_range import base_name
from gribmill.ingest.index.parse import parse_noaa
from gribmill.ingest.index.select import EcmwfSelector, NoaaSelector, UnknownVariable, select, wanted
from gribmill.ingest.models.registry import load_models
from tests.grib.names.lexicon_lookup import from_ecmwf, from_noaa
from tests.ingest.make_index import noaa_lines


def test_lexicon_rows_become_index_selectors() -> None:
    t2m, tp, t850, sot = wanted(["t2m", "tp", "t_850", "sot_1"])
    assert t2m.noaa == NoaaSelector(("TMP",), ("2 m above ground",))
    assert t2m.ecmwf == EcmwfSelector(("2t",))
    assert tp.noaa == NoaaSelector(("APCP",), ("surface",), "accum", "run")
    assert (t850.noaa, t850.ecmwf) == (NoaaSelector(("TMP",), ("850 mb",)), EcmwfSelector(("t",), "pl", "850"))
    assert (sot.noaa, sot.ecmwf) == (None, EcmwfSelector(("sot",), "sol", "1"))


def test_an_unknown_name_is_refused_with_suggestions() -> None:
    with pytest.raises(UnknownVariable, match=r"no variable 't2n' in the lexicon; did you mean t2m"):
        wanted(["t2m", "t2n"])


def test_a_parameter_that_wgrib2_could_not_name_is_found_by_its_numbers() -> None:
    row = next(row for row in lexicon().rows.values() if row.name == "frzr")
    numbers = row.grib2[0].parameter
    element = f"var discipline={numbers[0]} center=7 local_table=1 parmcat={numbers[1]} parm={numbers[2]}"
    index = parse_noaa(noaa_lines([f"{element}:surface:0-8 hour acc fcst:"]), "x.idx")
    assert list(select(index, wanted(["frzr"]), 8).found) == ["frzr"]


def test_selected_messages_have_the_lexicons_name() -> None:
    times = {"instant": "8 hour fcst", "accum": "0-8 hour acc fcst", "avg": "7-8 hour ave fcst"}
    for name in sorted({name for model in load_models().values() for name in model.variables}):
        (want,) = wanted([name])
        if want.noaa:
            time = times.get(want.noaa.statistic, f"7-8 hour {want.noaa.statistic} fcst")
            time = "7-8 hour acc fcst" if want.noaa.since == "bucket" else time
            for level in want.noaa.levels:
                found = from_noaa(want.noaa.elements[0], level, time)
                assert found is not None and found.name == (base_name(name) if want.noaa.minutes else name)
        if want.ecmwf:
            found = from_ecmwf(want.ecmwf.params[0], want.ecmwf.levtype, want.ecmwf.levelist or None)
            assert found is not None and found.name == name
