"""Every command has help, and listing the commands imports none of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gribmill.cli.main import COMMANDS, cli
from tests.cli.conftest import Run


def _paths(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _paths(child, (*path, name))


def _all_paths() -> list[tuple[str, ...]]:
    context = click.Context(cli)
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        found += _paths(command, (name,))
    return found


@pytest.mark.parametrize("path", _all_paths(), ids=" ".join)
def test_every_command_has_help_with_a_sentence(gribmill: Run, path: tuple[str, ...]) -> None:
    answer = gribmill(*path, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: gribmill {' '.join(path)}")
    sentence = answer.out.split("\n\n")[1].strip()
    assert sentence[0].isupper() and "." in sentence
    assert gribmill(*path, "-h").out == answer.out


@pytest.mark.parametrize("path", [(), *_all_paths()], ids=lambda path: " ".join(path) or "gribmill")
def test_lists_of_commands_shorten_no_sentence(path: tuple[str, ...]) -> None:
    command = _command(path)
    if isinstance(command, click.Group):
        context = click.Context(command, info_name="gribmill", terminal_width=78)
        assert "..." not in command.get_help(context).partition("Commands:")[2]


def test_every_option_is_explained() -> None:
    options = [
        (path, param) for path in _all_paths() for param in _command(path).params if isinstance(param, click.Option)
    ]
    assert len(options) > 100
    assert [(path, option.name) for path, option in options if not option.help] == []


def test_systems_of_units_have_the_same_names_in_every_command() -> None:
    found = {}
    for path in _all_paths():
        for option in _command(path).params:
            if option.name == "units" and isinstance(option.type, click.Choice):
                found[path] = {*option.type.choices} - {"common"}
    assert {path[-1] for path in found} == {"plot", "point", "show"}
    assert all(names == {"metric", "us", "si"} for names in found.values())


def _command(path: tuple[str, ...]) -> click.Command:
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


@pytest.mark.process
def test_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys\nfrom gribmill.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = [m for m in ('rich', 'numpy', 'eccodes', 'xarray', 'pydantic', 'sqlite3') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    # `make coverage` measures child processes too, and loads sqlite3 for that.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)


def test_unknown_command_and_option_are_usage_errors(gribmill: Run) -> None:
    assert gribmill("jbos").code == 2
    assert gribmill("jobs", "lsit").code == 2
    answer = gribmill("jobs", "list", "--statsu", "x")
    assert (answer.code, answer.out) == (2, "")
    assert "--statsu" in answer.err


@pytest.mark.process
def test_output_that_cannot_be_written_is_reported_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "gribmill", "regions", "list"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, ended.stderr) == (1, "error: cannot write the output: No space left on device\n")


@pytest.mark.process
def test_closed_output_is_not_a_failure() -> None:
    words = [sys.executable, "-m", "gribmill", "regions", "list"]
    ended = subprocess.run(["/bin/sh", "-c", '"$@" >&-', "sh", *words], stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.process
def test_ctrl_c_while_the_command_is_imported_ends_it_quietly() -> None:
    code = (
        "import sys, gribmill.__main__ as entry\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "entry.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "")


def test_former_name_of_a_command_works_and_is_not_listed(gribmill: Run) -> None:
    former, now = gribmill("mirror", "--help"), gribmill("sandbox", "--help")
    assert (former.code, now.code) == (0, 0)
    assert former.out.splitlines()[1:] == now.out.splitlines()[1:]
    assert "mirror" not in [line.split()[0] for line in gribmill("--help").out.splitlines() if line.startswith("  ")]
