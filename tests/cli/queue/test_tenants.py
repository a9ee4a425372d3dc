"""Tenants at the command line."""

from __future__ import annotations

import pytest

from gribmill.queue.model import NewTenant
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import add

ADD = ("tenants", "add", "acme", "--title", "Acme Wind", "--timezone", "Europe/Paris", "--regions", "ne,texas")
LIMITS = ("--max-running", "2", "--max-pending", "30", "--max-per-minute", "100", "--max-disk", "1.5GB")


def test_json_of_every_verb(gribmill: Run, store: Store) -> None:
    check_golden("tenants add", gribmill(*ADD, *LIMITS, "--json").out)
    check_golden("tenants edit", gribmill("tenants", "edit", "acme", "--no-limit", "disk", "--json").out)
    add(store, tenant_id="acme")
    check_golden("tenants disable", gribmill("tenants", "disable", "acme", "--json").out)
    check_golden("tenants enable", gribmill("tenants", "enable", "acme", "--json").out)
    check_golden("tenants show", gribmill("tenants", "show", "acme", "--json").out)
    check_golden("tenants list", gribmill("tenants", "list", "--json").out)


def test_tenant_is_added_changed_and_shown(gribmill: Run, store: Store) -> None:
    assert gribmill(*ADD, *LIMITS).out == "tenant acme is added\n"
    add(store, tenant_id="acme")
    assert gribmill("tenants", "edit", "acme", "--no-regions", "--max-running", "5").out == "tenant acme is changed\n"
    shown = gribmill("tenants", "show", "acme").out
    assert "regions: those of everybody\n" in shown
    assert "running: 0 of 5\n" in shown
    assert "pending: 1 of 30\n" in shown
    assert "disk for its tiles: 0 B of 1.5 GB\n" in shown
    assert [line.split()[0] for line in gribmill("tenants", "list").out.splitlines()] == ["tenant", "acme", "global"]


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("add", "Acme"), 1, "is not a tenant's name"),
        (("add", "global"), 1, "there is a tenant global already"),
        (("add", "x", "--regions", "atlantis"), 1, "no region 'atlantis'"),
        (("add", "x", "--timezone", "Mars"), 1, "no time zone 'Mars'"),
        (("add", "x", "--max-disk", "much"), 2, "is not a size"),
        (("add", "x", "--max-disk", "0"), 1, "max_disk_bytes 0 is not a limit"),
        (("edit", "global"), 2, "nothing to change"),
        (("edit", "global", "--max-pending", "1"), 1, "has no limits"),
        (("edit", "nobody", "--title", "x"), 1, "there is no tenant 'nobody'"),
        (("show", "nobody"), 1, "there is no tenant 'nobody'"),
        (("disable", "global"), 1, "cannot be disabled"),
    ],
)
def test_a_refusal_is_one_sentence(gribmill: Run, words: tuple[str, ...], code: int, reason: str) -> None:
    answer = gribmill("tenants", *words)
    assert (answer.code, answer.out) == (code, "")
    assert reason in answer.err


def test_listings_and_figures_of_one_tenant(gribmill: Run, store: Store) -> None:
    for name in ("acme", "bolt"):
        store.tenants.add(NewTenant(name))
    mine = add(store, tenant_id="acme")
    add(store, tenant_id="bolt")
    add(store)
    gribmill("triggers", "add", "noon", "sleep", "--cron", "0 12 * * *", "--tenant", "acme")
    gribmill("triggers", "add", "noon", "sleep", "--cron", "0 12 * * *")
    assert [job["id"] for job in gribmill("jobs", "list", "--tenant", "acme", "--json").json["jobs"]] == [mine]
    assert [job["id"] for job in gribmill("jobs", "list", "--queue", "--tenant", "acme", "--json").json] == [mine]
    assert len(gribmill("triggers", "list", "--tenant", "acme", "--json").json) == 1
    assert gribmill("jobs", "stats", "--tenant", "acme", "--totals", "--json").json["counts"]["pending"] == 1
    sleep = next(one for one in gribmill("jobs", "stats", "--tenant", "acme", "--json").json if one["type"] == "sleep")
    assert sleep["counts"] == {"pending": 1}


@pytest.mark.parametrize(
    "words",
    ["jobs list", "jobs stats", "jobs cancel", "jobs retry", "triggers list", "triggers emit x", "events list",
     "events tail", "groups list", "tokens list"],
)  # fmt: skip
def test_unknown_tenant_is_refused(gribmill: Run, store: Store, words: str) -> None:
    answer = gribmill(*words.split(), "--tenant", "nobody")
    assert (answer.code, "there is no tenant 'nobody'" in answer.err) == (1, True)
    assert not store.events.list()


def test_job_of_an_unknown_tenant_is_refused(gribmill: Run) -> None:
    answer = gribmill("jobs", "enqueue", "sleep", "--tenant", "nobody")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "error: there is no tenant 'nobody'; `gribmill tenants list` shows them all\n"


def test_tenant_limits_what_it_keeps_of_its_own_regions(gribmill: Run, store: Store) -> None:
    gribmill(
        "tenants", "add", "acme", "--regions", "ne", "--keep-days", "2.5", "--keep-runs", "4", "--keep-disk", "3GB"
    )
    kept = store.tenants.get("acme")
    assert (kept.keep_days, kept.keep_runs, kept.keep_bytes) == (2.5, 4, 3_000_000_000)
    assert "keeps of its tiles: 2.5 days, 4 runs, 3.0 GB\n" in gribmill("tenants", "show", "acme").out
    assert gribmill("tenants", "edit", "acme", "--no-limit", "keep-days", "--no-limit", "keep-disk").code == 0
    kept = store.tenants.get("acme")
    assert (kept.keep_days, kept.keep_runs, kept.keep_bytes) == (None, 4, None)
    assert gribmill("tenants", "edit", "acme", "--keep-days", "0").code == 2
    refused = gribmill("tenants", "edit", "global", "--keep-runs", "1")
    assert (refused.code, "has no limits" in refused.err) == (1, True)
