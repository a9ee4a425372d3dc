"""Addresses to which a remote worker sends its token."""

from __future__ import annotations

import pytest

from gribmill.queue.errors import QueueError
from gribmill.queue.remote.server_url import check_server_url


@pytest.mark.parametrize("url", ["https://example.org/", "http://localhost:8760", "http://[::1]:8760"])
def test_encrypted_and_local_addresses_are_accepted(url: str) -> None:
    assert check_server_url(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "https://[::1",
        "https://example.org:0",
        "https://example.org:70000",
        "https://example.org:port",
        "https://me:secret@example.org",
        "https://:secret@example.org",
        "https://example.org?token=1",
        "ftp://example.org",
        "example.org",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(QueueError, match="is not the address of a server"):
        check_server_url(url)


def test_a_token_is_not_sent_unencrypted() -> None:
    with pytest.raises(QueueError, match="would send the token unencrypted: use https"):
        check_server_url("http://example.org")
