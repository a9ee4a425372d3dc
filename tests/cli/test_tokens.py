"""`gribmill tokens`."""

from __future__ import annotations

from gribmill.access.audit import AuditTrail
from gribmill.access.tokens import Tokens
from gribmill.queue.store import Store
from tests.cli.conftest import Run


def test_a_token_is_shown_once_and_listed_without_its_secret(gribmill: Run, store: Store) -> None:
    assert gribmill("tokens", "list").err.startswith("there are no tokens; ")
    made = gribmill("tokens", "create", "--name", "deploy", "--role", "super_admin")
    text = made.out.strip()
    assert Tokens(store.database).verify(text) is not None
    assert made.err == "keep it: it cannot be shown again\n"
    listed = gribmill("tokens", "list")
    assert "deploy" in listed.out
    assert text not in listed.out + gribmill("tokens", "list", "--json").out


def test_a_token_is_rotated_and_revoked_by_its_id(gribmill: Run, store: Store) -> None:
    gribmill("tenants", "add", "acme")
    words = ("--name", "a", "--role", "tenant_viewer", "--tenant", "acme", "--scopes", "jobs:read,data", "--json")
    made = gribmill("tokens", "create", *words).json
    assert (made["tenant_id"], made["scopes"], made["state"]) == ("acme", ["jobs:read", "data"], "active")
    again = gribmill("tokens", "rotate", made["id"], "--no-expiry", "--json").json
    assert (again["id"], again["expires_at"]) == (made["id"], None)
    assert again["token"] != made["token"]
    assert gribmill("tokens", "revoke", made["id"]).out == f"token {made['id']} (a) is revoked\n"
    assert Tokens(store.database).verify(again["token"]) is None


def test_every_change_of_tokens_is_in_the_audit_trail(gribmill: Run, store: Store) -> None:
    made = gribmill("tokens", "create", "--name", "a", "--role", "worker", "--json").json
    gribmill("tokens", "rotate", made["id"])
    gribmill("tokens", "revoke", made["id"])
    entries = AuditTrail(store.database).list()
    assert [one.operation for one in entries] == ["revoke_token", "rotate_token", "create_token"]
    assert {one.object for one in entries} == {f"token {made['id']}"}
    assert (entries[0].before["state"], entries[0].after["state"]) == ("active", "revoked")
    assert made["token"] not in str(entries)


def test_invalid_options_are_refused_in_one_sentence(gribmill: Run) -> None:
    assert gribmill("tokens", "create", "--name", "a", "--role", "tenant_admin").err.endswith(
        "Error: the role tenant_admin belongs to a tenant: name it with --tenant\n"
    )
    assert gribmill("tokens", "revoke", "nothing").err == "error: there is no token 'nothing'\n"
    assert gribmill("tokens", "create", "--name", "a", "--role", "worker", "--days", "0").code == 2
