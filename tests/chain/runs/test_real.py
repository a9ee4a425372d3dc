"""Real files of NOAA and ECMWF, served as published, pass through the whole chain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import eccodes
import pytest

from gribmill.identity import HourRef, run_id
from gribmill.ingest.models.registry import load_models
from gribmill.pipeline.job_types import ingest_job
from gribmill.sandbox.publication import roots
from gribmill.storage.layout import TileFolder
from gribmill.tiles.check.verify import verify
from gribmill.tiles.read.tile import read_tile
from tests.chain.conftest import NewChain
from tests.real_files import real


@dataclass(frozen=True)
class RealFile:
    """A real file: its model, run, hour and index."""

    name: str
    model_id: str
    run: datetime
    hour: int
    variable: str
    line: str | None
    low: float
    high: float


FILES = [
    RealFile(
        "noaa/gfs.20251201.t00z.0p25.f000.TMP-2m.grib2", "gfs",
        datetime.fromisoformat("2025-12-01T00:00Z"), 0, "t2m", "TMP:2 m above ground:anl:", 240, 310,
    ),
    RealFile(
        "noaa/nbm.20250901.t00z.core.f001.co.TMP-2m.grib2", "nbm_co",
        datetime.fromisoformat("2025-09-01T00:00Z"), 1, "t2m", "TMP:2 m above ground:1 hour fcst:", 270, 320,
    ),
    RealFile(
        "noaa/hrrr.20251203.t00z.wrfsfcf00.HPBL.grib2", "hrrr",
        datetime.fromisoformat("2025-12-03T00:00Z"), 0, "hpbl", "HPBL:surface:anl:", -1, 6000,
    ),
    RealFile(
        "ecmwf/ifs.20260310.00z.oper.0p25.0h.surface.grib2", "ifs",
        datetime.fromisoformat("2026-03-10T00:00Z"), 0, "", None, 0, 0,
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=[file.model_id for file in FILES])
def test_real_file_becomes_tiles(new_chain: NewChain, file: RealFile) -> None:
    source = real(file.name)
    models = load_models()
    model = models[file.model_id]
    chain = new_chain(chain={"keep_grib": True})
    chain.changes = {"models": {}, "roots": roots([model], f"http://127.0.0.1:{chain.port}/")}
    urls = model.urls(file.run, file.hour)[0]
    bucket = chain.folder / model.mirrors[0].name
    place = bucket / urls.grib_url.removeprefix(urls.mirror.root)
    place.parent.mkdir(parents=True)
    place.write_bytes(source.read_bytes())
    assert urls.index_url
    index = bucket / urls.index_url.removeprefix(urls.mirror.root)
    noaa = f"1:0:d={file.run:%Y%m%d%H}:{file.line}\n"
    index.write_text(noaa if file.line else "".join(ecmwf_lines(source, file.run, file.hour)))
    hour = HourRef(file.model_id, run_id(file.run), file.hour)
    chain.store.jobs.enqueue(ingest_job(hour, live=False, regions=("ne", "texas")))
    ran = chain.work()
    assert [one.job.type for one in ran] == ["ingest_grib", "build_tile", "build_tile", "publish"], chain.troubles()
    for region in ("ne", "texas"):
        path = TileFolder(chain.data, hour.model_id, hour.run_id, region).tile(60 * hour.hour)
        checks = verify(path, data=chain.data)
        assert [check for check in checks if check.good is not True] == []
        tile = read_tile(path)
        names = [file.variable] if file.variable else ["ptype", "tcc", "weasd"]
        assert set(names) <= set(tile.names)
        if file.variable:
            values = tile.read(file.variable)
            assert file.low < values.min() <= values.max() < file.high
    chain.assert_sound()


def ecmwf_lines(source: Path, run: datetime, hour: int) -> Iterator[str]:
    """The lines of an index as ECMWF writes it."""
    with source.open("rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            line = {
                "domain": "g", "date": f"{run:%Y%m%d}", "time": f"{run:%H}00", "expver": "0001", "class": "od",
                "type": "fc", "stream": "oper", "step": str(hour), "levtype": "sfc",
                "param": eccodes.codes_get(handle, "shortName"),
                "_offset": eccodes.codes_get(handle, "offset", int),
                "_length": eccodes.codes_get(handle, "totalLength"),
            }  # fmt: skip
            eccodes.codes_release(handle)
            yield json.dumps(line) + "\n"
