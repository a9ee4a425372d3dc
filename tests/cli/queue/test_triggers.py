"""Triggers at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.queue.model import NewTrigger
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import by_hand
from tests.server.live_server import serving

NAP = '{"seconds": 0, "say": "{{event.word}}"}'


def test_schedule_is_added_listed_switched_and_removed(gribmill: Run, store: Store) -> None:
    assert "there are no triggers" in gribmill("triggers", "list").err
    added = gribmill("triggers", "add", "nap", "sleep", "--cron", "0 12 * * *", "--timezone", "Europe/Paris")
    assert added.code == 0
    assert added.out.startswith("trigger 1 is on; next firing at 2")
    listed = gribmill("triggers", "list")
    assert listed.out.splitlines()[0].split() == ["id", "label", "when", "job", "state", "last", "next"]
    assert "0 12 * * * Europe/Paris" in listed.out
    assert gribmill("triggers", "disable", "1").out == "trigger 1 is off\n"
    assert gribmill("triggers", "list", "--json").json[0]["is_enabled"] is False
    assert gribmill("triggers", "enable", "1").out.startswith("trigger 1 is on; next firing at 2")
    gone = gribmill("triggers", "remove", "1", "7")
    assert (gone.code, gone.out, gone.err) == (1, "trigger 1 is removed\n", "error: there is no trigger 7\n")
    assert store.triggers.list() == []


def test_broken_row_is_named_and_does_not_hide_the_others(gribmill: Run, data: Path) -> None:
    for label in ("good", "spoilt"):
        gribmill("triggers", "add", label, "sleep", "--cron", "0 12 * * *")
    by_hand(data, "UPDATE job_triggers SET priority = 'high' WHERE id = 2")
    found = gribmill("triggers", "list")
    assert (found.code, found.out.count("sleep"), "good" in found.out) == (1, 1, True)
    assert found.err == (
        "error: the priority of trigger 2 is not a whole number; `gribmill triggers remove 2` removes it\n"
    )
    listed = gribmill("triggers", "list", "--json")
    assert (listed.code, [one["label"] for one in listed.json]) == (1, ["good"])
    with serving(Settings(data=data), dev=True) as server, server.client() as client:
        assert [one["label"] for one in client.get("/api/v1/jobs/triggers").json()] == ["good"]
        assert "the priority of trigger 2" in client.get("/triggers").text
    doctor = {one["check"]: one for one in gribmill("doctor", "--json").json}
    assert doctor["schedules"]["detail"] == "the priority of trigger 2 is not a whole number"
    gribmill("triggers", "remove", "2")
    assert gribmill("triggers", "list").code == 0


def test_event_creates_a_job_once_and_otherwise_says_why(gribmill: Run, store: Store) -> None:
    gribmill("triggers", "add", "nap", "sleep", NAP, "--event", "tired")
    assert gribmill("triggers", "emit", "tired", '{"word": "good night"}').out == "trigger 1 enqueued job 1\n"
    assert store.jobs.get(1).args["say"] == "good night"
    assert store.jobs.get(1).source == "event"
    assert (
        gribmill("triggers", "emit", "tired", '{"word": "good night"}').out == "trigger 1 has seen this event already\n"
    )
    bad = gribmill("triggers", "emit", "tired", "{}")
    assert bad.code == 1
    assert "{{event.word}}, which is not there" in bad.err
    assert gribmill("triggers", "emit", "tired", '{"word": "x"}', "--id", "e1", "--json").json == [
        {"trigger_id": 1, "job_id": 2, "new": True, "error": None}
    ]
    nobody = gribmill("triggers", "emit", "awake")
    assert (nobody.code, nobody.err) == (0, "no trigger responds to awake\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("sleep", "--cron", "x"), "needs five fields"),
        (("sleep", "--cron", "* * * * *", "--timezone", "Mars"), "no time zone 'Mars'"),
        (("sleep", '{"secs": 1}', "--cron", "* * * * *"), "secs: no such argument"),
        (("sleep", "[1]", "--cron", "* * * * *"), "expected a JSON object"),
        (("nope", "--cron", "* * * * *"), "no job type 'nope'"),
        (("sleep",), "either a schedule (--cron) or an event (--event)"),
        (("sleep", "--event", "x", "--window", "40d"), "30 days"),
    ],
)
def test_an_invalid_trigger_is_refused_with_the_reason(gribmill: Run, words: tuple[str, ...], reason: str) -> None:
    answer = gribmill("triggers", "add", "label", *words)
    assert answer.code != 0
    assert reason in answer.err
    assert gribmill("triggers", "list", "--json").json == []


def test_preview_shows_the_next_slots(gribmill: Run) -> None:
    slots = gribmill("triggers", "preview", "15 6 * * *", "--timezone", "Asia/Tokyo", "-n", "3").out.split()
    assert len(slots) == 3
    assert all(slot.endswith("T21:15:00.000Z") for slot in slots)


def test_trigger_is_edited_and_fired(gribmill: Run, store: Store) -> None:
    gribmill("triggers", "add", "nap", "sleep", "--cron", "0 12 * * *")
    edited = gribmill("triggers", "edit", "1", "--cron", "30 6 * * *", "--window", "2h", "--args", '{"say": "x"}')
    assert edited.out.startswith("trigger 1 is changed; next firing at 2")
    assert "06:30Z" in edited.out
    (trigger,) = store.triggers.list()
    assert (trigger.cron, trigger.dedupe_window_seconds, trigger.label) == ("30 6 * * *", 7200, "nap")
    assert gribmill("triggers", "fire", "1").out == "trigger 1 enqueued job 1\n"
    assert store.jobs.get(1).args["say"] == "x"
    assert gribmill("triggers", "edit", "1").code == 2
    assert gribmill("triggers", "edit", "1", "--cron", "x").code == 2
    assert gribmill("triggers", "edit", "9", "--label", "x").err == "error: there is no trigger 9\n"
    assert "takes no values" in gribmill("triggers", "fire", "1", '{"n": 1}').err
    check_golden("triggers edit", gribmill("triggers", "edit", "1", "--event", "tired", "--json").out)
    check_golden("triggers fire", gribmill("triggers", "fire", "1", "{}", "--json").out)


def test_adaptive_schedules_are_listed(gribmill: Run, store: Store) -> None:
    store.triggers.keep_adaptive([NewTrigger("scan hrrr", "scan_source", {"model_id": "hrrr"})])
    assert "adaptive" in gribmill("triggers", "list").out
    listed = gribmill("triggers", "list", "--json").json[0]
    assert (listed["kind"], listed["cron"], listed["timezone"]) == ("adaptive", None, None)
