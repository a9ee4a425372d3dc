"""The docs are tested: Python examples run, commands exist and the cheap ones run, links lead to files."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from gribmill.cli.main import cli, main
from gribmill.settings.schema import Settings

ROOT = Path(__file__).parents[1]
FRONT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "data/README.md")
PAGES = [*(ROOT / name for name in FRONT_PAGES), *sorted((ROOT / "docs").rglob("*.md"))]
RUN, HOURS = "20261116_00", "0-3"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
TEST_PATH = re.compile(r"`(tests/[\w./]+)`")
# Commands that need no network, no other process and little time; the rest are only parsed.
CHEAP = {
    "cut", "grib ls", "tile info", "tile show", "tile plot", "tile verify", "init", "config show", "regions show",
    "jobs verify", "jobs backup", "jobs stats", "jobs list", "prune",
}  # fmt: skip
# User-defined regions and models, and jobs, created on another page of the docs.
NOT_HERE = ("valley", "mywrf", "--watch")


def blocks(kind: str) -> list[tuple[str, str]]:
    """(where, text) of every such block."""
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            if match[1] == kind:
                line = text.count("\n", 0, match.start()) + 1
                found.append((f"{page.relative_to(ROOT)}:{line}", match[2]))
    return found


def commands() -> list[tuple[str, list[str]]]:
    """(where, words after `gribmill`) of every command in the docs."""
    found = []
    for where, text in blocks("console"):
        for line in text.splitlines():
            # Output follows a command; settings and pipes around it are the shell's.
            if match := re.match(r"\$ (?:\w+=\S+ )*gribmill (.*)", line):
                words = shlex.split(match[1])
                stop = next((at for at, word in enumerate(words) if word in ("|", ">", "&")), len(words))
                found.append((where, words[:stop]))
    return found


def name_of(words: list[str]) -> str:
    """`tile info`, `cut`: the words that name the command."""
    group, names = cli, []
    context = click.Context(cli)
    for word in (word for word in words if not word.startswith("-")):
        command = group.get_command(context, word) if isinstance(group, click.Group) else None
        if command is None:
            break
        names.append(word)
        group = command  # type: ignore[assignment]
    return " ".join(names)


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a generated HRRR file, and the tiles of its run in `weather`."""
    from gribmill import Box, Region, build
    from gribmill.ingest.models.registry import load_models
    from gribmill.sandbox.forecast.forecast import Forecaster
    from gribmill.sandbox.publication import plan, publish

    folder = tmp_path_factory.mktemp("docs")
    model = load_models()["hrrr"]
    forecaster = Forecaster(seed=0, coarse=8, only=frozenset({"t2m", "d2m", "u10", "v10", "tp"}))
    northeast = Region("ne", Box(-80.6, 38.8, -66.8, 47.6), "US Northeast")
    for publication, _ in publish(plan([model], HOURS, datetime.now(UTC), run=RUN), folder / "made", forecaster):
        file = folder / "made" / publication.key
        build(file, [northeast], folder / "weather", model="hrrr")
        shutil.copy(file, folder / "hrrr.grib2")
    return folder


@pytest.fixture
def here(stock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as a working folder without settings."""
    for name in [name for name in os.environ if name.startswith("GRIBMILL_")]:
        monkeypatch.delenv(name)
    shutil.copytree(stock, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


# Those that need a server are run by tests/client/test_examples.py.
WITHOUT_SERVER = [(where, code) for where, code in blocks("python") if "Client(" not in code]


@pytest.mark.parametrize(("where", "code"), WITHOUT_SERVER, ids=[where for where, _ in WITHOUT_SERVER])
def test_python_of_the_docs_runs(here: Path, where: str, code: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, where, "exec"), {"__name__": "docs"})
    assert bool(printed.getvalue()) == ("print(" in code), f"{where} printed {printed.getvalue()[:80]!r}"


@pytest.mark.parametrize(("where", "words"), commands(), ids=[f"{where} {shlex.join(w)}" for where, w in commands()])
def test_commands_of_the_docs_exist_with_their_options(here: Path, where: str, words: list[str]) -> None:
    name = name_of(words)
    assert name, f"{where}: there is no command {shlex.join(words)}"
    command: click.Command = cli
    # With the settings of the real one: click remembers a command's help option from its first context.
    context = click.Context(cli, obj=Settings(data=here / "weather"), **cli.context_settings)
    names = name.split()
    for word in names:
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        assert found is not None
        command = found
    Path("message.json").write_text("{}")
    rest = words[words.index(names[0]) :]
    for word in names:
        rest.remove(word)
    command.make_context(name, rest, parent=context)


def cheap() -> Iterator[tuple[str, list[str]]]:
    for where, words in commands():
        if name_of(words) in CHEAP and not any(word in NOT_HERE for word in words):
            yield where, words


@pytest.mark.slow
def test_cheap_commands_of_the_docs_succeed_page_by_page(here: Path) -> None:
    ran = 0
    # The docs rely on the model's name, and a thinned grid is not recognised as HRRR's.
    for where, words in cheap():
        given = [*words, "--model", "hrrr"] if words[0] == "cut" else words
        for made in ("gribmill.toml", "copy.db"):
            Path(made).unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            try:
                main(["--data", "weather", *given])
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
        assert code == 0, f"{where}: gribmill {shlex.join(words)}: {errors.getvalue()}"
        ran += 1
    assert ran >= 10


@pytest.mark.parametrize(("where", "text"), blocks("toml"), ids=[where for where, _ in blocks("toml")])
def test_settings_of_the_docs_are_accepted(here: Path, where: str, text: str) -> None:
    from gribmill.ingest.models.registry import check_tables
    from gribmill.pipeline.models import configured_models
    from gribmill.regions.region import load_regions

    tables = tomllib.loads(text)
    if "layouts" in tables:
        check_tables(tables, where)
        return
    (here / "coast.geojson").write_text(
        '{"type": "Polygon", "coordinates": [[[-71.5, 41], [-69.5, 41], [-69.5, 43.5], [-71.5, 41]]]}'
    )
    settings = Settings.model_validate(tables | ({"models_dir": None} if "models_dir" in tables else {}))
    assert configured_models(settings)
    assert load_regions(settings.regions)


def test_links_lead_to_files() -> None:
    links = [(page, target) for page in PAGES for target in LINK.findall(page.read_text())]
    # Figures are committed once they have been measured.
    checked = [(page, target) for page, target in links if "benchmarks/results" not in target]
    assert [(page.name, target) for page, target in checked if not (page.parent / target).exists()] == []


def architecture_paths() -> Iterator[Path]:
    """The files and folders of the tree and of the table of changes. Capitals stand for any name."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    folders: list[str] = []
    for line in text.split("## The tree")[1].split("```")[1].strip("\n").splitlines():
        folders = folders[: (len(line) - len(line.lstrip())) // 2]
        names = line.strip().split("  ")[0].split(", ")
        yield from (ROOT.joinpath(*folders, name) for name in names)
        folders.append(names[0])
    for row in re.findall(r"^\|.*\|(.*)\|$", text, re.MULTILINE):
        for name in re.findall(r"`([\w./]+/[\w./]*)`", row):
            yield ROOT / "gribmill" / re.sub(r"/[A-Z_]+[./].*", "", name)


def test_paths_of_the_architecture_exist() -> None:
    paths = list(architecture_paths())
    assert len(paths) > 150
    assert [str(path.relative_to(ROOT)) for path in paths if not path.exists()] == []


def test_tests_named_in_the_docs_exist() -> None:
    named = [(page.name, name) for page in PAGES for name in TEST_PATH.findall(page.read_text())]
    assert [(page, name) for page, name in named if not (ROOT / name).exists()] == []


def test_tests_named_in_the_table_of_races_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "CONTRIBUTING.md").read_text()))
    texts = "".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 20
    assert sorted(name for name in named if f"def {name}(" not in texts) == []


def test_the_front_page_names_every_command() -> None:
    table = (ROOT / "README.md").read_text()
    assert [name for name in cli.list_commands(click.Context(cli)) if not re.search(rf"`{name}[ `]", table)] == []
