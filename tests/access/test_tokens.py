"""Tokens: shown once, recognised, expired, revoked, replaced."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gribmill.access.errors import AccessError, TokenNotFound
from gribmill.access.permissions import Role, covers
from gribmill.access.tokens import Tokens, new_token, read_token
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.tested_backend import REFUSED, BackendUnderTest

DAY = 86_400.0


@pytest.fixture
def tokens(backend: BackendUnderTest) -> Tokens:
    return Tokens(backend.store.database)


def test_text_has_prefix_id_secret_and_checksum() -> None:
    text = str(new_token())
    assert text.startswith("gm_")
    assert len(text) == 3 + 8 + 1 + 32 + 1 + 8
    assert read_token(text) is not None
    for at in range(len(text)):
        wrong = text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :]
        assert read_token(wrong) is None, wrong
    assert read_token(text + "\n") is None


def test_a_token_is_recognised_by_its_text_and_its_secret_is_stored_nowhere(
    backend: BackendUnderTest, tokens: Tokens
) -> None:
    issued = tokens.create("deploy", "super_admin")
    found = tokens.verify(issued.text)
    assert found is not None
    assert (found.id, found.role, found.tenant_id) == (issued.token.id, "super_admin", None)
    secret = issued.text.split("_", 2)[2][:32]
    assert all(secret not in str(row) for row in backend.by_hand("SELECT * FROM access_tokens"))


def test_another_secret_of_a_known_id_is_refused(tokens: Tokens) -> None:
    issued = tokens.create("deploy", "super_admin")
    assert tokens.verify(str(new_token(issued.token.id))) is None


def test_expired_and_revoked_tokens_are_refused(tokens: Tokens, clock: FakeClock) -> None:
    short, long = tokens.create("a", "super_admin", days=1), tokens.create("b", "super_admin", days=None)
    clock.advance(DAY)
    assert tokens.verify(short.text) is None
    assert tokens.verify(long.text) is not None
    tokens.revoke(long.token.id)
    assert tokens.verify(long.text) is None
    assert {one.name: one.state(datetime.fromtimestamp(clock(), UTC)) for one in tokens.list()} == {
        "a": "expired",
        "b": "revoked",
    }


def test_a_rotated_token_has_the_same_id_and_only_the_new_secret_counts(tokens: Tokens) -> None:
    first = tokens.create("a", "tenant_viewer", tenant_id="acme")
    second = tokens.rotate(first.token.id)
    assert second.token.id == first.token.id
    assert tokens.verify(first.text) is None
    assert tokens.verify(second.text) is not None
    tokens.revoke(first.token.id)
    with pytest.raises(AccessError, match="was revoked"):
        tokens.rotate(first.token.id)


def test_last_use_is_written_at_most_every_thirty_seconds(tokens: Tokens, clock: FakeClock) -> None:
    issued = tokens.create("a", "super_admin")
    seen = []
    for seconds in (0, 29, 2):
        clock.advance(seconds)
        tokens.verify(issued.text)
        seen.append(tokens.get(issued.token.id).last_used_at)
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize(
    ("role", "tenant", "words"),
    [
        ("tenant_admin", None, "belongs to a tenant"),
        ("super_admin", "acme", "for all tenants"),
        ("tenant_viewer", "nobody-knows", "there is no tenant"),
        ("king", None, "is not a role"),
    ],
)
def test_mismatched_roles_and_tenants_are_refused(tokens: Tokens, role: Role, tenant: str | None, words: str) -> None:
    with pytest.raises(AccessError, match=words):
        tokens.create("a", role, tenant_id=tenant)
    assert tokens.list() == []


def test_unknown_names_scopes_and_times_are_refused(tokens: Tokens) -> None:
    with pytest.raises(AccessError, match="printable"):
        tokens.create("", "super_admin")
    with pytest.raises(AccessError, match="is not a scope"):
        tokens.create("a", "super_admin", scopes=["everything"])
    with pytest.raises(AccessError, match="days"):
        tokens.create("a", "super_admin", days=0)
    with pytest.raises(TokenNotFound):
        tokens.revoke("nothing")


def test_the_database_refuses_a_tenant_role_without_a_tenant(backend: BackendUnderTest) -> None:
    with pytest.raises(REFUSED):
        backend.by_hand(
            "INSERT INTO access_tokens (id, name, role, secret_hash, created_at)"
            " VALUES ('a', 'a', 'tenant_admin', 'x', '2026-01-01')"
        )


def test_scopes_limit_parts_and_writing() -> None:
    assert covers((), "jobs", writes=True)
    assert covers(("read",), "jobs", writes=False)
    assert not covers(("read",), "jobs", writes=True)
    assert covers(("jobs",), "jobs", writes=True)
    assert not covers(("jobs",), "events", writes=False)
    assert covers(("jobs:read",), "jobs", writes=False)
    assert not covers(("jobs:read",), "jobs", writes=True)
