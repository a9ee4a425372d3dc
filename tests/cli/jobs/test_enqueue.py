"""Jobs are enqueued from the command line, and invalid input is refused with the reason."""

from __future__ import annotations

import json

import pytest

from gribmill.queue.model import NewTenant
from gribmill.queue.store import Store
from tests.cli.conftest import Run

TILE = {"model_id": "hrrr", "run_id": "20230125_12", "hour": 5, "region": "ne"}


def test_options_reach_the_row(gribmill: Run, store: Store) -> None:
    store.tenants.add(NewTenant("acme"))
    words = ["--priority", "7", "--delay", "2h", "--dedupe", "k", "--max-attempts", "9", "--tenant", "acme"]
    answer = gribmill("jobs", "enqueue", "sleep", '{"say": "hi"}', *words)
    assert (answer.code, answer.out) == (0, "job 1 enqueued\n")
    job = store.jobs.get(1)
    assert (job.priority, job.dedupe_key, job.max_attempts, job.tenant_id) == (7, "k", 9, "acme")
    assert job.args["say"] == "hi"
    assert job.created_by
    assert job.next_run_at is not None and job.created_at is not None
    assert (job.next_run_at - job.created_at).total_seconds() == 7200


def test_arguments_may_be_left_out(gribmill: Run, store: Store) -> None:
    assert gribmill("jobs", "enqueue", "sleep").code == 0
    assert store.jobs.get(1).type == "sleep"


def test_equal_job_is_not_enqueued_twice(gribmill: Run, store: Store) -> None:
    first = gribmill("jobs", "enqueue", "build_tile", json.dumps(TILE), "--json")
    again = gribmill("jobs", "enqueue", "build_tile", json.dumps(TILE), "--json")
    assert first.json == [{"id": 1, "created": True}]
    assert again.json == [{"id": 1, "created": False}]
    assert "active already" in gribmill("jobs", "enqueue", "build_tile", json.dumps(TILE)).out
    assert len(store.jobs.list().jobs) == 1


def test_stdin_gives_one_object_over_several_lines(gribmill: Run, store: Store) -> None:
    assert gribmill("jobs", "enqueue", "sleep", "-", stdin='{\n  "say": "hi"\n}\n').out == "job 1 enqueued\n"


def test_stdin_gives_many_one_per_line(gribmill: Run, store: Store) -> None:
    lines = "\n".join(json.dumps({"say": str(n)}) for n in range(2500)) + "\n\n"
    answer = gribmill("jobs", "enqueue", "sleep", "-", stdin=lines)
    assert answer.out == "2500 jobs enqueued (1 to 2500)\n"
    assert [store.jobs.get(n).args["say"] for n in (1, 2500)] == ["0", "2499"]


def test_one_invalid_line_refuses_all(gribmill: Run, store: Store) -> None:
    answer = gribmill("jobs", "enqueue", "sleep", "-", stdin='{"say": "a"}\n\n{"say": "b"\n')
    assert answer.code == 1
    assert "line 3, column" in answer.err
    answer = gribmill("jobs", "enqueue", "sleep", "-", stdin='{"say": "a"}\n{"say": 3}\n')
    assert answer.code == 1
    assert "say" in answer.err
    assert store.jobs.list().jobs == ()


def test_jobs_wait_for_others(gribmill: Run, store: Store) -> None:
    for _ in range(3):
        gribmill("jobs", "enqueue", "sleep")
    assert gribmill("jobs", "enqueue", "sleep", "{}", "--after", "1,2", "--after", "3").code == 0
    assert store.jobs.get(4).deps_left == 3
    assert [one.id for one in store.jobs.history(4).parents] == [1, 2, 3]


BAD = {
    '{"seconds": }': "line 1, column 13",
    '{"seconds": 1': "line 1, column 14",
    "[1]": "not a list",
    '"x"': "not a string",
    "3": "not a number",
    "null": "not null",
    '{"seconds": NaN}': "NaN is not a JSON number",
    '{"seconds": 1, "seconds": 2}': "'seconds' occurs twice",
    '{"seconds": "soon"}': "sleep: seconds:",
    '{"seconds": -1}': "sleep: seconds:",
    '{"seconds": 1e999}': "sleep: seconds:",
    '{"secs": 1}': "secs: no such argument; there are: seconds, say, fail, snooze_seconds",
    '{"fail": "sometimes"}': "'never', 'always'",
    '{"say": "\\ud800"}': "sleep: say:",
    "[" * 100_000: "nested too deeply",
    "": "line 1, column 1",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20] or "empty")
def test_bad_arguments_are_refused_with_the_reason(gribmill: Run, store: Store, text: str) -> None:
    answer = gribmill("jobs", "enqueue", "sleep", text)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert BAD[text] in answer.err
    assert store.jobs.list().jobs == ()


def test_an_invalid_argument_on_stdin_is_reported_with_its_line(gribmill: Run, store: Store) -> None:
    answer = gribmill("jobs", "enqueue", "sleep", "-", stdin='{"say": "a"}\n\n{"seconds": "x"}\n')
    assert answer.code == 1
    assert answer.err.startswith("error: stdin, line 3: ")
    assert not store.jobs.list(limit=10).jobs


def test_binary_stdin_is_refused(gribmill: Run) -> None:
    assert "byte 3 is 0xff" in gribmill("jobs", "enqueue", "sleep", "-", stdin=b'{"a\xff"}').err
    assert "empty" in gribmill("jobs", "enqueue", "sleep", "-", stdin=b" \n").err


def test_endless_stdin_is_refused(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gribmill.cli.jobs.json_input.STDIN_LIMIT_BYTES", 100)
    answer = gribmill("jobs", "enqueue", "sleep", "-", stdin=" " * 101)
    assert answer.code == 1 and "more than 100 bytes" in answer.err


def test_unknown_type_is_refused_and_the_types_named(gribmill: Run) -> None:
    answer = gribmill("jobs", "enqueue", "slep")
    assert answer.code == 1
    assert "no job type 'slep'" in answer.err and "sleep" in answer.err


def test_ids_cannot_climb_out_of_the_data_root(gribmill: Run) -> None:
    answer = gribmill("jobs", "enqueue", "build_tile", json.dumps({**TILE, "region": "../../etc"}))
    assert answer.code == 1 and "region" in answer.err
    answer = gribmill("jobs", "enqueue", "build_tile", json.dumps({**TILE, "run_id": "20231345_12"}))
    assert answer.code == 1 and "run_id: '20231345_12' is not a run" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ["--delay", "soon"],
        ["--delay", "-5"],
        ["--priority", "high"],
        ["--priority", str(2**31)],
        ["--max-attempts", "0"],
        ["--after", "x"],
        ["--after", "0"],
        ["--tenant", ""],
        ["--tenant", "a\nb"],
        ["--tenant", "x" * 201],
        ["--dedupe", ""],
        ["--parent-failure", "shrug"],
    ],
    ids=" ".join,
)
def test_bad_options_are_usage_errors_that_name_the_option(gribmill: Run, words: list[str]) -> None:
    answer = gribmill("jobs", "enqueue", "sleep", "{}", *words)
    assert answer.code == 2
    assert words[0] in answer.err


def test_dependency_on_an_unknown_job_is_refused(gribmill: Run, store: Store) -> None:
    answer = gribmill("jobs", "enqueue", "sleep", "{}", "--after", "99")
    assert answer.code == 1 and "job 99" in answer.err
    assert store.jobs.list().jobs == ()
