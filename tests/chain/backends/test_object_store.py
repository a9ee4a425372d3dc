"""The chain with tiles and spool in an S3 server builds the same tiles, whatever fails."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gribmill
from gribmill.identity import RunRef
from gribmill.pipeline.handlers import spooled_hour
from gribmill.pipeline.job_types import scan_job
from gribmill.storage import object_client
from gribmill.storage.object_path import ObjectPath
from gribmill.storage.open_root import root_of
from gribmill.tiles.read.tile import read_tile
from tests.chain.chain_driver import ChainDriver
from tests.chain.compare_tiles import same_weather
from tests.chain.conftest import NewChain, of_model
from tests.chain.failures.die_at_point import STORE_POINTS
from tests.chain.failures.test_frozen import Frozen, few, frozen, wake, widen
from tests.chain.failures.test_kill import CHAIN, Dying, dying
from tests.servers.seaweed import ObjectServer, is_ready, start_weed
from tests.servers.shared import end_guardian, guard
from tests.waiting import wait_until

__all__ = ["dying", "frozen"]  # fixtures
pytestmark = pytest.mark.process

NewStoreChain = Callable[..., ChainDriver]


@pytest.fixture
def store_chain(new_chain: NewChain, prefix: ObjectPath, monkeypatch: pytest.MonkeyPatch) -> NewStoreChain:
    """Creates chains with tiles and spool in the object store."""
    # Do not wait for the host that has the messages: here there is only one.
    monkeypatch.setattr(spooled_hour, "OWN_HOST_SECONDS", 0.0)

    def make(**options: Any) -> ChainDriver:
        return new_chain(changes=store_settings(prefix), **options)

    return make


def store_settings(prefix: ObjectPath) -> dict[str, Any]:
    return {
        "tiles": f"{prefix}/tiles",
        "spool": f"{prefix}/grib",
        "store": {"endpoint": prefix.bucket.options.endpoint},
    }


def spooled(chain: ChainDriver) -> list[str]:
    """The messages in the object store."""
    place = root_of(chain.settings).spool_at
    assert place is not None
    return sorted(path.name for path, _ in place.below())


def test_tiles_in_the_store_are_the_same_bytes(store_chain: NewStoreChain, reference: dict[str, bytes]) -> None:
    chain = store_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    assert chain.tiles() == of_model(reference, "hrrr")
    assert not (chain.data / "tiles").exists()
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled() and not spooled(chain), "messages are removed here and there"
    chain.assert_sound()


def test_tiles_in_google_storage_are_the_same_bytes(
    new_chain: NewChain, google_prefix: ObjectPath, reference: dict[str, bytes]
) -> None:
    """Chosen for its protocol, whose conditions are generations (tests/storage/test_google.py)."""
    chain = new_chain(changes=store_settings(google_prefix))
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    assert chain.tiles() == of_model(reference, "hrrr")
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled() and not spooled(chain)
    assert f"{google_prefix}/tiles can be written, and honours conditional writes" in chain.command("doctor").stdout


def test_other_host_builds_tiles_from_the_stored_messages(
    store_chain: NewStoreChain, reference: dict[str, bytes]
) -> None:
    """The local spool is missing, as on a host that did not download the hour."""
    chain = store_chain()
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    assert chain.spooled() and spooled(chain)
    shutil.rmtree(chain.data / "grib")
    asked = len(chain.fetched())
    chain.work()
    assert chain.complete("hrrr"), chain.troubles()
    assert chain.tiles() == of_model(reference, "hrrr")
    assert len(chain.fetched()) == asked, "nothing was downloaded from the publisher again"
    assert not chain.spooled() and not spooled(chain)


def test_damaged_copy_of_messages_is_not_used(store_chain: NewStoreChain, reference: dict[str, bytes]) -> None:
    chain = store_chain()
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    shutil.rmtree(chain.data / "grib")
    place = root_of(chain.settings).spool_at
    assert place is not None
    for path, status in place.below():
        path.write([b"x" * status.st_size])
    wait_until(lambda: chain.work() is not None and not chain.hurry(*CHAIN) and chain.complete("hrrr"), what="the rest")
    assert same_weather(chain.tiles(), of_model(reference, "hrrr"))


def test_hour_is_left_to_its_host_for_a_short_while(
    store_chain: NewStoreChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = store_chain()
    chain.publish("hrrr", 1)
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    shutil.rmtree(chain.data / "grib")
    monkeypatch.setattr(spooled_hour, "OWN_HOST_SECONDS", 3600.0)
    ran = chain.work()
    assert {one.outcome.reason for one in ran if one.job.type == "build_tile"} == {  # type: ignore[union-attr]
        "waiting briefly for the host that has its messages"
    }
    assert not chain.tiles()
    monkeypatch.setattr(spooled_hour, "OWN_HOST_SECONDS", 0.0)

    def all_built() -> bool:
        chain.work()
        return {job.status for job in chain.jobs(type_key="build_tile")} == {"completed"}

    wait_until(all_built, what="the tiles")
    assert chain.tiles()


@pytest.mark.parametrize("point", STORE_POINTS)
def test_worker_that_dies_around_uploads_costs_nothing(
    store_chain: NewStoreChain, reference: dict[str, bytes], dying: Dying, point: str
) -> None:
    chain = store_chain()
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    settings = chain.root / "settings.json"
    settings.write_text(chain.settings.model_dump_json())
    assert dying(settings, point) == -signal.SIGKILL
    for place, content in chain.tiles().items():
        assert content == reference[place], "a tile that is there is whole"
    wait_until(lambda: chain.store.maintenance.recover(), what="the dead worker's lease to run out")
    wait_until(lambda: chain.work() and not chain.hurry(*CHAIN) and chain.complete("hrrr"), what="the rest")
    # An upload that was not recorded has used up its name, so the next download has a later generation.
    assert same_weather(chain.tiles(), of_model(reference, "hrrr"))
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled() and not spooled(chain)
    chain.assert_sound()


def test_upload_that_is_killed_half_way_leaves_nothing(prefix: ObjectPath) -> None:
    path = prefix / "large"
    size = 300_000_000
    code = (
        "from gribmill.storage.object_path import object_path\n"
        "from gribmill.storage.bucket import StoreOptions\n"
        f"path = object_path({str(path)!r}, StoreOptions({prefix.bucket.options.endpoint!r}))\n"
        "path.client\n"
        "print('ready', flush=True)\n"
        f"path.write([bytes({size})])\n"
        "print('done', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        io = Path(f"/proc/{process.pid}/io")
        wait_until(lambda: written(io) > size // 20, what="some of the object to be sent")
        process.kill()
        assert process.stdout.read() == "", "it was killed before the end"
    assert path.now() is None
    write_and_read(path)


def written(io: Path) -> int:
    return int(io.read_text().partition("wchar: ")[2].split()[0])


def write_and_read(path: ObjectPath) -> None:
    path.write([b"small"], "new")
    assert path.read_bytes() == b"small"


def test_frozen_worker_does_not_replace_a_newer_tile(store_chain: NewStoreChain, frozen: Frozen) -> None:
    chain = store_chain()
    few(chain)
    late = frozen(chain, "tile about to be sent", "ingest_grib,build_tile")
    widen(chain)
    path = chain.context.root.tile(RunRef("hrrr", chain.run_id).hour(1).tile("ne"))
    wide = path.read_bytes()
    assert len(read_tile(path).names) > 1
    said = wake(late)
    assert path.read_bytes() == wide
    assert "build_tile False" in said, "its report is refused"
    assert chain.hours("hrrr")[1].generation == read_tile(path).meta.generation


def test_frozen_download_does_not_replace_newer_messages(store_chain: NewStoreChain, frozen: Frozen) -> None:
    chain = store_chain(chain={"keep_grib": True})
    few(chain)
    late = frozen(chain, "messages about to be sent", "ingest_grib")
    widen(chain)
    record = chain.hours("hrrr")[1]
    local = chain.context.root.spool(RunRef("hrrr", chain.run_id).hour(1), record.generation)
    shared = chain.context.root.shared_spool(local)
    assert shared is not None
    before = shared.read_bytes()
    wake(late)
    assert shared.read_bytes() == before
    assert chain.hours("hrrr")[1] == record


@pytest.fixture
def own_server(tmp_path: Path, object_server: ObjectServer) -> Iterator[Callable[[], tuple[ObjectServer, int]]]:
    """Starts a server that the test may restart on the same port with the same data."""
    home = tmp_path / "server"
    home.mkdir()
    how = start_weed(home)
    running: list[int] = []

    def start() -> tuple[ObjectServer, int]:
        running.append(guard(home, how))
        server = ObjectServer(how.facts["endpoint"], home)
        wait_until(lambda: is_ready(server), 90, "the S3 server")
        return server, running[-1]

    yield start
    for number in running:
        end_guardian(number)


def test_temporary_outage_of_the_store_costs_no_attempt(
    new_chain: NewChain,
    reference: dict[str, bytes],
    own_server: Callable[[], tuple[ObjectServer, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, process = own_server()
    monkeypatch.setattr(spooled_hour, "OWN_HOST_SECONDS", 0.0)
    chain = new_chain(changes=store_settings(server.path("chain")))
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    end_guardian(process)
    with monkeypatch.context() as patch:
        patch.setattr(object_client, "PATIENCE_SECONDS", 0.3)
        ran = chain.work()
    assert {one.job.type for one in ran} >= {"build_tile"}
    assert all("did not answer for" in str(one.outcome) for one in ran if one.job.type == "build_tile")
    own_server()
    deadline = time.monotonic() + 120
    while not chain.complete("hrrr") and time.monotonic() < deadline:
        chain.hurry(*CHAIN)
        chain.work()
    assert chain.complete("hrrr"), chain.troubles()
    assert chain.tiles() == of_model(reference, "hrrr")
    assert not [job for job in chain.jobs() if job.status == "failed"]


def test_readers_return_the_same_from_the_store_as_from_disk(
    store_chain: NewStoreChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = store_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    url = str(root_of(chain.settings).tiles_at)
    monkeypatch.setenv("GRIBMILL_STORE_ENDPOINT", chain.settings.store.endpoint)
    copy = tmp_path / "copy"
    for place, content in chain.tiles().items():
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        (copy / place).write_bytes(content)
    for method in ("nearest", "bilinear"):
        there = gribmill.point(42.36, -71.06, data=url, model="hrrr", method=method)
        here = gribmill.point(42.36, -71.06, data=copy, model="hrrr", method=method)
        assert str(there.columns) == str(here.columns) and there.steps == here.steps
    run = gribmill.open_run("hrrr", region="ne", data=url)
    assert run.identical(gribmill.open_run("hrrr", region="ne", data=copy).assign_attrs(run.attrs))
    one = gribmill.open_tile(f"{url}/hrrr/{chain.run_id}/ne/001.npz")
    assert one.identical(gribmill.open_tile(copy / f"tiles/hrrr/{chain.run_id}/ne/001.npz"))
    for words in (("tile", "info"), ("tile", "show"), ("tile", "verify")):
        answer = chain.command(*words, f"{url}/hrrr/{chain.run_id}/ne/001.npz")
        assert answer.returncode == 0, answer
    assert "t2m" in chain.command("point", "42.36", "-71.06").stdout


def test_lost_tiles_are_found_and_brought_back(store_chain: NewStoreChain, reference: dict[str, bytes]) -> None:
    chain = store_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    root = chain.context.root
    root.tile(RunRef("hrrr", chain.run_id).hour(1).tile("ne")).unlink()
    other = root.tile(RunRef("hrrr", chain.run_id).hour(2).tile("texas"))
    assert isinstance(other, ObjectPath)
    other.write([b"damaged"])
    assert "2 of" in chain.command("doctor").stdout
    answer = chain.command("tile", "verify", "hrrr", "--repair")
    assert answer.returncode == 0, answer
    assert "2 of them repaired" in answer.stdout
    assert chain.tiles().keys() == of_model(reference, "hrrr").keys()
    assert "lost or damaged" not in chain.command("doctor").stdout


def test_old_runs_are_removed_from_the_store(store_chain: NewStoreChain) -> None:
    chain = store_chain(chain={"keep_runs": 1})
    chain.publish("hrrr")
    chain.look("hrrr")
    old = RunRef("hrrr", "20200101_00")
    path = chain.context.root.tile(old.hour(0).tile("ne"))
    assert isinstance(path, ObjectPath)
    path.write([b"x" * 1000])
    assert old in chain.context.root.runs()
    answer = json.loads(chain.command("prune", "--json").stdout)
    assert [(one["run"], one["bytes"]) for one in answer["runs"]] == [(old.run_id, 1000)]
    assert chain.context.root.runs() == {RunRef("hrrr", chain.run_id)}
    assert chain.complete("hrrr")
