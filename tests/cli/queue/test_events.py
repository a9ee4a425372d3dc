"""Events at the command line."""

from __future__ import annotations

import json

import jsonschema

from gribmill.queue.model import Failed, NewEvent
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import add, end


def publish(store: Store, *events: NewEvent) -> None:
    with store.database.write() as tx:
        for event in events:
            tx.publish(event)


def test_events_are_listed_newest_first(gribmill: Run, store: Store) -> None:
    assert gribmill("events", "list").err == "no events were found\n"
    publish(store, NewEvent("run.seen", {"model_id": "hrrr"}), NewEvent("mirror.sick", {"token": "s3cret"}))
    lines = gribmill("events", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["id", "2", "1"]
    assert "s3cret" not in lines[1]
    assert "hrrr" in gribmill("events", "list", "--name", "run.*", "--since", "1h").out
    assert gribmill("events", "list", "--name", "run.*", "--json").json[0]["id"] == 1
    assert (
        gribmill("events", "list", "--since", "2001-01-01", "--limit", "1", "--before", "2", "--json").json[0]["id"]
        == 1
    )
    assert gribmill("events", "list", "--name", "run.*;").code == 1
    assert gribmill("events", "list", "--since", "soon").code == 2


def test_tail_prints_the_last_ones_in_order(gribmill: Run, store: Store) -> None:
    publish(store, *(NewEvent(f"ping.{n}") for n in range(4)))
    assert [line.split()[3] for line in gribmill("events", "tail", "-n", "2").out.splitlines()] == ["ping.2", "ping.3"]
    lines = gribmill("events", "tail", "--json", "--name", "ping.1").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["ping.1"]


def test_emit_records_the_event_and_fires_triggers(gribmill: Run, store: Store) -> None:
    gribmill("triggers", "add", "nap", "sleep", '{"say": "{{event.word}}"}', "--event", "tired")
    assert gribmill("events", "emit", "tired", '{"word": "a"}').out == "trigger 1 enqueued job 1\n"
    assert gribmill("triggers", "emit", "tired", '{"word": "b"}').out == "trigger 1 enqueued job 2\n"
    assert [event.values for event in store.events.list()] == [{"word": "b"}, {"word": "a"}]


def recorded(gribmill: Run) -> str:
    """The first word about attempt.metered."""
    lines = gribmill("events", "names").out.splitlines()
    return next(line for line in lines if line.startswith("attempt.metered")).split()[1]


def test_names_come_with_schemas_that_are_valid(gribmill: Run, store: Store) -> None:
    found = gribmill("events", "names", "--json").json
    for one in found:
        jsonschema.Draft202012Validator.check_schema(one["payload_schema"])
        assert one["description"].endswith(".")
    optional = [one["name"] for one in found if one["optional"]]
    assert optional == ["tile.built", "attempt.metered"]
    assert recorded(gribmill) == "if"
    assert gribmill("events", "record", "attempt.metered").out == "attempt.metered is recorded at all times\n"
    assert recorded(gribmill) == "yes"
    assert "while a trigger" in gribmill("events", "record", "attempt.metered", "--off").out
    assert gribmill("events", "record", "job.failed").code == 1


def test_json_matches_the_goldens(gribmill: Run, store: Store) -> None:
    add(store, max_attempts=1)
    end(store, Failed("it broke"))
    check_golden("events list", gribmill("events", "list", "--json").out)
    gribmill("triggers", "add", "nap", "sleep", "--event", "tired")
    check_golden("events emit", gribmill("events", "emit", "tired", "--id", "e1", "--json").out)
    check_golden("events names", gribmill("events", "names", "--json").out)
