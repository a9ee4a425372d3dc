"""Values that are impossible whatever the data root holds: exit code 2, and a sentence that names the value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

TRIGGER = ("triggers", "add", "nightly", "sleep")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("point", "95", "0"), "95 is not a latitude"),
        (("point", "42", "-71", "--run", "yesterday"), "'yesterday' is not a run: use complete, newest, seamless"),
        (("point", "42", "-71", "--tz", "Nowhere"), "there is no time zone 'Nowhere'"),
        (("cut", "any.grib2", "--bbox", "1,2,3"), "'1,2,3' has 3"),
        (("scan", "hrrr", "--run", "2026-11-19"), "'2026-11-19' is not a run"),
        (("fetch", "hrrr", "newest", "3"), "'newest' is not a run: use YYYYMMDD_HH, such as 20230125_12, or latest"),
        (("fetch", "hrrr", "latest", "3", "--search", "("), "'(' is not a regular expression"),
        (("inventory", "hrrr", "20261345_00", "3"), "'20261345_00' is not a run"),
        (("inventory", "hrrr", "latest", "3", "--search", "("), "'(' is not a regular expression"),
        (("backfill", "hrrr", "--from", "2026-11-02", "--to", "2026-11-01"), "the backfill ends before it begins"),
        (TRIGGER, "give either a schedule (--cron) or an event (--event)"),
        ((*TRIGGER, "--cron", "* * * * *", "--event", "x"), "give either a schedule (--cron) or an event (--event)"),
        ((*TRIGGER, "--cron", "61 * * * *"), "'61 * * * *' is not a schedule: its minute is wrong"),
        ((*TRIGGER, "--cron", "* * 32 * *"), "'* * 32 * *' is not a schedule: its day of month is wrong"),
        ((*TRIGGER, "--cron", "0 3 * * *", "--timezone", "Mars"), "there is no time zone 'Mars'"),
        (("triggers", "preview", "1 2 3"), "it needs five fields"),
        (("tokens", "create", "--name", "a", "--role", "tenant_admin"), "name it with --tenant"),
        (("jobs", "prune", "--completed-days", "nan"), "'nan' is not a number"),
        (("tenants", "add", "acme", "--keep-days", "nan"), "'nan' is not a number"),
        (("statsu",), "No such command 'statsu'. Did you mean status?"),
        (("jobs", "lst"), "No such command 'lst'. Did you mean list?"),
        (("frob",), "No such command 'frob'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_impossible_value_is_a_usage_error(gribmill: Run, words: tuple[str, ...], sentence: str) -> None:
    answer = gribmill(*words)
    assert answer.code == 2
    assert sentence in answer.err


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('[chain]\nregions = ["nee"]\n', "[chain] regions: there is no region 'nee'; did you mean ne"),
        ('[chain]\nmodels = ["hrr"]\n', "there is no model 'hrr'; did you mean hrrr"),
    ],
)
def test_work_refuses_a_chain_whose_jobs_would_all_fail(gribmill: Run, table: str, sentence: str) -> None:
    Path("gribmill.toml").write_text(table)
    answer = gribmill("work", "--drain")
    assert answer.code == 1
    assert sentence in answer.err
