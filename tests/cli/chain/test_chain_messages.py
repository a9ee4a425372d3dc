"""Options and messages of the chain's commands, without a network."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from gribmill.cli.output import print_json
from gribmill.pipeline.backfill.progress import BackfillState
from gribmill.queue.store import Store
from gribmill.views.view import Time, View
from tests.cli.conftest import Run


def test_scan_here_explains_why_it_checked_nothing(gribmill: Run) -> None:
    answer = gribmill("scan", "hrrr", "--here")
    assert answer.code == 0
    assert "0 new files; hrrr reaches none of the regions of [chain] (none is named)" in answer.out
    assert "none of the regions" in gribmill("scan", "hrrr", "--here", "--json").json[0]["note"]


def test_scan_here_runs_its_own_scan_though_another_was_ready_before(gribmill: Run) -> None:
    gribmill("scan", "gfs")
    (row,) = gribmill("scan", "hrrr", "--here", "--json").json
    assert row["outcome"] == "succeeded"


def test_scan_that_could_not_be_run_here_does_not_claim_to_have_looked(gribmill: Run) -> None:
    gribmill("jobs", "pause", "scan_source")
    answer = gribmill("scan", "hrrr", "--here")
    assert answer.code == 1
    assert "was not run: scans are paused or reserved" in answer.out
    assert "0 new files" not in answer.out


def test_scan_that_failed_here_fails_the_command(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_CHAIN_REGIONS", "ne")
    answer = gribmill("scan", "gfs", "--run", "20261116_05", "--here")
    assert answer.code == 1
    assert answer.out.endswith("gfs has no run 20261116_05: it does not begin at that time\n")


@pytest.mark.parametrize(
    ("run_id", "sentence"),
    [
        ("x", "'x' is not a run: use YYYYMMDD_HH, such as 20230125_12"),
        ("", "'' is not a run: use YYYYMMDD_HH, such as 20230125_12"),
        ("20261301_00", "'20261301_00' is not a run: use YYYYMMDD_HH, such as 20230125_12"),
        ("20261101_0030", "no run begins at 2026-11-01T00:30:00+00:00: runs begin on the hour"),
        ("00010101_00", "no run begins in the year 1"),
    ],
)
def test_a_scan_of_what_is_not_a_run_is_refused_at_once(
    gribmill: Run, store: Store, run_id: str, sentence: str
) -> None:
    answer = gribmill("scan", "hrrr", "--run", run_id, "--here")
    assert answer.code == 2
    assert answer.err.endswith(f": {sentence}\n")
    assert not store.jobs.list(limit=10).jobs


def test_prune_of_an_unknown_model_is_refused(gribmill: Run, data: Path) -> None:
    assert gribmill("prune", "hrrr").code == 0
    answer = gribmill("prune", "nope")
    assert answer.code == 1
    assert answer.err.startswith("error: there is no model 'nope'")
    (data / "tiles" / "nope" / "20260101_00").mkdir(parents=True)
    assert gribmill("prune", "nope").code == 0, "a model that was followed once"


def test_runs_that_cannot_be_removed_are_not_reported_as_removed(
    gribmill: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run_id in ("20260101_00", "20260102_00"):
        (data / "tiles" / "hrrr" / run_id).mkdir(parents=True)
    really = shutil.rmtree

    def of_another_account(path: Path, **options: Any) -> None:
        if path.name != "20260101_00":
            really(path, **options)

    monkeypatch.setattr(shutil, "rmtree", of_another_account)
    answer = gribmill("prune", "--json")
    assert answer.code == 1
    assert [row["run"] for row in answer.json["runs"]] == ["20260102_00"]
    assert "could not remove all files of hrrr/20260101_00; check their ownership" in answer.err
    ran = gribmill("jobs", "enqueue", "prune"), gribmill("tick", "--json")
    assert ran[1].json[0]["outcome"] == "failed"


def test_prune_of_a_family_covers_all_its_members(gribmill: Run, data: Path) -> None:
    for member in ("gefs.p01", "gefs.p02"):
        (data / "tiles" / member / "20260101_00").mkdir(parents=True)
    rows = gribmill("prune", "gefs", "--json").json["runs"]
    assert [row["model"] for row in rows] == ["gefs.p01", "gefs.p02"]


@pytest.mark.parametrize("words", [("--model", "hrrr,nope", "--region", "ne"), ("--model", "hrrr", "--model", "nope")])
def test_run_takes_several_models_in_one_word_or_in_many(gribmill: Run, words: tuple[str, ...]) -> None:
    answer = gribmill("run", *words, "--region", "ne,conus")
    assert answer.code == 1
    assert answer.err.startswith("error: there is no model 'nope'")


@pytest.mark.parametrize(
    "words", [("--regions", "ne,se"), ("--region", "ne", "--region", "se"), ("--region", "ne, se")]
)
def test_backfill_takes_regions_as_the_other_commands_do(gribmill: Run, words: tuple[str, ...]) -> None:
    given = ("backfill", "hrrr", "--from", "20260101_00", "--hours", "0-1", *words, "--json")
    assert gribmill(*given).json[0]["regions"] == ["ne", "se"]


@pytest.mark.parametrize(
    "words",
    [
        ("work", "--drain", "--types", ""),
        ("tick", "--types", ","),
        ("run", "--model", ""),
        ("run", "--region", " , "),
        ("fetch", "hrrr", "20260101_00", "0", "--vars", ""),
        ("point", "42", "-71", "--vars", ""),
        ("point", "42", "-71", "--vars", ",,"),
        ("cut", "x.grib2", "--region", "ne", "--vars", ""),
        ("sandbox", "published", "--make", ""),
        ("backfill", "hrrr", "--from", "20260101_00", "--vars", ""),
    ],
)
def test_names_that_are_given_but_empty_do_not_mean_all(gribmill: Run, words: tuple[str, ...]) -> None:
    answer = gribmill(*words)
    assert answer.code == 2
    assert f"Invalid value for '{words[-2]}': no name is given" in answer.err


@pytest.mark.parametrize("flag", ["--data", "--config"])
def test_path_that_is_given_but_empty_is_not_the_working_folder(gribmill: Run, flag: str) -> None:
    answer = gribmill("config", "show", flags=(flag, ""))
    assert answer.code == 2
    assert f"'{flag}': the path is empty" in answer.err


def test_models_check_of_an_empty_name_does_not_check_all(gribmill: Run) -> None:
    assert gribmill("models", "check", "").code == 1


def test_backfill_to_a_day_takes_all_runs_of_that_day(gribmill: Run) -> None:
    words = ("backfill", "hrrr", "--hours", "0", "--region", "ne", "--json", "--from", "2026-01-01")
    runs = [gribmill(*words, *to).json[0]["runs"] for to in ((), ("--to", "2026-01-01"), ("--to", "20260102"))]
    assert runs == [24, 24, 48]
    assert gribmill(*words, "--to", "20260102_05").json[0]["runs"] == 30


def test_a_waiting_backfill_reports_that_no_worker_runs(gribmill: Run, store: Store) -> None:
    words = ("backfill", "hrrr", "--from", "20260101_00", "--to", "20260101_00", "--hours", "0", "--region", "ne")
    ended = BackfillState(done=1, total=1, failed=0, active=0)
    for waiting in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gribmill.cli.chain.backfill._show", lambda *_: ended)
            assert ("no worker is running" in gribmill(*words, "--wait").err) == waiting
        store.workers.heartbeat("worker", 60.0)


def test_times_have_the_same_format_in_every_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    class Moment(View):
        at: Time

    moments = [datetime(2026, 11, 16, 6, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 11, 16, 4, tzinfo=UTC)]
    print_json([Moment(at=moment) for moment in moments])
    assert json.loads(capsys.readouterr().out) == [{"at": "2026-11-16T04:00:00.000Z"}] * 2
