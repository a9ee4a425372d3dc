"""`gribmill run` on a terminal: one short line per job above a line that shows the progress."""

from __future__ import annotations

import re

import pytest

from gribmill.sandbox.publisher.fault import Fault
from gribmill.sandbox.publisher.faults import Faults
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain
from tests.pseudo_terminal import COLUMNS, Screen, run_in_terminal

pytestmark = pytest.mark.process


def run(chain: ChainDriver) -> Screen:
    chain.command("config", "show")  # writes the settings file
    return run_in_terminal(
        "--config", str(chain.root / "gribmill.toml"), "run", "--until-complete", cwd=chain.root,
        environment={"GRIBMILL_KERNEL": "off"},
    )  # fmt: skip


def test_every_job_is_one_short_line_and_progress_is_shown_below(new_chain: NewChain) -> None:
    # The line is redrawn every second: one slow hour keeps the run from ending before.
    chain = new_chain(chain={"models": ["hrrr"]}, faults=Faults([Fault("slow", keys="*wrfsfcf02.grib2")]))
    chain.publish("hrrr")
    shown = run(chain)
    assert shown.code == 0
    jobs = [line for line in shown.lines if re.match(r"\d\d:\d\d:\d\d hrrr ", line)]
    assert max(map(len, jobs)) <= COLUMNS
    assert not [line for line in jobs if "job_id=" in line]
    (started,) = [line for line in shown.lines if " worker " in line and " runs " in line]
    assert re.search(r" runs fetch×\d+, build×\d+$", started) and len(started) <= COLUMNS
    tiles = [line for line in jobs if re.search(r"\+0[012] (ne|texas) +built \d+\.\d MB in \d+\.\d s", line)]
    assert len(tiles) == 6
    assert len([line for line in jobs if re.search(r"\+0[012] +fetched \d+\.\d MB in ", line)]) == 3
    assert re.search(r"hrrr \d\dZ \d/3 hours, \d/6 tiles \| ", shown.raw), "the line at the bottom"
    assert not re.search(r"hours, \d/6 tiles", shown.text), "which leaves nothing behind"
    assert shown.lines[-1].startswith("finished ")
    tile = chain.tile("hrrr", "ne", 1)
    info = run_in_terminal("tile", "info", str(tile), cwd=chain.root)
    assert str(tile) in info.text, "a path stays in one piece"
    table = info.text.partition("\nname ")[2].splitlines()
    assert table and max(map(len, table)) <= COLUMNS


def test_a_pipe_gets_the_lines_of_a_journal_and_no_progress(new_chain: NewChain) -> None:
    chain = new_chain(chain={"models": ["hrrr"]})
    chain.publish("hrrr")
    said = chain.finish("run", "--until-complete")
    assert "job_id=" in said.stderr
    assert "build_tile" in next(line for line in said.stderr.splitlines() if " runs " in line), "a worker's job types"
    assert "\x1b" not in said.stderr + said.stdout
    assert "hours," not in said.stderr


def test_listing_and_cutting_a_file_fit_a_terminal(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    source = chain.forecasts.folder / chain.forecasts.hours["hrrr", 1].key
    listed = run_in_terminal("grib", "ls", str(source), cwd=chain.root)
    assert (listed.code, listed.widest <= COLUMNS) == (0, True)
    assert "not shown: packing" in listed.text
    (chain.root / "unknown.grib2").write_bytes(source.read_bytes())
    cut = run_in_terminal("cut", "unknown.grib2", "--bbox=-74,41,-70,43", "--out", "weather", cwd=chain.root)
    assert cut.code == 0
    (note,) = [line for line in cut.lines if "is not recognised" in line]
    assert note.startswith("unknown.grib2: the model") and len(note) <= COLUMNS, "it is above the bar"
    (row,) = [line for line in cut.lines if line.endswith(".npz")]
    assert len(row) <= COLUMNS, "the table leaves out what is in the path"
