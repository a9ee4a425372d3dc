"""Log lines: for people, or as JSON with the job they belong to."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from gribmill.logs import JOB_FIELDS, HumanFormatter, JsonFormatter, job_context, set_up_logging
from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.worker.task import Batch, Task, run_batch
from gribmill.settings.schema import LogSettings

FIELDS = {"job_id": 7, "type": "sleep", "attempt_no": 2, "worker_id": "h-1-ab", "tenant_id": "acme"}
log = logging.getLogger("gribmill.test")


class Log:
    """Logging as the command line sets it up, and the lines written since."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self._captured = captured

    def start(self, level: str = "info", form: str = "json") -> None:
        set_up_logging(LogSettings.model_validate({"level": level, "format": form}))

    def lines(self) -> list[str]:
        return self._captured.readouterr().err.splitlines()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines()]


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Log:
    return Log(capsys)


def test_json_lines_of_a_job_carry_its_identity(logged: Log) -> None:
    logged.start()
    with job_context(**FIELDS):
        log.info("cut %d tiles", 3, extra={"region": "ne"})
    log.info("idle")
    inside, outside = logged.records()
    assert {name: inside[name] for name in JOB_FIELDS} == FIELDS
    assert (inside["message"], inside["level"], inside["region"]) == ("cut 3 tiles", "info", "ne")
    assert inside["time"].endswith("Z") and "T" in inside["time"]
    assert not set(JOB_FIELDS) & set(outside)


class NoArgs(Args):
    """Nothing."""


def chatty_handler(task: Task) -> None:
    log.warning("working")


def test_lines_of_a_handler_carry_the_job_without_its_help(logged: Log) -> None:
    logged.start()
    kind = JobType("chatty", "Talks.", NoArgs, "fetch", f"{__name__}:chatty_handler")
    task = Task(7, "chatty", "{}", 2, "acme", "h-1-ab")
    done: list[Any] = []
    run_batch(Registry(kind), Batch([task], lambda task, outcome: done.append(outcome), lambda limit: []))
    (line,) = logged.records()
    assert {name: line[name] for name in JOB_FIELDS} == {**FIELDS, "type": "chatty"}
    assert len(done) == 1


def test_an_exception_is_one_json_line(logged: Log) -> None:
    logged.start()
    try:
        raise ValueError("two\nlines")
    except ValueError:
        log.exception("it broke")
    (line,) = logged.records()
    assert "ValueError: two\nlines" in line["error"] and line["level"] == "error"


def test_values_that_json_cannot_represent_are_written_as_text(logged: Log) -> None:
    logged.start()
    log.info("odd", extra={"thing": {1, 2}, "text": "ü\n\x1b"})
    (line,) = logged.records()
    assert (line["thing"], line["text"]) == ("{1, 2}", "ü\n\x1b")


def test_human_lines_name_level_message_and_fields(logged: Log) -> None:
    logged.start(form="human")
    with job_context(**FIELDS):
        log.warning("slow")
    (line,) = logged.lines()
    assert " warning slow" in line
    assert "job_id=7" in line and "tenant_id=acme" in line


def test_control_characters_from_publishers_cannot_forge_log_lines(logged: Log) -> None:
    logged.start(form="human")
    log.info("moved to %s", "\x1b[2Jhttp://x\n12:00:00.000 error   all is lost", extra={"key": "a\rb"})
    (line,) = logged.lines()
    assert line.endswith(r"moved to \x1b[2Jhttp://x\x0a12:00:00.000 error   all is lost  key=a\x0db")


def test_level_is_a_threshold_and_repeated_setup_duplicates_nothing(logged: Log) -> None:
    logged.start(level="warning")
    set_up_logging(LogSettings(level="warning", format="json"))
    log.info("no")
    log.warning("yes")
    assert [line["message"] for line in logged.records()] == ["yes"]


def test_inner_context_ends_where_it_began() -> None:
    record = logging.makeLogRecord({"msg": "x", "levelname": "INFO"})
    with job_context(job_id=1):
        with job_context(job_id=2):
            assert json.loads(JsonFormatter().format(record))["job_id"] == 2
        assert "job_id=1" in HumanFormatter().format(record)
    assert "job_id" not in HumanFormatter().format(record)
