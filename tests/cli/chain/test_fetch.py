"""The wanted messages of one file, directly from a mirror on loopback."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gribmill.ingest.models.registry import load_models
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import plan, publish, roots
from gribmill.sandbox.publisher.fault import Fault
from gribmill.sandbox.publisher.faults import Faults
from gribmill.sandbox.publisher.server import Server
from tests.cli.conftest import Run

MODEL = load_models()["hrrr"]
NAMES = frozenset({"t2m", "u10", "v10", "tp"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hours 0 to 2 of the newest run, and 0 to 3 of the one before."""
    made = tmp_path_factory.mktemp("published")
    forecaster = Forecaster(seed=0, coarse=60, only=NAMES)
    newest, before = MODEL.runs(datetime.now(UTC))[:2]
    for run, hours in ((newest, "0-2"), (before, "0-3")):
        list(publish(plan([MODEL], hours, datetime.now(UTC), run=f"{run:%Y%m%d_%H}"), made, forecaster))
    return made


@pytest.fixture
def runs(folder: Path) -> tuple[str, str]:
    """The ids of the newest run that was made, and of the one before it."""
    keys = sorted(path.name for path in folder.rglob("*f00.grib2"))
    assert len(keys) == 2
    days = {MODEL.parse_key(str(path.relative_to(folder / "aws-hrrr"))) for path in folder.rglob("*f00.grib2")}
    before, newest = sorted(f"{found[0]:%Y%m%d_%H}" for found in days if found)
    return newest, before


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with Server(folder) as served:
        _settings(served)
        yield served


def _settings(server: Server) -> None:
    table = "".join(f'{name} = "{root}"\n' for name, root in roots([MODEL], server.url).items())
    Path("gribmill.toml").write_text(f"[roots]\n{table}")


def test_only_the_wanted_bytes_are_downloaded_and_the_answer_lists_them(
    gribmill: Run, server: Server, runs: tuple[str, str], data: Path
) -> None:
    answer = gribmill("fetch", "hrrr", runs[0], "2", "--vars", "t2m,u10,cape", "--json")
    assert answer.code == 0, answer.err
    assert not (data / "jobs.db").exists(), "it needs no queue, and makes none"
    shown = answer.json
    path = Path(shown["path"])
    assert path == Path(f"hrrr.{runs[0]}.f002.grib2")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == shown["sha256"]
    assert path.stat().st_size == shown["needed_bytes"] < shown["source_bytes"]
    assert shown["requested_bytes"] >= shown["needed_bytes"]
    assert (shown["found"], shown["missing"], shown["mirror"]) == (["t2m", "u10"], ["cape"], "aws-hrrr")
    listed = gribmill("grib", "ls", str(path), "--json").json
    assert [field["name"] for field in listed[0]["fields"]] == ["t2m", "u10"]


def test_latest_is_the_newest_run_that_has_the_hour(gribmill: Run, server: Server, runs: tuple[str, str]) -> None:
    assert gribmill("fetch", "hrrr", "latest", "2", "--json").json["run"] == runs[0]
    assert gribmill("fetch", "hrrr", "latest", "3", "--json").json["run"] == runs[1]


def test_people_see_sentences_and_a_pipe_gets_no_progress_bar(
    gribmill: Run, server: Server, runs: tuple[str, str]
) -> None:
    answer = gribmill("fetch", "hrrr", runs[0], "2", "--out", "mine.grib2")
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.startswith(f"mine.grib2: 4 messages of hrrr {runs[0]} +2 h\nfrom aws-hrrr: {server.url}")
    assert "found: t2m, u10, v10, tp" in answer.out
    assert "not in the file: d2m" in answer.out


def test_a_folder_gets_the_file_under_its_own_name(gribmill: Run, server: Server, runs: tuple[str, str]) -> None:
    Path("downloads").mkdir()
    assert gribmill("fetch", "hrrr", runs[0], "0", "-o", "downloads").code == 0
    assert Path(f"downloads/hrrr.{runs[0]}.f000.grib2").is_file()


def test_fetch_creates_no_job_or_tile(gribmill: Run, server: Server, runs: tuple[str, str], data: Path) -> None:
    gribmill("fetch", "hrrr", runs[0], "0")
    assert gribmill("jobs", "list", "--json").json["jobs"] == []
    assert not (data / "tiles").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("hrr", "latest", "0"), "there is no model 'hrr'; did you mean hrrr"),
        (("gefs", "latest", "0"), "gefs has 33 members; name one of them: gefs.c00"),
        (("hrrr", "20240101_00", "49"), "hrrr has no hour 49 in its run 20240101_00"),
        (("hrrr", "latest", "49"), "no run of hrrr in the last 3 days has an hour 49"),
        (("hrrr", "latest", "0", "--vars", "t2n"), "there is no variable 't2n' in the lexicon; did you mean"),
        (("hrrr", "20240101_00", "0", "--out", "no/such/file"), "there is no folder no/such"),
    ],
)
def test_errors_are_sentences(gribmill: Run, words: tuple[str, ...], sentence: str) -> None:
    answer = gribmill("fetch", *words)
    assert answer.code == 1
    assert answer.err.startswith(f"error: {sentence}")


def test_an_unavailable_hour_is_reported_and_leaves_no_file(
    gribmill: Run, server: Server, runs: tuple[str, str]
) -> None:
    answer = gribmill("fetch", "hrrr", runs[0], "5")
    assert answer.code == 1
    assert f"hrrr {runs[0]} hour 5: aws-hrrr: " in answer.err
    assert gribmill("fetch", "hrrr", "latest", "17").err.startswith("error: hour 17 of hrrr was not found in any of")
    assert list(Path().glob("*.grib2")) == []


def test_without_any_mirror_that_answers_the_newest_run_is_not_called_absent(gribmill: Run, folder: Path) -> None:
    with Server(folder) as gone:
        _settings(gone)
    answer = gribmill("fetch", "hrrr", "latest", "0")
    assert answer.code == 1
    assert answer.err.startswith("error: no mirror of hrrr can be read: aws-hrrr, gcs-hrrr, nomads-hrrr: ")


def test_a_mirror_that_fails_everywhere_gives_its_reason(gribmill: Run, folder: Path, runs: tuple[str, str]) -> None:
    with Server(folder, Faults([Fault("500")], seed=0)) as broken:
        _settings(broken)
        answer = gribmill("fetch", "hrrr", runs[0], "0")
    assert answer.code == 1
    assert "500" in answer.err.splitlines()[-1]
    assert list(Path().glob("*.grib2")) == []
