"""The sample inventories: those taken from real indexes contain only lines of these indexes."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner, Result

from gribmill.cli.chain.models.check import check
from gribmill.ingest.index.entry import Inventory
from gribmill.ingest.index.parse import guess_kind, parse_index
from gribmill.ingest.index.sample import inventory_lines, sample_source, split_line
from gribmill.ingest.index.select import select, wanted
from gribmill.ingest.models.registry import load_models
from gribmill.settings.schema import Settings
from tests.real_files import real

MODELS = load_models()
# The index of each sample marked as real: model, file, hour, and lines missing from the index.
REAL: dict[str, tuple[str, str, int, set[str]]] = {
    "aifs": ("aifs", "reformatters.aifs_single_20250301_00z_0h.index", 0, set()),
    "gefs": ("gefs.avg", "reformatters.2025080100.geavg.t00z.pgrb2s.0p25.f009.idx", 9, set()),
    "gefs_0p50": ("gefs_0p50.c00", "reformatters.2025080100.gec00.t00z.pgrb2a.0p50.f432.idx", 432, set()),
    "gfs": ("gfs", "kerchunk.2023110400.gfs.t00z.pgrb2.0p25.f021.idx", 21, set()),
    "gfswave": ("gfswave", "gribberish.2023082318.gfswave.t18z.atlocn.0p16.f001.grib2.idx", 1, set()),
    "hrrr": ("hrrr", "reformatters.2025080100.hrrr.t00z.wrfsfcf08.grib2.idx", 8, set()),
    "hrrr_subh": ("hrrr_subh.m00", "kerchunk.2022101403.hrrr.t03z.wrfsubhf09.grib2.idx", 9, set()),
    "nam": ("nam", "bhar.2026080512.nam.t12z.awphys06.excerpt.idx", 6, set()),
    "nbm": (
        "nbm_co", "bhar.2026080512.blend.core.f012.co.excerpt.idx", 12,
        {"TMIN:2 m above ground:min 12h", "WDIR:80 m above ground:inst", "WIND:30 m above ground:inst"},
    ),
    "rap": ("rap", "Herbie.2023120100.rap.t00z.awp130pgrbf00.grib2.idx", 0, set()),
}  # fmt: skip
# Sums since the run began are in NBM's lists for the first hours, and in GEFS's until its sums are reset.
NOT_AT_THAT_HOUR = {
    "gefs.avg": {"tp"},
    "gefs_0p50.c00": {"tp"},
    "nbm_co": {"t2m_min", "ws_30m", "wdir80", "tp", "asnow"},
}
_STATISTIC = re.compile(r"-\d+ (?:min|hour|day) (acc|ave|max|min) fcst")


def index_of(name: str) -> Inventory:
    data = real(f"idx/{name}").read_bytes()
    return parse_index(guess_kind(data), data, name)


def test_every_sample_names_its_source() -> None:
    kinds = {model.sample: sample_source(model).kind for model in MODELS.values() if model.sample}
    assert {sample for sample, kind in kinds.items() if kind == "real"} == REAL.keys()
    assert {sample: kind for sample, kind in kinds.items() if kind != "real"} == {
        "hrrr_prs": "made up", "ifs": "reported", "ifs_wave": "made up", "namnest": "made up", "rrfs": "made up",
    }  # fmt: skip


@pytest.mark.parametrize("sample", REAL)
def test_a_real_sample_has_only_lines_of_its_index(sample: str) -> None:
    model_id, name, _, absent = REAL[sample]
    entries = index_of(name).entries
    if name.endswith(".index"):
        there = {f"{entry.element} {entry.level}" for entry in entries}
        assert [line for line in inventory_lines(MODELS[model_id]) if line not in there] == []
        return
    member = MODELS[model_id].extras[0]
    found = set()
    for entry in entries:
        statistic = _STATISTIC.search(entry.window)
        extra = "" if entry.extra == member else entry.extra
        found.add((entry.element, entry.level, statistic[1] if statistic else "inst", extra))
    missing = set()
    for line in inventory_lines(MODELS[model_id]):
        element, level, time, extra = split_line(line)
        # At hour 0 sums have no length, and some indexes write them without one.
        if (element, level, time.split()[0], extra) not in found:
            missing.add(line)
    assert missing == absent


@pytest.mark.parametrize("sample", REAL)
def test_a_real_index_has_every_variable_of_its_model(sample: str) -> None:
    model_id, name, hour, _ = REAL[sample]
    model = MODELS[model_id]
    chosen = select(
        index_of(name), wanted(model.variables), hour, extras=model.extras, offset_minutes=model.offset_minutes
    )
    assert set(chosen.missing) == NOT_AT_THAT_HOUR.get(model_id, set())


def run_check(*arguments: str) -> Result:
    # Click keeps the options for help at the first call: as below `gribmill`, for the tests that come after.
    names = ["-h", "--help"]
    return CliRunner().invoke(
        check, [*arguments, "--json"], obj=Settings(), catch_exceptions=False, help_option_names=names
    )


def test_check_names_the_inventory_it_used() -> None:
    def rows(*arguments: str) -> dict[str, str]:
        (row,) = json.loads(run_check(*arguments).output)
        return {key: row[key] for key in ("source", "source_text")}

    assert rows("nam") == {"source": "real", "source_text": "NAM awphys, f06 of 2026-08-05 12 UTC (excerpt)"}
    assert rows("namnest")["source"] == "made up"
    assert rows("ifs")["source"] == "reported"


def test_check_with_an_index_names_it() -> None:
    path = real(f"idx/{REAL['nam'][1]}")
    result = run_check("nam", "--index", str(path))
    assert result.exit_code == 0
    assert json.loads(result.output)[0]["source_text"] == str(path)
