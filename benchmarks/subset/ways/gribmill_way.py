"""gribmill: the download of ingest_grib; every message is verified against the index and the request, and fsynced."""

from __future__ import annotations

import os
from pathlib import Path

from meter import Fetch, main

from gribmill.identity import run_time
from gribmill.ingest.download.download import download
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import OwnModels, load_models


def make(date: str) -> Fetch:
    session = SourceSession()
    models: dict[str, Model] = {}

    def fetch(root: str, hour: int, folder: Path) -> Path:
        if not models:
            mirrors = [mirror.name for mirror in load_models()["hrrr"].mirrors]
            models.update(load_models(OwnModels(roots=dict.fromkeys(mirrors, root))))
        names = os.environ["BENCH_VARIABLES"].split(",")
        target = folder / "hour.grib2"
        return download(models["hrrr"], run_time(date), hour, wanted(names), target, session=session).path

    return fetch


main(make)
