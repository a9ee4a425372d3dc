"""The format of a token: gm_<id>_<secret>_<checksum>.

The prefix and the checksum let scanners recognise leaked tokens, and detect typing errors without the database.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from typing import NamedTuple

_PATTERN = re.compile(r"gm_([a-z0-9]{8})_([A-Za-z0-9_-]{32})_([0-9a-f]{8})")
_ID_LETTERS = string.ascii_lowercase + string.digits
_SECRET_BYTES = 24


class TokenText(NamedTuple):
    """The parsed token: its id and its secret."""

    id: str
    secret: str

    def __str__(self) -> str:
        body = f"gm_{self.id}_{self.secret}"
        return f"{body}_{_checksum(body)}"

    @property
    def secret_hash(self) -> str:
        """SHA-256 is enough: slow hashes protect guessable passwords, but the secret is 192 random bits."""
        return hashlib.sha256(self.secret.encode()).hexdigest()


def new_token(token_id: str | None = None) -> TokenText:
    new_id = token_id or "".join(secrets.choice(_ID_LETTERS) for _ in range(8))
    return TokenText(new_id, secrets.token_urlsafe(_SECRET_BYTES))


def read_token(text: str) -> TokenText | None:
    """Parse a token; None if it is invalid, for example mistyped."""
    found = _PATTERN.fullmatch(text)
    if found is None or _checksum(text.rpartition("_")[0]) != found[3]:
        return None
    return TokenText(found[1], found[2])


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
