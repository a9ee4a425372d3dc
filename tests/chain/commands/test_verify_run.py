"""`tile verify MODEL` finds every tile that differs from its record, and --repair restores it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gribmill.tiles.read.tile import read_tile
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model
from tests.pseudo_terminal import COLUMNS, run_in_terminal
from tests.waiting import wait_until


@pytest.fixture
def chain(new_chain: NewChain) -> ChainDriver:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    return chain


def flip(path: Path) -> None:
    """Damage a file without changing its size."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(byte ^ 0xFF for byte in data[middle : middle + 40])
    path.write_bytes(data)


def damage(chain: ChainDriver) -> None:
    chain.tile("hrrr", "ne", 0).unlink()
    chain.tile("hrrr", "ne", 1).write_bytes(b"")
    flip(chain.tile("hrrr", "texas", 2))


def test_intact_model_is_reported_in_one_line(chain: ChainDriver) -> None:
    answer = chain.command("tile", "verify", "hrrr")
    assert (answer.returncode, answer.stdout) == (0, "6 tiles: 6 right, 0 wrong\n")


def test_each_wrong_tile_is_one_line(chain: ChainDriver) -> None:
    damage(chain)
    answer = chain.command("tile", "verify", "hrrr", chain.run_id)
    *lines, summary = answer.stdout.splitlines()
    assert answer.returncode == 1
    assert [line.split(": ")[0] for line in lines] == [
        str(chain.tile("hrrr", region, hour)) for region, hour in (("ne", 0), ("ne", 1), ("texas", 2))
    ]
    assert "the file: it is missing" in lines[0]
    assert "the file has 0 bytes" in lines[1]
    assert summary == "6 tiles: 3 right, 3 wrong"
    everything = chain.command("tile", "verify", "hrrr", "--all")
    assert "ok" in everything.stdout and "FAILED" in everything.stdout
    found = json.loads(chain.command("tile", "verify", "hrrr", "--json").stdout)
    assert [one["good"] for one in found] == [False] * 3


@pytest.mark.process
def test_terminal_shows_faults_and_checks_within_its_width(chain: ChainDriver) -> None:
    damage(chain)
    faults = run_in_terminal(*chain.words("tile", "verify", "hrrr"), cwd=chain.root)
    everything = run_in_terminal(*chain.words("tile", "verify", "hrrr", "--all"), cwd=chain.root)
    for shown in (faults, everything):
        assert shown.code == 1
        assert all(len(line) <= COLUMNS for line in shown.lines if str(chain.data) not in line)
        assert shown.text.count(str(chain.tile("hrrr", "ne", 1))) == 1, "the path is not repeated in the reason"


@pytest.mark.process
def test_terminal_shows_a_repair_in_a_few_lines(chain: ChainDriver) -> None:
    damage(chain)
    shown = run_in_terminal(*chain.words("tile", "verify", "hrrr", "--repair"), cwd=chain.root)
    assert shown.code == 0
    assert shown.lines[-1].endswith("3 wrong, 3 of them repaired")
    assert len(shown.lines) < 20, "the bar is drawn in place, also while jobs run in this process"


def test_tile_with_fewer_variables_than_recorded_is_found(chain: ChainDriver) -> None:
    tile = chain.tile("hrrr", "texas", 0)
    words = ("--region", "texas", "--model", "hrrr", "--vars", "t2m", "--out", str(chain.root / "few"))
    source = chain.forecasts.folder / chain.forecasts.hours["hrrr", 0].key
    assert chain.command("cut", str(source), *words).returncode == 0
    narrow = chain.root / "few" / tile.relative_to(chain.data)
    assert read_tile(narrow).names == ["t2m"]
    tile.write_bytes(narrow.read_bytes())
    with chain.context.catalogue.database.write() as tx:
        tx.change("catalogue/record_tile", {
            "model_id": "hrrr", "run_id": chain.run_id, "hour": 0, "region": "texas", "generation": 1,
            "bytes": tile.stat().st_size, "variables": read_tile(chain.tile("hrrr", "ne", 0)).names,
        })  # fmt: skip
    answer = chain.command("tile", "verify", "hrrr")
    assert "it lacks variables that are recorded: " in answer.stdout
    assert answer.stdout.endswith("6 tiles: 5 right, 1 wrong\n")


def test_repair_without_a_worker_brings_back_what_is_wrong(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    damage(chain)
    answer = chain.command("tile", "verify", "hrrr", "--repair")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "repairing 3 tiles in this process: 3 hours fetched again" in answer.stderr
    assert answer.stdout.count("(repaired)") == 3
    assert answer.stdout.endswith("6 tiles: 3 right, 3 wrong, 3 of them repaired\n")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled()
    chain.assert_sound()


def test_repair_builds_from_messages_that_are_here(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain(chain={"keep_grib": True})
    chain.publish("hrrr")
    chain.look("hrrr")
    damage(chain)
    chain.server.seen.clear()
    answer = chain.command("tile", "verify", "hrrr", "--repair")
    assert "3 hours from downloaded messages" in answer.stderr
    assert chain.tiles() == of_model(reference, "hrrr")
    assert not chain.fetched()


def test_impossible_repair_is_reported(chain: ChainDriver) -> None:
    damage(chain)
    chain.server.stop()
    answer = chain.command("tile", "verify", "hrrr", "--repair")
    assert answer.returncode == 1
    assert answer.stdout.count("(not repaired)") == 3
    assert chain.latest("hrrr")["ne"]["complete"] is None, "the run is not called complete"


@pytest.mark.process
def test_repair_is_left_to_a_running_worker(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    chain.start("work")
    wait_until(lambda: [one for one in chain.store.workers.list() if one.state == "active"], what="the worker")
    damage(chain)
    answer = chain.finish("tile", "verify", "hrrr", "--repair", "--json")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert [one["repaired"] for one in json.loads(answer.stdout)] == [True] * 3
    assert chain.tiles() == of_model(reference, "hrrr")


def test_invalid_arguments_are_refused_with_a_sentence(chain: ChainDriver) -> None:
    assert "--repair needs a MODEL" in chain.command("tile", "verify", "x.npz", "--repair").stderr
    assert "at most one RUN" in chain.command("tile", "verify", "hrrr", chain.run_id, "x").stderr
    assert "has no runs here" in chain.command("tile", "verify", "gfs").stderr
    assert "no run 20200101_00 of hrrr here" in chain.command("tile", "verify", "hrrr", "20200101_00").stderr
