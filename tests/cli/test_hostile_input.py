"""Hostile settings and arguments: one short sentence, exit code 1 or 2, and no control characters on the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gribmill.errors import SENTENCE_LIMIT
from tests.cli.conftest import Answer, Run

MOST_CHARACTERS = SENTENCE_LIMIT + 500
LONG = "x" * 100_000
ESCAPE = "\x1b[31m"


def check(answer: Answer, *words: str, code: int = 1) -> None:
    assert answer.code == code
    assert len(answer.err) < MOST_CHARACTERS
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*answer.err, *answer.out}
    for word in words:
        assert word in answer.err


SETTINGS = {
    "nested arrays": ("x = " + "[" * 5000, "nested more than 16 levels"),
    "nested tables": ("[models.hrrr]\na = " + "{b = " * 30 + "1" + "}" * 30, "nested more than 16 levels"),
    "key of many parts": (".".join("a" * 400_000) + " = 1", "key in line 1 has more than 100 parts"),
    "quoted key of many parts": ('"=".' + ".".join(['"a"'] * 100_000) + " = 1", "more than 100 parts"),
    "enormous decimal": ("data = " + "1" * 100_000, "number with too many digits"),
    "enormous hexadecimal": ("[queue]\nlease_seconds = 0x" + "f" * 100_000, "is too large a number"),
    "home of nobody": ('data = "~nobody-has-this-name/x"', "there is no home folder for '~nobody-has-this-name'"),
    "outline of nobody": ('[regions.a]\ngeojson = "~nobody-has-this-name/x"', "there is no home folder"),
    "many keys": ("\n".join(f"key{n} = 1" for n in range(60_000)), "more than 20000 values"),
    "many mistakes": ("\n".join(f"[regions.r{n}]\nbbox = [0, 0, 1, 1]" for n in range(2000)), "and 1995 more"),
    "long key": ("k" * 100_000 + " = 1", "is not a setting"),
    "long value": (f'[log]\nlevel = "{LONG}"', "log.level = 'xxx"),
    "long path": (f'data = "{LONG}"', "longer than 255 bytes"),
    "escape in a title": ('[regions.a]\nbox = [0, 0, 1, 1]\ntitle = "\\u001b[31m"', r"control character (\x1b)"),
    "another escape": ('[models.hrrr]\ntitle = "\\u009b31m"', r"'models.hrrr.title' has a control character"),
    "reversed text in a title": ('[models.hrrr]\ntitle = "\\u202eabc"', r"control character (\u202e)"),
    "escape in a key": ('"\\u001b" = 1', r"has a control character (\x1b)"),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_hostile_settings_get_one_short_sentence(gribmill: Run, name: str) -> None:
    text, words = SETTINGS[name]
    Path("gribmill.toml").write_text(text)
    check(gribmill("config", "show", flags=()), words)


def test_hostile_variables_get_one_short_sentence(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for value, words in [("[" * 5000, "nested"), ('{a = "\\u001b"}', "control character"), ("[1", "not valid TOML")]:
        monkeypatch.setenv("GRIBMILL_REGIONS", value)
        check(gribmill("config", "show"), "GRIBMILL_REGIONS", words)
    monkeypatch.delenv("GRIBMILL_REGIONS")
    monkeypatch.setenv("GRIBMILL_DATA", "~nobody-has-this-name/x")
    check(gribmill("status", flags=()), "there is no home folder")


def test_named_pipes_are_refused_instead_of_waited_for(gribmill: Run, tmp_path: Path) -> None:
    os.mkfifo("pipe")
    check(gribmill("grib", "ls", "pipe"), "not a regular file")
    check(gribmill("cut", "pipe", "--region", "ne"), "not a regular file")
    check(gribmill("--config", "pipe", "config", "show"), "not a regular file")
    check(gribmill("models", "check", "hrrr", "--index", "pipe"), "not a regular file")
    Path("gribmill.toml").write_text('[regions.a]\ngeojson = "pipe"\n')
    check(gribmill("cut", "nothing.grib2", "--region", "ne"), "not a regular file")
    models = tmp_path / "models"
    models.mkdir()
    os.mkfifo(models / "mine.toml")
    Path("gribmill.toml").write_text(f'models_dir = "{models}"\n')
    check(gribmill("models", "list"), "not a regular file")


@pytest.mark.parametrize("value", [LONG, ESCAPE, "9" * 5000], ids=["long", "escape", "digits"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("models", "show", "@"), 1),
        (("regions", "show", "@"), 1),
        (("jobs", "show", "@"), 2),
        (("jobs", "@"), 2),
        (("@",), 2),
        (("grib", "ls", "@"), 1),
        (("backfill", "hrrr", "--from", "@"), 2),
        (("fetch", "hrrr", "@", "1"), 2),
        (("triggers", "emit", "@"), 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_quoted_input_is_shortened_and_visible(gribmill: Run, words: tuple[str, ...], code: int, value: str) -> None:
    check(gribmill(*(value if word == "@" else word for word in words)), code=code)


def test_a_forecast_hour_of_twenty_digits_is_a_usage_error(gribmill: Run) -> None:
    check(gribmill("fetch", "hrrr", "20260101_00", "1" * 20), "0<=x<=8784", code=2)


@pytest.mark.process
def test_names_of_files_that_are_not_text_can_be_printed(tmp_path: Path) -> None:
    file = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.toml")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}  # as in a terminal whose locale is UTF-8
    command = [sys.executable, "-m", "gribmill", "init", file]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "udcff.toml; data goes to " in done.stdout
