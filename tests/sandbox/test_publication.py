"""Files appear hour by hour, each complete and before its index; and the command that publishes them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests

from gribmill.cli.main import main
from gribmill.identity import IdentityError
from gribmill.ingest.models.registry import models_named
from gribmill.sandbox import publication
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import models_in, plan, publish, roots
from gribmill.settings.load import load_settings
from gribmill.storage.atomic import write_atomic
from tests.sandbox.making import MODELS, RUN_ID, make

NOW = datetime(2026, 9, 1, 13, 30, tzinfo=UTC)


def test_keys_are_those_of_each_models_first_mirror(tmp_path: Path) -> None:
    make(tmp_path, ("hrrr", "gfs", "ifs"), "3", coarse=60)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "aws-ecmwf/20260901/12z/ifs/0p25/oper/20260901120000-3h-oper-fc.grib2",
        "aws-ecmwf/20260901/12z/ifs/0p25/oper/20260901120000-3h-oper-fc.index",
        "aws-gfs/gfs.20260901/12/atmos/gfs.t12z.pgrb2.0p25.f003",
        "aws-gfs/gfs.20260901/12/atmos/gfs.t12z.pgrb2.0p25.f003.idx",
        "aws-hrrr/hrrr.20260901/conus/hrrr.t12z.wrfsfcf03.grib2",
        "aws-hrrr/hrrr.20260901/conus/hrrr.t12z.wrfsfcf03.grib2.idx",
    ]


def test_hours_of_all_models_come_in_turn_and_runs_the_oldest_first() -> None:
    planned = plan([MODELS["hrrr"], MODELS["gfs"]], "0-2", NOW, runs=2)
    order = [(one.models[0].id, f"{one.run:%H}", one.hour) for hour in planned.hours for one in hour]
    assert order[:4] == [("hrrr", "12", 0), ("gfs", "06", 0), ("hrrr", "12", 1), ("gfs", "06", 1)]
    assert order[6:8] == [("hrrr", "13", 0), ("gfs", "12", 0)]
    assert planned.files == 12 and len(planned.hours) == 6


def test_members_that_share_a_key_are_one_file() -> None:
    planned = plan(models_named(MODELS, "hrrr_subh"), "2", NOW, run=RUN_ID)
    (hour,) = planned.hours
    assert len(hour) == 1 and [model.id for model in hour[0].models] == [
        "hrrr_subh.m15", "hrrr_subh.m30", "hrrr_subh.m45", "hrrr_subh.m00",
    ]  # fmt: skip
    assert len(plan(models_named(MODELS, "gefs")[:3], "0", NOW, run=RUN_ID).hours[0]) == 3


def test_a_member_that_has_ended_or_lacks_the_hour_does_not_hold_up_its_family() -> None:
    after_the_control = datetime(2026, 11, 16, 12, tzinfo=UTC)
    (hour,) = plan(models_named(MODELS, "ifs_enfo"), "0", after_the_control).hours
    assert "ifs_enfo.cf" not in {model.id for one in hour for model in one.models}
    with pytest.raises(SandboxError, match="no run of the last two days"):
        plan([MODELS["ifs_enfo.cf"]], "0", after_the_control)
    (analysis,) = plan(models_named(MODELS, "hrrr_subh"), "0", NOW, run=RUN_ID).hours
    assert [model.id for model in analysis[0].models] == ["hrrr_subh.m00"]


def test_an_impossible_plan_is_refused_with_the_reason() -> None:
    with pytest.raises(SandboxError, match="none of the hours 1-2"):
        plan([MODELS["ifs"]], "1-2", NOW, run=RUN_ID)
    with pytest.raises(SandboxError, match="--hours"):
        plan([MODELS["hrrr"]], "x", NOW)
    with pytest.raises(IdentityError):
        plan([MODELS["hrrr"]], "0", NOW, run="yesterday")


def test_complete_file_appears_before_its_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []

    def watched(path: Path, chunks: list[bytes]) -> int:
        size = write_atomic(path, chunks)
        seen.append((path.suffix, path.stat().st_size == size and not list(path.parent.glob(".*"))))
        return size

    monkeypatch.setattr(publication, "write_atomic", watched)
    make(tmp_path, ("hrrr",), "0-1", coarse=60)
    assert seen == [(".grib2", True), (".idx", True)] * 2


def test_a_file_that_cannot_be_written_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "aws-gfs").touch()
    with pytest.raises(SandboxError, match=r"aws-gfs/gfs.20260901/12/.* cannot be written: Not a directory"):
        make(tmp_path, ("gfs",), "3", coarse=60)


@pytest.mark.slow
def test_the_time_lapse_waits_between_hours_and_can_be_stopped(tmp_path: Path) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) == 3

    planned = plan([MODELS["hrrr"], MODELS["gfs"]], "0-5", NOW, run=RUN_ID)
    came = list(publish(planned, tmp_path, Forecaster(0, 60), every_seconds=7, wait=wait))
    assert [one.hour for one, _ in came] == [0, 0, 1, 1]
    assert waits == [0, 7, 7]


def test_roots_lead_every_mirror_of_the_models_here(tmp_path: Path) -> None:
    table = roots([MODELS["hrrr"], MODELS["ifs"]], "http://127.0.0.1:8000/")
    assert table["aws-hrrr"] == table["nomads-hrrr"] == "http://127.0.0.1:8000/aws-hrrr/"
    assert table["ecmwf"] == "http://127.0.0.1:8000/aws-ecmwf/"
    (tmp_path / "aws-gfs").mkdir()
    assert {model.family for model in models_in(MODELS.values(), tmp_path)} == {"gfs", "gfswave"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gribmill.cli.main", "sandbox", *arguments]


@pytest.mark.process
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_the_command_makes_serves_and_stops_cleanly(tmp_path: Path, signum: signal.Signals) -> None:
    arguments = ("--make", "hrrr", str(tmp_path / "m"), "--run", RUN_ID, "--hours", "0-1", "--coarse", "60")
    process = subprocess.Popen(
        command(*arguments, "--serve", "--port", "0", "--fault", "500:1"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    lines: list[str] = []
    while not any("f01.grib2" in line for line in lines):
        line = process.stdout.readline()
        assert line, "".join(lines) + (process.stderr.read() if process.stderr else "")
        lines.append(line)
    text = "".join(lines)
    settings = tmp_path / "gribmill.toml"
    settings.write_text(re.search(r"\[roots\]\n(?:.+\n)+", text)[0])  # type: ignore[index]
    roots = load_settings(settings).roots
    key = "hrrr.20260901/conus/hrrr.t12z.wrfsfcf0{}.grib2"
    assert requests.get(roots["aws-hrrr"] + key.format(0), timeout=30).content[:4] == b"GRIB"
    assert requests.get(roots["gcs-hrrr"] + key.format(1), timeout=30).status_code == 500
    process.send_signal(signum)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "stopped after 2 requests" in errors
    assert "Traceback" not in errors


def test_command_refuses_invalid_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "m")

    def refused(*arguments: str) -> tuple[object, str]:
        with pytest.raises(SystemExit) as ended:
            main(["sandbox", *arguments])
        return ended.value.code, capsys.readouterr().err

    assert refused(folder) == (1, f"error: there is no folder {folder}\n")
    for arguments, words in [
        (("--make", "hrr"), "did you mean hrrr"),
        (("--make", "hrrr", "--vars", "t2"), "did you mean"),
        (("--make", "hrrr", "--fault", "melt"), "is not a fault"),
        (("--make", "gfs", "--coarse", "7"), "use a divisor"),
        (("--make", "ifs", "--hours", "1"), "none of the hours"),
    ]:
        code, text = refused(*arguments, folder)
        assert code == 1 and words in text
    (tmp_path / "file").touch()
    inside = str(tmp_path / "file" / "m")
    assert refused("--make", "gfs", inside) == (1, f"error: cannot create the folder {inside}: Not a directory\n")
    assert refused("--make", "hrrr", folder, "--run", RUN_ID, "--runs", "2")[0] == 2
