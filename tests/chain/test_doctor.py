"""`gribmill doctor` finds what is wrong in a data root, and --fix mends it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gribmill.pipeline.checkup import doctor as room
from gribmill.pipeline.checkup.finding import Examination
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model


@pytest.fixture
def chain(new_chain: NewChain) -> ChainDriver:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    return chain


def findings(chain: ChainDriver, *words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    answer = chain.command("doctor", "--json", *words)
    return answer.returncode, {one["check"]: one for one in json.loads(answer.stdout)}


def leave(path: Path) -> Path:
    """A file that a process which was killed long ago left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half")
    os.utime(path, (0, 0))
    return path


def test_sound_data_root_is_well(chain: ChainDriver) -> None:
    answer = chain.command("doctor")
    assert answer.returncode == 0, answer.stdout
    assert "all is well" in answer.stdout and "WRONG" not in answer.stdout
    _, found = findings(chain)
    assert len(found) == len(room.CHECKS)
    assert found["tiles"]["detail"].startswith("6 as recorded")


def test_lost_tiles_are_wrong_until_they_are_fixed(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    chain.tile("hrrr", "ne", 1).unlink()
    chain.tile("hrrr", "texas", 2).write_bytes(b"")
    code, found = findings(chain)
    assert (code, found["tiles"]["good"]) == (1, False)
    assert "2 of 6 are lost or damaged" in found["tiles"]["detail"] and "--fix" in found["tiles"]["remedy"]
    code, found = findings(chain, "--fix")
    assert (code, found["tiles"]["detail"]) == (0, "2 of 2 lost tiles are back")
    assert chain.tiles() == of_model(reference, "hrrr")


def test_leftovers_are_removed_by_fix_alone(chain: ChainDriver) -> None:
    folder = chain.tile("hrrr", "ne", 1).parent
    spool = chain.data / "grib" / "hrrr" / chain.run_id
    half = [leave(folder / ".001.npz.17.abcd.part"), leave(spool / ".001.g9.grib2.part")]
    whole = leave(spool / "001.g9.grib2")
    young = folder / ".002.npz.18.abcd.part"
    young.write_bytes(b"being written")
    _, found = findings(chain)
    assert found["leftovers"]["detail"].startswith("2 half-written files")
    assert found["downloads"]["detail"].startswith("1 spool files")
    assert all(path.exists() for path in (*half, whole))
    code, _ = findings(chain, "--fix")
    assert code == 0
    assert not any(path.exists() for path in (*half, whole))
    assert young.exists()


def test_tiles_without_a_record_are_only_noted(chain: ChainDriver) -> None:
    stranger = chain.tile("hrrr", "ne", 1).with_name("099.npz")
    stranger.write_bytes(chain.tile("hrrr", "ne", 1).read_bytes())
    code, found = findings(chain, "--fix")
    assert (code, found["tiles without record"]["good"]) == (0, None)
    assert stranger.exists()


def test_check_that_fails_does_not_stop_the_others(chain: ChainDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Examination) -> Any:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(room, "CHECKS", (broken, *room.CHECKS))
    code, found = findings(chain)
    assert code == 1
    assert found["broken"]["detail"] == "it could not be checked: the disk is on fire"
    assert found["tiles"]["good"] is True
