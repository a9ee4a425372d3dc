"""The end of a job's output and errors is kept, without secrets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.queue.model import Failed, Snoozed, Stopped, Succeeded
from gribmill.queue.redact import HIDDEN, redact, redact_json, redacted
from gribmill.queue.worker.output import OutputTail, WholeLines
from tests.queue.worker.worker_driver import SteppedWorker

# Printed text, and the secret in it that must be hidden.
SECRETS = [
    ("password=hunter2x", "hunter2x"),
    ('{"api_key": "abc def"}', "abc def"),
    ("--token abcdefg --retries 3", "abcdefg"),
    ("foo=1 db.password: 'it is' bar", "it is"),
    ("x=password=abc123", "abc123"),
    ("https://bob:s3cret@host/x", "s3cret"),
    ("redis://:pw123@host", "pw123"),
    ("GET /x?X-Amz-Signature=deadbeef&page=1", "deadbeef"),
    ("Authorization: Bearer abc.def.ghi", "abc.def.ghi"),
    ("curl -H 'authorization: basic Zm9vOmJhcg=='", "Zm9vOmJhcg"),
    ("authorization: rawvalue", "rawvalue"),
    ("sent bearer abcdefgh1234", "abcdefgh1234"),
    ("AWS_SECRET_ACCESS_KEY=zzzyyy", "zzzyyy"),
    ("key id AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
    ("see gm_mtw358sj_eYHTFkozEpsXmDqVA8wpHE83rAiDtnor_809e4066", "eYHTFkozEpsXmDqVA8wpHE83rAiDtnor"),
]
HARMLESS = ["author: Bob", "passed: 3", "signal 9", "the secret is out", "https://host:8080/x", "design: blue"]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_hidden(text: str, secret: str) -> None:
    assert secret not in redact(text, {})
    assert HIDDEN in redact(text, {})


@pytest.mark.parametrize("text", HARMLESS)
def test_text_without_secrets_is_unchanged(text: str) -> None:
    assert redact(text, {}) == text


def test_values_of_secret_variables_are_hidden_wherever_they_appear() -> None:
    variables = {"ECMWF_API_KEY": "k-123456", "HOME": "/home/me", "SHORT_TOKEN": "abc"}
    assert redact("fetch/k-123456/x in /home/me abc", variables) == f"fetch/{HIDDEN}/x in /home/me abc"


@pytest.mark.parametrize(
    "text", ["a", "a.", "token", "=:", "a://", "bearer ", '"', "--", "x='", "authorization ", "token ", "password = "]
)
def test_redaction_takes_linear_time(text: str) -> None:
    """With quadratic cost, 300 kB would take hours."""
    long = text * (300_000 // len(text))
    found = redact(long, {})
    assert found == long or HIDDEN in found


def test_every_sentence_of_an_outcome_is_redacted_and_storable() -> None:
    text = "token=abc \udcff"
    seen = [
        redacted(Failed(text)).error,  # type: ignore[union-attr]
        redacted(Stopped(text)).error,  # type: ignore[union-attr]
        redacted(Snoozed(1, text)).reason,  # type: ignore[union-attr]
        redacted(Succeeded(skipped=text)).skipped,  # type: ignore[union-attr]
    ]
    assert seen == [f"token={HIDDEN} \\udcff"] * 4


def test_a_tail_keeps_the_end_in_whole_lines() -> None:
    tail = OutputTail(limit=20)
    for n in range(100):
        tail.add(f"line {n}\n".encode())
    assert tail.text() == "…line 98\nline 99\n"
    tail.clear()
    assert tail.text() is None
    tail.add(b"\xff\x00 short")
    assert tail.text() == "�� short"


def test_a_long_line_keeps_its_end() -> None:
    tail = OutputTail(limit=10)
    tail.add(b"x" * 1000 + b"the end")
    assert tail.text() == "…xxxthe end"


def test_a_secret_is_hidden_even_if_its_name_was_cut_off() -> None:
    tail = OutputTail(limit=12)
    tail.add(b"z" * 100 + b" password=abcdefgh")
    assert "abc" not in (tail.text() or "")
    assert "fgh" not in (tail.text() or "")


@pytest.mark.process
def test_attempts_hold_the_tails_of_both_streams_without_secrets(
    new_worker: Callable[..., SteppedWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "k-998877")
    worker = new_worker()
    _, (run,) = worker.run("speak", text="using k-998877 and password=abc\n")
    assert run.stdout_tail == run.stderr_tail == f"using {HIDDEN} and password={HIDDEN}\n"
    job, runs = worker.run("leak", max_attempts=1)
    assert "deadbeef00" not in f"{job.error_message} {runs[0].error_text}"
    assert "page=1" in (job.error_message or "")
    assert runs[0].stdout_tail is None, "what the job before printed is not this one's"


@pytest.mark.process
def test_what_a_job_prints_reaches_the_workers_stderr_without_secrets(
    new_worker: Callable[..., SteppedWorker], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    new_worker().run("speak", text="hello password=abc123\n")
    shown = capfdbinary.readouterr().err
    assert b"hello password=[redacted]\n" in shown
    assert b"abc123" not in shown


def test_lines_are_passed_on_when_they_are_complete() -> None:
    lines = WholeLines()
    assert lines.add(b"first\npassword=") == b"first\n"
    assert lines.add(b"abc") == b""
    assert lines.add(b"\nthird") == b"password=abc\n"
    assert lines.add(b"", last=True) == b"third"
    assert lines.add(b"x" * 100_000) == b"x" * 100_000


def test_json_is_shown_without_secrets() -> None:
    args = {"url": "https://a:pw1234@host", "api_token": "t", "deep": [{"password": 1, "n": 2}], "n": 3}
    hidden = {"url": f"https://a:{HIDDEN}@host", "api_token": HIDDEN, "deep": [{"password": HIDDEN, "n": 2}], "n": 3}
    assert redact_json(args) == hidden
