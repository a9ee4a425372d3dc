"""One command at a time, in this process, on a new data root."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gribmill.cli.main import main
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings


@dataclass(frozen=True)
class Answer:
    """A command's output and exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]


@pytest.fixture(autouse=True)
def clean_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the developer's settings, and use a writable working folder."""
    for name in [name for name in os.environ if name.startswith("GRIBMILL_")]:
        monkeypatch.delenv(name)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def gribmill(data: Path) -> Run:
    """Run `gribmill --data <data> WORDS…` through the real entry point."""

    def run(*words: str, stdin: str | bytes | None = None, flags: tuple[str, ...] | None = None) -> Answer:
        given = ("--data", str(data)) if flags is None else flags
        runner = CliRunner()
        with runner.isolation(input=stdin) as (out, err, _):
            try:
                main([*given, *words])
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            return Answer(code, out.getvalue().decode(), err.getvalue().decode())

    return run


@pytest.fixture
def store(data: Path) -> Store:
    return open_queue(Settings(data=data))
