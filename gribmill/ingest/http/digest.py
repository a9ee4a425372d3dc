"""The checksum that a host may send with its bytes (RFC 9530); of a range, it is that of the range."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping

from gribmill.ingest.http.errors import Untrusted

_SHA256 = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]{44}):")


class ContentDigest:
    """Counts along; without an announced checksum it does nothing."""

    def __init__(self, expected: bytes | None) -> None:
        self._expected = expected
        self._hash = hashlib.sha256() if expected else None

    @classmethod
    def announced(cls, headers: Mapping[str, str]) -> ContentDigest:
        """From an answer's headers."""
        found = _SHA256.search(headers.get("Content-Digest", ""))
        try:
            return cls(base64.b64decode(found[1], validate=True) if found else None)
        except binascii.Error:
            return cls(None)

    @property
    def expected(self) -> bool:
        """Whether there is one to compare with."""
        return self._expected is not None

    def add(self, chunk: bytes) -> None:
        """Some more of the body."""
        if self._hash:
            self._hash.update(chunk)

    def check(self, url: str) -> None:
        """Untrusted unless the body was what the host meant to send."""
        if self._hash and self._hash.digest() != self._expected:
            raise Untrusted(url, "the bytes are not those that their checksum (Content-Digest) was made from")
