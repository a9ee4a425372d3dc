"""Runs arrive hour by hour, and tiles appear as they do."""

from __future__ import annotations

from gribmill.queue.model import Snoozed, Succeeded
from tests.chain.conftest import NewWorld, of_model
from tests.chain.stock import IDS

REGIONS = ("ne", "texas")


def test_every_kind_of_model_becomes_complete(reference: dict[str, bytes]) -> None:
    assert {place.split("/")[1] for place in reference} == set(IDS)
    for region in REGIONS:
        for model_id in IDS:
            assert any(place.startswith(f"tiles/{model_id}/") and f"/{region}/" in place for place in reference)


def test_hours_are_taken_as_they_are_published(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world()
    world.folder.joinpath("aws-hrrr").mkdir(parents=True)
    (scan,) = world.look("hrrr")
    assert isinstance(scan.outcome, Snoozed)
    assert "0 of 3 hours" in scan.outcome.reason
    for hour in (0, 1):
        world.publish("hrrr", hour)
        scan, *rest = world.look("hrrr")
        assert isinstance(scan.outcome, Snoozed)
        assert [job.args["hour"] for job in scan.outcome.then] == [hour]
        assert len(rest) == 4  # ingest, two tiles, publish
        assert world.tile("hrrr", "ne", hour).is_file()
        assert world.latest("hrrr") == {name: {"newest": world.run_id, "complete": None} for name in REGIONS}
        assert not world.spooled()
    world.publish("hrrr", 2)
    scan, *_ = world.look("hrrr")
    assert isinstance(scan.outcome, Succeeded)
    assert world.complete("hrrr")
    assert world.latest("hrrr") == {name: {"newest": world.run_id, "complete": world.run_id} for name in REGIONS}
    assert world.tiles() == of_model(reference, "hrrr")
    world.assert_sound()
