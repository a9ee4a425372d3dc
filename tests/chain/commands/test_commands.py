"""The chain from the user's view, through commands in separate processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gribmill.pipeline.job_types import scan_job
from gribmill.queue.model import Succeeded
from gribmill.tiles.read.tile import read_tile
from tests.chain.chain_driver import ChainDriver
from tests.chain.compare_tiles import same_weather
from tests.chain.conftest import NewChain, of_model
from tests.waiting import wait_until


@pytest.mark.process
def test_run_follows_two_models_while_they_arrive(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain(chain={"models": ["hrrr", "gfs"]})
    chain.publish("hrrr", 0)
    chain.publish("gfs", 0)
    process = chain.start("run")
    wait_until(lambda: chain.tile("hrrr", "ne", 0).is_file() and chain.tile("gfs", "texas", 0).is_file())
    assert not chain.complete("hrrr")
    assert chain.latest("hrrr").get("ne", {}).get("complete") is None
    chain.publish("hrrr")
    chain.publish("gfs")
    wait_until(lambda: chain.hurry("scan_source") + chain.complete("hrrr", "gfs"))
    chain.wait_complete("hrrr", "gfs")
    said = chain.command("status")
    assert said.stdout.startswith("all well: ")
    assert said.returncode == 0
    process.terminate()
    assert process.wait(60) == 0
    assert chain.tiles() == of_model(reference, "hrrr", "gfs")
    assert not chain.spooled()
    chain.assert_sound()
    said = chain.command("status")
    assert "3/3 hours  6/6 tiles" in said.stdout
    assert said.stdout.startswith("not well: no worker is running")
    assert said.returncode == 1


@pytest.mark.process
def test_run_until_complete_reports_what_it_built_and_a_second_one_downloads_nothing(
    new_chain: NewChain, reference: dict[str, bytes]
) -> None:
    """The first ends when latest.json has moved and the messages are gone, not when the last tile is written."""
    chain = new_chain()
    chain.publish("hrrr")
    said = chain.finish("run", "--until-complete")
    assert said.returncode == 0, said.stderr
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled()
    assert chain.tiles() == of_model(reference, "hrrr")
    chain.server.seen.clear()
    again = chain.finish("run", "--until-complete")
    assert again.returncode == 0, again.stderr
    assert chain.fetched() == []
    assert chain.tiles() == of_model(reference, "hrrr")


@pytest.mark.process
def test_two_concurrent_runs_do_no_harm(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    processes = [chain.start("run"), chain.start("run")]
    chain.wait_complete("hrrr")
    for process in processes:
        process.terminate()
    assert [process.wait(60) for process in processes] == [0, 0]
    assert chain.tiles() == of_model(reference, "hrrr")
    assert len([job for job in chain.jobs() if job.type == "build_tile"]) == 6
    chain.assert_sound()


def test_concurrent_scans_enqueue_each_file_once(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    chain.store.jobs.enqueue(scan_job("hrrr", chain.run_id))
    ran = chain.work()
    scans = [one.outcome for one in ran if one.job.type == "scan_source"]
    assert [len(one.then) for one in scans if isinstance(one, Succeeded)] == [3, 3]
    assert len([job for job in chain.jobs() if job.type == "ingest_grib"]) == 3
    chain.assert_sound()


@pytest.mark.process
def test_backfill_is_counted_then_done_then_nothing_is_left(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain()
    chain.publish("gfs")
    words = ("backfill", "gfs", "--from", chain.run_id, "--to", chain.run_id, "--json")
    (row,) = json.loads(chain.command(*words, "--dry-run").stdout)
    assert (row["files"], row["runs"], row["tiles"], row["already_here"]) == (3, 1, 6, 0)
    assert row["bytes"] > 0
    assert not chain.jobs()
    (enqueued,) = json.loads(chain.command(*words, "--hours", "0").stdout)
    assert enqueued["files"] == 1
    chain.work()
    assert sorted(path for path in chain.tiles() if path.endswith("000.npz"))
    waiting = chain.start(*words[:-1], "--wait")
    chain.start("work")
    assert waiting.wait(90) == 0
    chain.wait_complete("gfs")
    assert chain.tiles() == of_model(reference, "gfs")
    (row,) = json.loads(chain.command(*words).stdout)
    assert (row["files"], row["already_here"]) == (0, 3)


def test_live_files_precede_a_backfill(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("gfs")
    chain.publish("hrrr")
    assert chain.command("backfill", "gfs", "--from", chain.run_id, "--to", chain.run_id).returncode == 0
    ran = chain.look("hrrr")
    order = [json.loads(one.job.args)["model_id"] for one in ran if one.job.type in ("ingest_grib", "build_tile")]
    ingests = [json.loads(one.job.args)["model_id"] for one in ran if one.job.type == "ingest_grib"]
    assert ingests == ["hrrr"] * 3 + ["gfs"] * 3
    assert order.index("gfs") > max(place for place, name in enumerate(order) if name == "hrrr")


def test_backfill_of_few_variables_does_not_narrow_live_tiles(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain()
    chain.publish("gfs")
    asked = ("backfill", "gfs", "--from", chain.run_id, "--to", chain.run_id, "--vars", "t2m")
    assert chain.command(*asked).returncode == 0
    chain.work()
    assert chain.hours("gfs")[0].found == ("t2m",)
    chain.look("gfs")
    assert same_weather(chain.tiles(), of_model(reference, "gfs"))
    before = len(chain.jobs())
    chain.look("gfs")
    assert len(chain.jobs()) == before + 1


def test_backfill_of_further_variables_adds_them_to_the_tiles_of_every_region(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("gfs", 1)
    asked = ("backfill", "gfs", "--from", chain.run_id, "--to", chain.run_id, "--hours", "1")
    assert chain.command(*asked, "--vars", "t2m,tp").returncode == 0
    chain.work()
    further = (*asked, "--vars", "t2m,u10,v10", "--region", "ne")
    said = chain.command(*further, "--dry-run").stdout
    assert "would fetch 1 file of 1 run for 1 tile; mirrors have all of them" in said
    assert "1 of them here with other variables, which are kept" in said
    chain.command(*further)
    chain.work()
    for region in ("ne", "texas"):
        assert {*read_tile(chain.tile("gfs", region, 1)).names} == {"t2m", "tp", "u10", "v10"}
    assert not chain.spooled()
    chain.assert_sound()
    assert "nothing to fetch; 1 file here already" in chain.command(*further).stdout


def test_notification_makes_a_paused_scan_look_now(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr", 0)
    chain.look("hrrr", chain.run_id)
    chain.publish("hrrr", 1)
    assert not chain.work()
    key = chain.forecasts.hours["hrrr", 1].key.partition("/")[2]
    event = {"Message": json.dumps({"Records": [{"s3": {"object": {"key": key}}}]})}
    said = chain.command("event", "s3", "-", text=json.dumps(event))
    assert f"hrrr {chain.run_id}" in said.stdout
    chain.work()
    assert chain.tile("hrrr", "ne", 1).is_file()


@pytest.mark.process
def test_until_complete_waits_for_a_region_that_was_added(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    for region in ("ne", "texas"):
        done = chain.finish("run", "--region", region, "--until-complete")
        assert done.returncode == 0, done.stderr
        assert len(list(chain.tile("hrrr", region, 0).parent.glob("0*.npz"))) == 3
    assert chain.tiles() == of_model(reference, "hrrr")


def test_prune_keeps_runs_named_by_latest_json(new_chain: NewChain) -> None:
    chain = new_chain(chain={"keep_days": 0.0001})
    chain.publish("hrrr")
    chain.look("hrrr")
    old = chain.data / "tiles" / "hrrr" / "20200101_00" / "ne"
    old.mkdir(parents=True)
    (old / "000.npz").write_bytes(b"x" * 10)
    os.utime(old / "000.npz", (0, 0))
    rows = json.loads(chain.command("prune", "--dry-run", "--json").stdout)["runs"]
    assert [row["run"] for row in rows] == ["20200101_00"]
    assert old.is_dir()
    assert chain.command("prune").returncode == 0
    assert not old.parent.exists()
    assert chain.tile("hrrr", "ne", 0).is_file()


def test_arriving_run_is_never_pruned(new_chain: NewChain) -> None:
    """If it were removed to free disk space, it would be fetched and removed again and again."""
    chain = new_chain(chain={"keep_gigabytes": 1e-9})
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    assert json.loads(chain.command("prune", "--json").stdout)["runs"] == []
    assert chain.tile("hrrr", "ne", 0).is_file()


def own_model(folder: Path, chain: ChainDriver) -> dict[str, object]:
    """A user-defined model: GRIB files in a folder, without indexes."""
    return {
        "title": "mine",
        "index": "none",
        "licence": "mine",
        "attribution": "me",
        "variables": ["t2m", "u10", "v10"],
        "mirrors": [{"name": "mine", "root": folder.as_uri() + "/"}],
        "layouts": [{"key": "{Ymd}{HH}/step{f}.grib2"}],
        "hours": [{"cycles": str(chain.forecasts.run.hour), "steps": "0-1"}],
    }


def test_user_files_in_a_folder_pass_through_the_chain(new_chain: NewChain, tmp_path: Path) -> None:
    chain = new_chain()
    folder = tmp_path / "mine"
    chain.changes = {"models": {"mine": own_model(folder, chain)}}
    run = folder / f"{chain.forecasts.run:%Y%m%d%H}"
    run.mkdir(parents=True)
    for hour in (0, 1):
        source = chain.forecasts.folder / chain.forecasts.hours["hrrr", hour].key
        (run / f"step{hour}.grib2").write_bytes(source.read_bytes())
    chain.look("mine")
    assert chain.complete("mine"), chain.counts()
    assert chain.hours("mine")[0].regions == ("ne", "texas")
    assert chain.tile("mine", "texas", 1).is_file()
    assert not chain.spooled()
    assert len(list(run.iterdir())) == 2
