"""Sessions: opened, idle, expired, and ended with their token."""

from __future__ import annotations

import pytest

from gribmill.access.sessions import Sessions
from gribmill.access.tokens import IssuedToken, Tokens
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.tested_backend import BackendUnderTest

HOUR = 3600.0


@pytest.fixture
def sessions(backend: BackendUnderTest) -> Sessions:
    return Sessions(backend.store.database)


@pytest.fixture
def issued(backend: BackendUnderTest) -> IssuedToken:
    return Tokens(backend.store.database).create("console", "super_admin", days=None)


def test_session_acts_for_its_token_until_it_ends(
    backend: BackendUnderTest, sessions: Sessions, issued: IssuedToken
) -> None:
    session_id = sessions.begin(issued.token, "127.0.0.1")
    found = sessions.verify(session_id)
    assert found is not None
    assert found.id == issued.token.id
    assert all(session_id not in str(row) for row in backend.by_hand("SELECT * FROM access_sessions"))
    assert sessions.end(session_id)
    assert sessions.verify(session_id) is None
    assert not sessions.end(session_id)


def test_idle_session_expires_after_twelve_hours(sessions: Sessions, issued: IssuedToken, clock: FakeClock) -> None:
    used, idle = sessions.begin(issued.token, ""), sessions.begin(issued.token, "")
    clock.advance(11 * HOUR)
    assert sessions.verify(used) is not None
    clock.advance(2 * HOUR)
    assert sessions.verify(used) is not None
    assert sessions.verify(idle) is None


def test_no_session_lasts_longer_than_a_week(sessions: Sessions, issued: IssuedToken, clock: FakeClock) -> None:
    session_id = sessions.begin(issued.token, "")
    for _ in range(16):
        assert sessions.verify(session_id) is not None
        clock.advance(10.5 * HOUR)
    assert sessions.verify(session_id) is None


def test_revoking_or_rotating_a_token_ends_its_sessions(
    backend: BackendUnderTest, sessions: Sessions, issued: IssuedToken
) -> None:
    tokens = Tokens(backend.store.database)
    session_id = sessions.begin(issued.token, "")
    tokens.rotate(issued.token.id)
    assert sessions.verify(session_id) is None
    session_id = sessions.begin(issued.token, "")
    tokens.revoke(issued.token.id)
    assert sessions.verify(session_id) is None


@pytest.mark.parametrize("session_id", ["", "x" * 43, "é" * 43, "x" * 100_000])
def test_made_up_ids_are_refused(sessions: Sessions, session_id: str) -> None:
    assert sessions.verify(session_id) is None
