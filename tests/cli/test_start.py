"""What the commands that people type most import: the rest of their start-up time is Python, click and NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gribmill.identity import HourRef
from gribmill.pipeline.context import make_context
from gribmill.pipeline.job_types import ingest_job
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from tests.pipeline.conftest import Scribe
from tests.tiles.make_tile import make_tile

pytestmark = pytest.mark.process

RUN = "20261101_12"

ALWAYS_HEAVY = (
    "pydantic", "pydantic_core", "xarray", "pandas", "requests", "urllib3", "ssl", "http.client", "email", "asyncio",
    "eccodes", "cfgrib", "matplotlib", "dask", "jsonschema", "cronsim", "rich", "importlib.metadata",
)  # fmt: skip


def imported(data: Path, *words: str) -> tuple[str, set[str]]:
    """The output of a command, and every module that it imported."""
    code = (
        "import sys\nfrom gribmill.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write('\\n' + ' '.join(sys.modules))\n"
    )
    # `make coverage` measures child processes too, and loads more for that.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", code, "--data", str(data), *words],
        capture_output=True, text=True, check=False, env=environment, cwd=data,
    )  # fmt: skip
    return done.stdout, {*done.stderr.rpartition("\n")[2].split()}


def heavy(modules: set[str], *more: str) -> list[str]:
    return [name for name in (*ALWAYS_HEAVY, *more) if name in modules]


def test_point_needs_numpy_and_nothing_else_that_is_slow_to_import(tmp_path: Path) -> None:
    make_tile(tmp_path, {"t2m": (280, {})})
    printed, modules = imported(tmp_path, "point", "42.36", "-71.06")
    assert "6.9" in printed, "the forecast itself, in °C"
    assert "numpy" in modules
    assert heavy(modules, "sqlite3", "gribmill.queue") == []


def test_status_needs_neither_numpy_nor_pydantic(tmp_path: Path) -> None:
    """With a run that has a complete hour, one that waits for its job, and missing ones."""
    context = make_context(Settings(data=tmp_path))
    scribe = Scribe(context.catalogue, context.root)
    scribe.run(RUN, [0, 1, 2])
    scribe.hour(RUN, 0, ["ne"])
    scribe.tile(RUN, 0, "ne")
    store = open_queue(context.settings)
    store.jobs.enqueue(ingest_job(HourRef("hrrr", RUN, 1), live=True))
    store.close()
    (tmp_path / "gribmill.toml").write_text('[chain]\nmodels = ["hrrr"]\nregions = ["ne"]\n')
    printed, modules = imported(tmp_path, "status")
    assert RUN in printed
    assert heavy(modules, "numpy") == []


def test_jobs_are_listed_without_pydantic(tmp_path: Path) -> None:
    store = open_queue(Settings(data=tmp_path))
    store.jobs.enqueue(ingest_job(HourRef("hrrr", RUN, 1), live=True))
    store.close()
    printed, modules = imported(tmp_path, "jobs", "list")
    assert RUN in printed
    assert [name for name in heavy(modules, "numpy") if name != "rich"] == []


def test_preview_of_a_schedule_needs_no_queue(tmp_path: Path) -> None:
    printed, modules = imported(tmp_path, "triggers", "preview", "0 3 * * *")
    assert printed.count("T03:00:00") == 5
    assert [name for name in ("pydantic", "numpy", "sqlite3", "rich", "gribmill.queue.store") if name in modules] == []
