"""Every table fits 80 columns in a real pseudo-terminal, and names that people type or copy are whole."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gribmill.catalogue.events import MirrorObserved
from gribmill.identity import HourRef
from gribmill.ingest.models.registry import load_models
from gribmill.pipeline.context import make_context
from gribmill.pipeline.job_types import ingest_job, scan_job, tile_jobs
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import ClaimRequest, Failed, Report
from gribmill.queue.store import Store
from gribmill.regions.region import load_regions
from gribmill.settings.schema import Settings
from tests.cli.conftest import Run
from tests.pipeline.conftest import Scribe
from tests.pseudo_terminal import COLUMNS, ROWS, Screen, run_in_terminal
from tests.tiles.make_tile import make_tile

pytestmark = pytest.mark.process

RUN_ID = f"{datetime.now(UTC) - timedelta(hours=30):%Y%m%d_%H}"
WORKER = "weather-node-07.example.net-1234567-0a1b2c3d"
ERROR = (
    f"hrrr {RUN_ID} hour 7: aws-hrrr: https://noaa-hrrr-bdp-pds.s3.amazonaws.com/hrrr.t00z.wrfsfcf07.grib2: the body"
    " does not match its checksum (Content-Digest)"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data root with a run, a worker, jobs that wait, failed and were given up, and failing mirrors."""
    settings = Settings(data=tmp_path / "data")
    context, store = make_context(settings), open_queue(settings)
    scribe = Scribe(context.catalogue, context.root)
    scribe.run(RUN_ID, [*range(19)])
    for hour in (0, 1):
        scribe.hour(RUN_ID, hour, ["ne", "conus"])
        scribe.tile(RUN_ID, hour, "ne")
    store.workers.heartbeat(WORKER, 60, types=[kind.key for kind in store.registry])
    fill_queue(store)
    now = datetime.now(UTC)
    context.catalogue.record(
        MirrorObserved("aws-hrrr", now, well=False, reason=f"https://x.example/{'y' * 90}: returned 500")
        for _ in range(4)
    )
    return tmp_path / "data"


def fill_queue(store: Store) -> None:
    hour = HourRef("hrrr_subh.m15", RUN_ID, 7)
    for attempts in (1, 5):
        job = dataclasses.replace(ingest_job(hour, live=True), max_attempts=attempts)
        store.jobs.enqueue_many([job])
        (claimed,) = store.claim(ClaimRequest(WORKER, ("ingest_grib",), 60))
        store.exchange(WORKER, [Report(claimed.ref, Failed(ERROR))])
    store.jobs.enqueue_many([scan_job("hrrr"), *tile_jobs(hour, ["northern-plains"], live=False)])


def screen(data: Path, *words: str, rows: int = ROWS) -> Screen:
    return run_in_terminal("--data", str(data), *words, cwd=data.parent, rows=rows)


def newest_runs(data: Path) -> list[str]:
    rows = json.loads(screen(data, "models", "list", "--json").raw)
    return [one["newest_run"] for one in rows if one["newest_run"]]


def test_models_list_shows_every_name_and_run_in_full(data: Path) -> None:
    before, shown, after = newest_runs(data), screen(data, "models", "list"), newest_runs(data)
    assert shown.widest <= COLUMNS
    families = {model.family for model in load_models().values()}
    assert {line.split()[0] for line in shown.lines if line.strip()} >= families
    runs = [word for word in shown.text.split() if re.fullmatch(r"\d{8}_\d{2}", word)]
    assert runs in (before, after), "they differ at the turn of an hour"


def test_jobs_list_says_what_each_job_is_about(data: Path) -> None:
    shown = screen(data, "jobs", "list")
    assert shown.widest <= COLUMNS
    assert shown.text.count(f"hrrr_subh.m15 {RUN_ID} +7") == 3
    assert "{" not in shown.text, "arguments as JSON say little in a narrow column"
    assert "1000000000" not in shown.text


def test_the_queue_shows_why_a_job_waits_for_another_attempt(data: Path) -> None:
    shown = screen(data, "jobs", "list", "--queue")
    assert shown.widest <= COLUMNS
    assert f"hrrr_subh.m15 {RUN_ID} +7; aws-hrrr" in shown.text
    assert f"hrrr_subh.m15 {RUN_ID} +7 northern-plains" in shown.text


def test_workers_shows_whole_ids(data: Path) -> None:
    shown = screen(data, "workers")
    assert shown.widest <= COLUMNS
    assert WORKER in shown.text


def test_regions_list_shows_whole_names(data: Path) -> None:
    shown = screen(data, "regions", "list")
    assert shown.widest <= COLUMNS
    assert {line.split()[0] for line in shown.lines if line.strip()} >= {*load_regions({})}


def test_mirrors_list_fits(data: Path) -> None:
    shown = screen(data, "mirrors", "list")
    assert shown.widest <= COLUMNS
    assert "aws-hrrr " in shown.text


@pytest.mark.parametrize("words", [["jobs", "types"], ["jobs", "stats"], ["models", "check", "hrrr"]])
def test_other_tables_fit(data: Path, words: list[str]) -> None:
    assert screen(data, *words).widest <= COLUMNS


def test_status_answers_in_its_first_line(data: Path) -> None:
    shown = screen(data, "status")
    assert all(len(line) <= COLUMNS for line in shown.lines if str(data) not in line), "a path stays in one piece"
    assert shown.lines[0].startswith("not well: ")
    assert shown.code == 1
    assert "mirror aws-hrrr sick until " in shown.text


def test_watching_the_status_keeps_its_first_line_on_the_screen(data: Path) -> None:
    shown = run_in_terminal(
        "--data", str(data), "status", "--watch", cwd=data.parent, rows=8, stop_at=lambda text: "more lines" in text
    )
    assert "not well: " in shown.text
    assert len(shown.text.split("\x1b[H")[-1].splitlines()) < 8
    assert "more lines: a taller window" in shown.text


TENANT = "northern-plains-wind-energy-cooperative"
LABEL = "hrrr every ten minutes, before the morning briefing"
GROUP = "nightly-rebuild-of-the-northern-plains"
TEMPLATE = "one_hour_of_the_hrrr_every_15_minutes"
DEFINITION = "copy_tiles_to_the_archive_of_last_year"
ADDRESS = "https://hooks.example.net/weather/incoming/0123456789abcdef0123456789"


@pytest.fixture
def filled(data: Path, gribmill: Run) -> Path:
    """The same with long names for everything."""
    tile = make_tile(data, {"t2m": (280, {}), "u10": (3, {}), "v10": (4, {})})
    assert tile.is_file()
    for words in (
        ["tenants", "add", TENANT, "--title", "Wind energy of the northern plains", "--max-running", "4"],
        ["triggers", "add", LABEL, "scan_source", '{"model_id": "hrrr"}', "--cron", "*/10 0-12 * * 1-5"],
        [
            "templates",
            "add",
            TEMPLATE,
            "ingest_grib",
            "--set",
            "model_id=hrrr_subh.m15",
            "--description",
            "as the morning briefing needs it, " * 3,
        ],
        [
            "definitions",
            "add",
            DEFINITION,
            "--description",
            "to the shelf of last year, " * 3,
            "--",
            "gribmill",
            "status",
            "{{model}}",
        ],
        ["webhooks", "add", ADDRESS, "--events", "run.*,model.stale,model.recovered,mirror.sick"],
        ["jobs", "reserve", "--type", "build_tile", "--by", "someone-with-a-long-name@weather-node-07.example.net"],
        ["events", "emit", "file.arrived", '{"model": "hrrr", "run": "20261118_00", "note": "zzzzzzzzzzzzzzzz"}'],
    ):
        answer = gribmill(*words)
        assert answer.code == 0, answer.err
    jobs = "".join('{"type": "sleep", "args": {"seconds": 1}}\n' for _ in range(3))
    assert gribmill("groups", "add", GROUP, stdin=jobs).code == 0
    return data


LISTINGS = {
    "point 42.36 -71.06": "t2m",
    "point 42.36 -71.06 --daily": "t2m",
    "jobs list": "sleep",
    "jobs list --status failed": "hrrr_subh.m15",
    "jobs types": DEFINITION,
    "jobs stats": "",
    "jobs reservations": "build_tile",
    "workers --all": WORKER,
    "triggers list": LABEL,
    "tenants list": TENANT,
    "groups list": GROUP,
    "templates list": TEMPLATE,
    "definitions list": DEFINITION,
    "webhooks list": ADDRESS,
    "events list": "file.arrived",
    "events names": "run.seen",
    "mirrors list": "aws-hrrr",
    "models list": "ifs_enfo",
    "regions list": "",
    "tile show tiles/hrrr/20230722_06/boston/001.npz t2m": "",
}


@pytest.mark.parametrize("words", LISTINGS)
def test_every_listing_fits_and_has_its_names_in_one_piece(filled: Path, words: str) -> None:
    shown = run_in_terminal("--data", str(filled), *words.split(), cwd=filled)
    assert [line for line in shown.lines if len(line) > COLUMNS] == []
    assert LISTINGS[words] in shown.text, "a name is whole, and in one line"
