"""`gribmill templates`, and the commands that take `--template`."""

from __future__ import annotations

from typing import Any

import pytest

from gribmill.queue.model import NewTenant, Succeeded
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import end

HOUR = ("templates", "add", "hrrr_hour", "ingest_grib", "--set", "model_id=hrrr")


def test_template_is_added_shown_edited_run_and_removed(gribmill: Run, store: Store) -> None:
    assert gribmill(*HOUR).out.startswith("template hrrr_hour is added; each job has to give run_id, hour; ")
    shown = gribmill("templates", "show", "hrrr_hour").out
    assert 'arguments    {"model_id": "hrrr"}' in shown
    assert "still needed run_id, hour" in shown
    run = gribmill("templates", "run", "hrrr_hour", '{"hour": 7}', "--set", "run_id=20261118_00", "--priority", "3")
    assert run.out == "job 1 enqueued\n", run.err
    job = store.jobs.get(1)
    assert (job.priority, job.args["hour"], job.args["run_id"]) == (3, 7, "20261118_00")
    edited = gribmill("templates", "edit", "hrrr_hour", "--set", "hour=0", "--unset", "model_id", "--timeout", "90")
    assert edited.out == "template hrrr_hour is changed; each job has to give model_id, run_id\n", edited.err
    assert store.templates.get("hrrr_hour").timeout_seconds == 90
    assert gribmill("templates", "edit", "hrrr_hour", "--no", "timeout").code == 0
    assert store.templates.get("hrrr_hour").timeout_seconds is None
    assert "hrrr_hour" in gribmill("templates", "list").out
    assert gribmill("templates", "remove", "hrrr_hour").out == "template hrrr_hour is removed\n"
    assert "there are no templates" in gribmill("templates", "list").err


def test_enqueue_takes_a_template_instead_of_a_type(gribmill: Run, store: Store) -> None:
    gribmill("templates", "add", "nap", "sleep", '{"seconds": 1}', "--max-attempts", "9")
    assert gribmill("jobs", "enqueue", "--template", "nap", '{"say": "a"}').code == 0
    lines = '{"say": "b"}\n{"say": "c"}\n'
    assert gribmill("jobs", "enqueue", "--template", "nap", "-", stdin=lines).out == "2 jobs enqueued (2 to 3)\n"
    said = [(job.args["say"], job.args["seconds"], job.max_attempts) for job in store.jobs.list().jobs]
    assert said == [("c", 1.0, 9), ("b", 1.0, 9), ("a", 1.0, 9)]
    wrong = gribmill("jobs", "enqueue", "--template", "nap", "-", stdin='{"say": "d"}\n{"sey": "e"}\n')
    assert wrong.code == 1
    assert wrong.err.startswith("error: stdin, line 2: sleep: sey: no such argument")
    both = gribmill("jobs", "enqueue", "sleep", '{"say": "x"}', "--template", "nap")
    assert (both.code, "leave TYPE out" in both.err) == (2, True)
    assert gribmill("jobs", "enqueue").code == 2
    end(store, Succeeded())
    assert "template      nap (1)" in gribmill("jobs", "show", "1").out


def test_values_of_set_are_json_or_text(gribmill: Run, store: Store) -> None:
    assert gribmill("jobs", "enqueue", "sleep", "--set", "seconds=2", "--set", "say=good night=1").code == 0
    assert gribmill("jobs", "enqueue", "sleep", "--set", 'say="2"').code == 0
    assert [job.args["say"] for job in store.jobs.list().jobs] == ["2", "good night=1"]
    for words, said in (
        (("--set", "seconds"), "is not NAME=VALUE"),
        (("--set", "say=1", "--set", "say=2"), "is given twice"),
    ):
        answer = gribmill("jobs", "enqueue", "sleep", *words)
        assert (answer.code, said in answer.err) == (2, True)


def test_trigger_with_a_template_follows_it_and_keeps_it_from_being_removed(gribmill: Run, store: Store) -> None:
    gribmill("templates", "add", "nap", "sleep", '{"seconds": 0}', "--priority", "4")
    added = gribmill("triggers", "add", "tired", "--template", "nap", '{"say": "{{event.word}}"}', "--event", "tired")
    assert added.code == 0, added.err
    gribmill("templates", "edit", "nap", "--priority", "6")
    gribmill("triggers", "emit", "tired", '{"word": "hm"}')
    assert (store.jobs.get(1).priority, store.jobs.get(1).args["say"]) == (6, "hm")
    refused = gribmill("templates", "remove", "nap")
    assert refused.err == "error: template nap is used by trigger 1 (tired): change or remove that first\n"
    assert gribmill("triggers", "edit", "1", "--no-template").code == 0
    assert gribmill("templates", "remove", "nap").code == 0
    gribmill("templates", "add", "nap2", "sleep")
    assert gribmill("triggers", "edit", "1", "--template", "nap2").code == 0
    assert store.triggers.get(1).template_id == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "nap", "sleep", '{"secnds": 1}'), "sleep: secnds: no such argument"),
        (("add", "a b", "sleep"), "is not the name of a template"),
        (("add", "nap", "sleep", "--tenant", "nobody"), "there is no tenant 'nobody'"),
        (("show", "gone"), "the tenant global has no template 'gone'"),
        (("run", "gone"), "the tenant global has no template 'gone'"),
        (("remove", "gone"), "the tenant global has no template 'gone'"),
        (("list", "--tenant", "nobody"), "there is no tenant 'nobody'"),
        (("add", "nap", "ingest_grib", "--tenant", "acme"), "is done once for all tenants"),
    ],
)
def test_refusals_are_one_sentence(gribmill: Run, store: Store, words: tuple[str, ...], said: str) -> None:
    store.tenants.add(NewTenant("acme"))
    answer = gribmill("templates", *words)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert said in answer.err


def test_json_matches_the_goldens(gribmill: Run, store: Store) -> None:
    def check(command: str, *words: str, **fields: Any) -> None:
        answer = gribmill(*command.split(), *words, "--json")
        assert answer.code == 0, answer.err
        check_golden(command, answer.out, **fields)

    check("templates add", "hrrr_hour", "ingest_grib", "--set", "model_id=hrrr", "--description", "One hour.")
    check("templates edit", "hrrr_hour", "--set", "hour=3", "--priority", "2", "--dedupe", "one")
    gribmill("triggers", "add", "new", "--template", "hrrr_hour", '{"run_id": "{{event.run}}"}', "--event", "new")
    check("templates show", "hrrr_hour")
    check("templates list")
    check("templates run", "hrrr_hour", "--set", "run_id=20261118_00")
    gribmill("triggers", "remove", "1")
    check("templates remove", "hrrr_hour")


def test_secrets_in_a_template_are_not_shown(gribmill: Run, store: Store) -> None:
    gribmill("templates", "add", "nap", "sleep", '{"say": "password=hunter22"}')
    for words in (("list",), ("show", "nap"), ("list", "--json"), ("show", "nap", "--json")):
        assert "hunter22" not in gribmill("templates", *words).out
    assert store.templates.get("nap").args == {"say": "password=hunter22"}
