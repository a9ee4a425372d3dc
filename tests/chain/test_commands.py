"""The chain as its user sees it: commands in processes of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gribmill.pipeline.scan_schedule import scan_job
from gribmill.queue.model import Succeeded
from gribmill.tiles.read.tile import read_tile
from tests.chain.chain_driver import World
from tests.chain.conftest import NewWorld, of_model
from tests.waiting import wait_until


@pytest.mark.process
def test_run_follows_two_models_while_they_arrive(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world(chain={"models": ["hrrr", "gfs"]})
    world.publish("hrrr", 0)
    world.publish("gfs", 0)
    process = world.start("run")
    wait_until(lambda: world.tile("hrrr", "ne", 0).is_file() and world.tile("gfs", "texas", 0).is_file())
    assert not world.complete("hrrr")
    assert world.latest("hrrr").get("ne", {}).get("complete") is None
    world.publish("hrrr")
    world.publish("gfs")
    wait_until(lambda: world.hurry("scan_source") + world.complete("hrrr", "gfs"))
    world.wait_complete("hrrr", "gfs")
    process.terminate()
    assert process.wait(60) == 0
    assert world.tiles() == of_model(reference, "hrrr", "gfs")
    assert not world.spooled()
    world.assert_sound()
    said = world.command("status")
    assert "3/3 hours  6/6 tiles" in said.stdout
    assert said.returncode == 0


@pytest.mark.process
def test_run_until_complete_reports_what_it_built_and_a_second_one_downloads_nothing(
    new_world: NewWorld, reference: dict[str, bytes]
) -> None:
    """The first ends when latest.json has moved and the messages are gone, not when the last tile is written."""
    world = new_world()
    world.publish("hrrr")
    said = world.finish("run", "--until-complete")
    assert said.returncode == 0, said.stderr
    assert world.latest("hrrr")["ne"]["complete"] == world.run_id
    assert not world.spooled()
    assert world.tiles() == of_model(reference, "hrrr")
    world.server.seen.clear()
    again = world.finish("run", "--until-complete")
    assert again.returncode == 0, again.stderr
    assert world.fetched() == []
    assert world.tiles() == of_model(reference, "hrrr")


@pytest.mark.process
def test_two_runs_at_once_do_no_harm(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world()
    world.publish("hrrr")
    processes = [world.start("run"), world.start("run")]
    world.wait_complete("hrrr")
    for process in processes:
        process.terminate()
    assert [process.wait(60) for process in processes] == [0, 0]
    assert world.tiles() == of_model(reference, "hrrr")
    assert len([job for job in world.jobs() if job.type == "build_tile"]) == 6
    world.assert_sound()


def test_two_scanners_at_once_enqueue_each_file_once(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr")
    world.store.jobs.enqueue(scan_job("hrrr"))
    world.store.jobs.enqueue(scan_job("hrrr", world.run_id))
    ran = world.work()
    scans = [one.outcome for one in ran if one.job.type == "scan_source"]
    assert [len(one.then) for one in scans if isinstance(one, Succeeded)] == [3, 3]
    assert len([job for job in world.jobs() if job.type == "ingest_grib"]) == 3
    world.assert_sound()


@pytest.mark.process
def test_backfill_is_counted_then_done_then_nothing_is_left(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world()
    world.publish("gfs")
    words = ("backfill", "gfs", "--from", world.run_id, "--to", world.run_id, "--json")
    (row,) = json.loads(world.command(*words, "--dry-run").stdout)
    assert (row["files"], row["runs"], row["tiles"], row["already_here"]) == (3, 1, 6, 0)
    assert row["bytes"] > 0
    assert not world.jobs()
    (enqueued,) = json.loads(world.command(*words, "--hours", "0").stdout)
    assert enqueued["files"] == 1
    world.work()
    assert sorted(path for path in world.tiles() if path.endswith("000.npz"))
    waiting = world.start(*words[:-1], "--wait")
    world.start("work")
    assert waiting.wait(90) == 0
    world.wait_complete("gfs")
    assert world.tiles() == of_model(reference, "gfs")
    (row,) = json.loads(world.command(*words).stdout)
    assert (row["files"], row["already_here"]) == (0, 3)


def test_live_files_go_before_a_backfill(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("gfs")
    world.publish("hrrr")
    assert world.command("backfill", "gfs", "--from", world.run_id, "--to", world.run_id).returncode == 0
    ran = world.look("hrrr")
    order = [json.loads(one.job.args)["model_id"] for one in ran if one.job.type in ("ingest_grib", "build_tile")]
    ingests = [json.loads(one.job.args)["model_id"] for one in ran if one.job.type == "ingest_grib"]
    assert ingests == ["hrrr"] * 3 + ["gfs"] * 3
    assert order.index("gfs") > max(place for place, name in enumerate(order) if name == "hrrr")


def test_backfill_of_few_variables_does_not_narrow_what_is_live(
    new_world: NewWorld, reference: dict[str, bytes]
) -> None:
    world = new_world()
    world.publish("gfs")
    asked = ("backfill", "gfs", "--from", world.run_id, "--to", world.run_id, "--vars", "t2m")
    assert world.command(*asked).returncode == 0
    world.work()
    assert world.hours("gfs")[0].found == ("t2m",)
    world.look("gfs")
    assert world.tiles() == of_model(reference, "gfs")
    before = len(world.jobs())
    world.look("gfs")
    assert len(world.jobs()) == before + 1


def test_backfill_of_further_variables_adds_them_to_the_tiles_of_every_region(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("gfs", 1)
    asked = ("backfill", "gfs", "--from", world.run_id, "--to", world.run_id, "--hours", "1")
    assert world.command(*asked, "--vars", "t2m,tp").returncode == 0
    world.work()
    further = (*asked, "--vars", "t2m,u10,v10", "--region", "ne")
    said = world.command(*further, "--dry-run").stdout
    assert "would fetch 1 files of 1 runs for 1 tiles" in said
    assert "1 of them are here with other variables, which they keep" in said
    world.command(*further)
    world.work()
    for region in ("ne", "texas"):
        assert {*read_tile(world.tile("gfs", region, 1)).names} == {"t2m", "tp", "u10", "v10"}
    assert not world.spooled()
    world.assert_sound()
    assert "nothing to fetch; 1 files are here already" in world.command(*further).stdout


def test_notification_makes_a_paused_scan_look_now(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr", 0)
    world.look("hrrr", world.run_id)
    world.publish("hrrr", 1)
    assert not world.work()
    key = world.stock.hours["hrrr", 1].key.partition("/")[2]
    event = {"Message": json.dumps({"Records": [{"s3": {"object": {"key": key}}}]})}
    said = world.command("event", "s3", "-", text=json.dumps(event))
    assert f"hrrr {world.run_id}" in said.stdout
    world.work()
    assert world.tile("hrrr", "ne", 1).is_file()


@pytest.mark.process
def test_until_complete_waits_for_a_region_that_was_added(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world()
    world.publish("hrrr")
    for region in ("ne", "texas"):
        done = world.finish("run", "--region", region, "--until-complete")
        assert done.returncode == 0, done.stderr
        assert len(list(world.tile("hrrr", region, 0).parent.glob("0*.npz"))) == 3
    assert world.tiles() == of_model(reference, "hrrr")


def test_prune_keeps_what_latest_names(new_world: NewWorld) -> None:
    world = new_world(chain={"keep_days": 0.0001})
    world.publish("hrrr")
    world.look("hrrr")
    old = world.data / "tiles" / "hrrr" / "20200101_00" / "ne"
    old.mkdir(parents=True)
    (old / "000.npz").write_bytes(b"x" * 10)
    os.utime(old / "000.npz", (0, 0))
    rows = json.loads(world.command("prune", "--dry-run", "--json").stdout)["runs"]
    assert [row["run"] for row in rows] == ["20200101_00"]
    assert old.is_dir()
    assert world.command("prune").returncode == 0
    assert not old.parent.exists()
    assert world.tile("hrrr", "ne", 0).is_file()


def test_arriving_run_is_never_pruned(new_world: NewWorld) -> None:
    """Were it removed for want of disk, it would be fetched again, and removed again."""
    world = new_world(chain={"keep_gigabytes": 1e-9})
    world.publish("hrrr", 0)
    world.look("hrrr")
    assert json.loads(world.command("prune", "--json").stdout)["runs"] == []
    assert world.tile("hrrr", "ne", 0).is_file()


def own_model(folder: Path, world: World) -> dict[str, object]:
    """A model of the user's own: GRIB files in a folder, no index."""
    return {
        "title": "mine",
        "index": "none",
        "licence": "mine",
        "attribution": "me",
        "variables": ["t2m", "u10", "v10"],
        "mirrors": [{"name": "mine", "root": folder.as_uri() + "/"}],
        "layouts": [{"key": "{Ymd}{HH}/step{f}.grib2"}],
        "hours": [{"cycles": str(world.stock.run.hour), "steps": "0-1"}],
    }


def test_own_files_in_a_folder_go_through_the_chain(new_world: NewWorld, tmp_path: Path) -> None:
    world = new_world()
    folder = tmp_path / "mine"
    world.changes = {"models": {"mine": own_model(folder, world)}}
    run = folder / f"{world.stock.run:%Y%m%d%H}"
    run.mkdir(parents=True)
    for hour in (0, 1):
        source = world.stock.folder / world.stock.hours["hrrr", hour].key
        (run / f"step{hour}.grib2").write_bytes(source.read_bytes())
    world.look("mine")
    assert world.complete("mine"), world.counts()
    assert world.hours("mine")[0].regions == ("ne", "texas")
    assert world.tile("mine", "texas", 1).is_file()
    assert not world.spooled()
    assert len(list(run.iterdir())) == 2
