"""Notices: the result of an action, in a cookie for the next page."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from fastapi import Request

from gribmill.console.frame import Notice
from gribmill.console.routes.notices import COOKIE, back_with, read_notice


def carried(notice: Notice) -> tuple[int, Notice | None]:
    """The size of the cookie, and the notice that the next request brings."""
    header = back_with("/", notice).headers["set-cookie"]
    value = SimpleCookie(header)[COOKIE].value
    scope = {"type": "http", "headers": [(b"cookie", f"{COOKIE}={value}".encode())]}
    return len(f"{COOKIE}={value}"), read_notice(Request(scope))


@pytest.mark.parametrize("letter", ["x", "é", "…", "日", "🌧", '"', "\\"])
def test_cookie_of_the_longest_notice_is_small_enough_for_browsers(letter: str) -> None:
    size, notice = carried(Notice(letter * 5000, "bad"))
    assert size < 4096
    assert notice is not None
    assert notice.kind == "bad"
    assert set(notice.text) == {letter}
    assert len(notice.text) > 300


@pytest.mark.parametrize("value", ["", "%", "AAAA", "W10", "WyJnb29kIl0", "W1tbW1tb" * 5000])
def test_cookie_that_is_no_notice_is_ignored(value: str) -> None:
    assert read_notice(Request({"type": "http", "headers": [(b"cookie", f"{COOKIE}={value}".encode())]})) is None
