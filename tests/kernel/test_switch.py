"""The decoder in use is shown and can be chosen; the values are the same."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from gribmill.cli.main import cli
from gribmill.grib.decode.field import fields
from gribmill.kernel import native
from gribmill.settings.load import load_settings
from tests.kernel.both_decoders import needs_kernel
from tests.make_grib import make_message


@pytest.fixture
def not_built(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("GRIBMILL_KERNEL", raising=False)
    # None in sys.modules makes the import fail.
    monkeypatch.setitem(sys.modules, "gribmill.kernel._kernel", None)
    importlib.reload(native)
    yield
    monkeypatch.undo()
    importlib.reload(native)


def test_the_switch_is_not_an_unknown_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    without = load_settings()
    monkeypatch.setenv("GRIBMILL_KERNEL", "off")
    assert load_settings() == without


@pytest.mark.process
@pytest.mark.parametrize("word", ["off", "OFF", "0", "no"])
def test_version_shows_that_the_kernel_is_off(word: str) -> None:
    command = [sys.executable, "-m", "gribmill", "--version"]
    environment = {**os.environ, "GRIBMILL_KERNEL": word}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("(kernel: off)\n")


def test_version_shows_that_the_kernel_was_not_built(not_built: None) -> None:
    assert CliRunner().invoke(cli, ["--version"]).output.endswith("(kernel: not built)\n")


@needs_kernel
def test_version_shows_that_the_kernel_is_native() -> None:
    assert CliRunner().invoke(cli, ["--version"]).output.endswith("(kernel: native)\n")


def test_without_the_kernel_values_are_the_same(not_built: None) -> None:
    message = make_message()
    without = next(fields(message, "made")).values()
    sys.modules.pop("gribmill.kernel._kernel")
    importlib.reload(native)
    assert next(fields(message, "made")).values().tobytes() == without.tobytes()
