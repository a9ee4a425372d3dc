"""Webhooks at the command line."""

from __future__ import annotations

import pytest

from gribmill.queue.model import NewEvent
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden

URL = "https://example.org/hook"


def test_webhook_is_added_listed_switched_and_removed(gribmill: Run, store: Store) -> None:
    assert "there are no webhooks" in gribmill("webhooks", "list").err
    added = gribmill("webhooks", "add", URL, "--events", "run.*, model.stale").out
    secret = store.webhooks.get(1).secret
    assert added == f"webhook 1 is on; its secret, which is not shown again, is {secret}\n"
    for words in (("list",), ("list", "--json"), ("show", "1"), ("show", "1", "--json"), ("disable", "1", "--json")):
        answer = gribmill("webhooks", *words)
        assert answer.code == 0 and secret not in answer.out and "example.org" in answer.out
    assert gribmill("webhooks", "enable", "1").out == "webhook 1 is on\n"
    assert gribmill("webhooks", "edit", "1", "--events", "*").out == "webhook 1 is changed\n"
    assert store.webhooks.get(1).events == ("*",)
    assert gribmill("webhooks", "edit", "1").code == 2
    assert gribmill("webhooks", "add", "ftp://x", "--events", "*").code == 1
    given = "whsec_" + "A" * 32
    assert (
        gribmill("webhooks", "add", URL, "--events", "*", "--secret", "-", "--json", stdin=given).json["secret"]
        == given
    )
    assert gribmill("webhooks", "remove", "1", "9").err == "error: there is no webhook 9\n"


def test_event_is_sent_again_by_event_or_delivery(gribmill: Run, store: Store) -> None:
    gribmill("webhooks", "add", URL, "--events", "run.*")
    with store.database.write() as tx:
        tx.publish(NewEvent("run.seen"))
        tx.publish(NewEvent("ping"))
    store.events.dispatch()
    assert "1-1" in gribmill("webhooks", "show", "1").out
    assert gribmill("webhooks", "redeliver", "1").out == "job 1 delivers it already\n"
    assert gribmill("webhooks", "redeliver", "1-2").out.endswith(" delivers it\n")
    assert gribmill("webhooks", "test", "1", "--json").json[0]["created"] is True
    assert gribmill("webhooks", "redeliver", "x").code == 2
    assert gribmill("webhooks", "redeliver", "99").code == 1


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f.1", "10.0.0.7", "169.254.169.254"),
        *("[::1]", "[fe80::1]", "[::ffff:10.0.0.7]", "localhost", "x.localhost.", "localhost:8080"),
    ],
)
def test_address_of_this_machine_or_a_private_network_is_refused_at_once(
    gribmill: Run, store: Store, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = gribmill("webhooks", "add", f"http://{host}/hook", "--events", "*")
    assert refused.code == 1
    assert "is not a public address: set webhooks.allow_private" in refused.err
    assert store.webhooks.list() == []
    gribmill("webhooks", "add", URL, "--events", "*")
    assert gribmill("webhooks", "edit", "1", "--url", f"http://{host}/hook").code == 1
    assert store.webhooks.get(1).url == URL
    monkeypatch.setenv("GRIBMILL_WEBHOOKS_ALLOW_PRIVATE", "true")
    assert gribmill("webhooks", "add", f"http://{host}/hook", "--events", "*").code == 0


def test_json_matches_its_goldens(gribmill: Run, store: Store) -> None:
    secret = "whsec_" + "A" * 32
    made = gribmill("webhooks", "add", URL, "--events", "run.*,ping", "--secret", secret, "--json")
    check_golden("webhooks add", made.out)
    with store.database.write() as tx:
        tx.publish(NewEvent("run.seen"))
    store.events.dispatch()
    check_golden("webhooks list", gribmill("webhooks", "list", "--json").out)
    check_golden("webhooks show", gribmill("webhooks", "show", "1", "--json").out)
    check_golden("webhooks test", gribmill("webhooks", "test", "1", "--json").out)
    check_golden("webhooks redeliver", gribmill("webhooks", "redeliver", "1", "--json").out)
    check_golden("webhooks edit", gribmill("webhooks", "edit", "1", "--events", "*", "--json").out)
    check_golden("webhooks disable", gribmill("webhooks", "disable", "1", "--json").out)
    check_golden("webhooks enable", gribmill("webhooks", "enable", "1", "--json").out)
    check_golden("webhooks remove", gribmill("webhooks", "remove", "1", "9", "--json").out)
