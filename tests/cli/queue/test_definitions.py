"""Job definitions at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden


def test_values_are_changed_shown_apart_and_reset(gribmill: Run, store: Store) -> None:
    done = gribmill("definitions", "edit", "sleep", "timeout_seconds=10m", "max_running=2", "resources=gpu,disk")
    assert done.out == "sleep: changed by operators: timeout_seconds=600, max_running=2, resources=gpu,disk\n"
    listed = gribmill("definitions", "list").out
    assert "timeout_seconds=600" in listed
    lines = {
        line.split()[0]: line.split()[1:] for line in gribmill("definitions", "show", "sleep").out.splitlines() if line
    }
    assert lines["timeout_seconds"] == ["3600", "600", "600"]
    assert lines["max_running"] == ["none", "2", "2"]
    assert lines["max_attempts"] == ["3", "3"]
    assert gribmill("jobs", "types", "sleep", "--json").json[0]["timeout_seconds"] == 600
    assert gribmill("definitions", "reset", "sleep", "max_running").code == 0
    assert gribmill("definitions", "reset", "sleep").out == "sleep: all values are the declared ones\n"


def test_json_matches_its_goldens(gribmill: Run, store: Store) -> None:
    check_golden("definitions edit", gribmill("definitions", "edit", "sleep", "max_running=2", "--json").out)
    check_golden("definitions deactivate", gribmill("definitions", "deactivate", "sleep", "--json").out)
    check_golden("definitions activate", gribmill("definitions", "activate", "sleep", "--json").out)
    check_golden("definitions reset", gribmill("definitions", "reset", "sleep", "max_running", "--json").out)
    check_golden("definitions show", gribmill("definitions", "show", "sleep", "--json").out)
    assert [one["type"] for one in gribmill("definitions", "list", "--json").json][-1] == "sleep"


def test_a_command_is_added_and_its_payload_checked(gribmill: Run, store: Store) -> None:
    answer = gribmill("definitions", "add", "look", "--json", "--", "gribmill", "scan", "{{model}}")
    check_golden("definitions add", answer.out)
    assert "model" in gribmill("jobs", "types", "look").out
    assert gribmill("jobs", "enqueue", "look", '{"model": "hrrr"}').code == 0
    refused = gribmill("jobs", "enqueue", "look", '{"model": "--help"}')
    assert (refused.code, "could be read as an option" in refused.err) == (1, True)
    assert "'sh' is not allowed" in gribmill("definitions", "add", "x", "--", "sh", "-c", "true").err


def test_an_inactive_type_refuses_jobs(gribmill: Run, store: Store) -> None:
    assert gribmill("definitions", "deactivate", "sleep").out == "sleep is inactive\n"
    refused = gribmill("jobs", "enqueue", "sleep")
    assert (refused.code, refused.err) == (1, "error: sleep is inactive: its jobs are neither accepted nor run\n")
    assert gribmill("definitions", "activate", "sleep").out == "sleep is active\n"
    assert gribmill("jobs", "enqueue", "sleep").code == 0


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("edit", "sleep", "timeout_seconds"), 2, "is not NAME=VALUE"),
        (("edit", "sleep", "colour=red"), 2, "'colour' cannot be set"),
        (("edit", "sleep", "max_running=many"), 2, "'many' is not a number, or none"),
        (("edit", "sleep", "timeout_seconds=soon"), 2, "'soon' is not a duration"),
        (("edit", "sleep", "max_attempts=1", "max_attempts=2"), 2, "max_attempts is given twice"),
        (("edit", "sleep", "max_attempts=0"), 1, "max_attempts: must be at least 1"),
        (("edit", "sleep", 'default_args={"x": 1}'), 1, "no argument 'x'"),
        (("edit", "nope", "max_attempts=1"), 1, "no job type 'nope'"),
        (("show", "nope"), 1, "no job type 'nope'"),
        (("deactivate", "sleep", "nope"), 1, "no job type 'nope'"),
        (("reset", "sleep", "colour"), 2, "'colour' is not a value of a job type"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_reported_in_one_sentence(
    gribmill: Run, store: Store, words: tuple[str, ...], code: int, sentence: str
) -> None:
    answer = gribmill("definitions", *words)
    assert answer.code == code
    assert sentence in answer.err
    assert store.definitions.get("sleep").definition.version == 0


def test_command_is_edited_and_removed(gribmill: Run, store: Store, tmp_path: Path) -> None:
    gribmill("definitions", "add", "look", "--", "gribmill", "scan", "{{model}}")
    edit = ("definitions", "edit", "look")
    done = gribmill(*edit, "max_attempts=1", "--description", "Looks.", "--", "gribmill", "status", "{{name}}")
    assert done.code == 0, done.err
    shown = gribmill("definitions", "show", "look").out
    assert shown.startswith("look: Looks.\n")
    assert '["gribmill", "status", "{{name}}"]' in shown
    assert gribmill("jobs", "enqueue", "look", '{"name": "hrrr"}').code == 0
    (tmp_path / "schema.json").write_text('{"required": ["name", "more"]}')
    assert gribmill(*edit, "--schema", str(tmp_path / "schema.json")).code == 0
    assert "'more' is a required property" in gribmill("jobs", "enqueue", "look", '{"name": "hrrr"}').err
    refused = gribmill(*edit, "--", "rm", "-rf")
    assert (refused.code, "the program 'rm' is not allowed" in refused.err) == (1, True)
    assert gribmill(*edit).code == 2
    assert gribmill(*edit, "--").code == 2
    assert gribmill("definitions", "remove", "look").err.startswith("error: look has 1 job: deactivate it instead")
    gribmill("jobs", "cancel", "1")
    gribmill("jobs", "prune", "--completed-days", "0")
    check_golden("definitions remove", gribmill("definitions", "remove", "look", "--json").out)
    assert gribmill("definitions", "show", "look").code == 1


def test_types_and_lanes_of_operators_can_be_named(gribmill: Run, store: Store) -> None:
    gribmill("definitions", "add", "greet", "--", "gribmill", "--version")
    assert gribmill("jobs", "enqueue", "greet").code == 0
    unknown = gribmill("work", "--drain", "--lanes", "night=1")
    assert unknown.code == 2 and "there is no lane night" in unknown.err
    assert gribmill("definitions", "edit", "greet", "lane=night").code == 0
    refused = gribmill("work", "--drain", "--types", "greet,gret")
    assert refused.code == 2 and "there is no job type 'gret'" in refused.err
    assert gribmill("tick", "--types", "gret").code == 2


@pytest.mark.process
def test_worker_runs_a_lane_that_an_operator_made(gribmill: Run, store: Store) -> None:
    gribmill("definitions", "add", "greet", "--set", "lane=night", "--", "gribmill", "--version")
    gribmill("jobs", "enqueue", "greet")
    assert gribmill("work", "--drain", "--lanes", "night=1", "--types", "greet").code == 0
    (job,) = store.jobs.list().jobs
    assert job.status == "completed"
