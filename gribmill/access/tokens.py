"""Tokens: creating, listing, rotating, revoking and verifying.

A token is the text gm_<id>_<secret>_<checksum>. The prefix and the checksum let scanners recognise leaked tokens, and
detect typing errors without the database.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from gribmill.access.errors import AccessError, TokenNotFound
from gribmill.access.permissions import OF_TENANT, ROLES, Role, checked_scopes
from gribmill.database.protocol import Database, Snapshot
from gribmill.errors import quoted

DEFAULT_DAYS = 90.0
LONGEST_DAYS = 3660.0
LONGEST_NAME = 100
# The minimum interval between updates of a token's last use.
NOTE_USE = timedelta(seconds=30)
_PATTERN = re.compile(r"gm_([a-z0-9]{8})_([A-Za-z0-9_-]{32})_([0-9a-f]{8})")
_ID_LETTERS = string.ascii_lowercase + string.digits
_SECRET_BYTES = 24


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token, without its secret."""

    id: str
    name: str
    role: Role
    tenant_id: str | None
    scopes: tuple[str, ...]
    secret_hash: str
    created_by: str | None
    created_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def state(self, now: datetime) -> str:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


class IssuedToken(NamedTuple):
    """A new token with its text, which is shown once."""

    token: Token
    text: str


class Tokens:
    """The tokens of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        name: str,
        role: Role,
        *,
        tenant_id: str | None = None,
        scopes: Sequence[str] = (),
        days: float | None = DEFAULT_DAYS,
        created_by: str | None = None,
    ) -> IssuedToken:
        """Create a token; raises AccessError if the combination is invalid. With `days` None it never expires."""
        _check(name, role, tenant_id, days)
        kept = checked_scopes(scopes)
        text = new_token()
        with self._database.write() as tx:
            if tenant_id is not None:
                _check_tenant(tx, tenant_id)
            row = {"id": text.id, "name": name, "role": role, "tenant_id": tenant_id, "scopes": kept}
            secret = {"secret_hash": text.secret_hash, "expires_at": _expiry(tx, days), "created_by": created_by}
            if not tx.change("tokens/insert", {**row, **secret}):
                raise AccessError("the random id of the token is taken; try again")
            return IssuedToken(_get(tx, text.id), str(text))

    def list(self, tenant_id: str | None = None) -> list[Token]:
        """Tokens of one tenant or of all, oldest first."""
        with self._database.read() as tx:
            return tx.query(Token, "tokens/list", {"tenant_id": tenant_id})

    def get(self, token_id: str) -> Token:
        with self._database.read() as tx:
            return _get(tx, token_id)

    def revoke(self, token_id: str) -> Token:
        """Revoke the token and end its sessions."""
        with self._database.write() as tx:
            _get(tx, token_id)
            tx.change("tokens/revoke", {"id": token_id})
            tx.change("sessions/end_all", {"token_id": token_id})
            return _get(tx, token_id)

    def rotate(self, token_id: str, *, days: float | None = DEFAULT_DAYS) -> IssuedToken:
        """Replace the secret. The old one and its sessions stop working."""
        _check_days(days)
        text = new_token(token_id)
        with self._database.write() as tx:
            row = {"id": token_id, "secret_hash": text.secret_hash, "expires_at": _expiry(tx, days)}
            if not tx.change("tokens/rotate", row):
                _get(tx, token_id)
                raise AccessError(f"token {token_id} was revoked: create another one")
            tx.change("sessions/end_all", {"token_id": token_id})
            return IssuedToken(_get(tx, token_id), str(text))

    def verify(self, text: str) -> Token | None:
        """The active token with this text, or None; records that it was used."""
        given = read_token(text)
        if given is None:
            return None
        with self._database.read() as tx:
            found = tx.first(Token, "tokens/get", {"id": given.id})
            now = tx.now
        if found is None or not _matches(given, found) or found.state(now) != "active":
            return None
        self.note_use(found, now)
        return found

    def note_use(self, token: Token, now: datetime) -> None:
        if token.last_used_at is None or token.last_used_at < now - NOTE_USE:
            with self._database.write() as tx:
                tx.lasting = False
                tx.change("tokens/note_use", {"id": token.id, "before": now - NOTE_USE})


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


def _matches(given: TokenText, stored: Token) -> bool:
    """Compare in constant time, so that timing reveals nothing about the secret."""
    return hmac.compare_digest(given.secret_hash, stored.secret_hash)


def _check(name: str, role: Role, tenant_id: str | None, days: float | None) -> None:
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise AccessError(f"the name of a token is 1 to {LONGEST_NAME} printable characters")
    if role not in ROLES:
        raise AccessError(f"{quoted(role)} is not a role: use one of {', '.join(ROLES)}")
    if role in OF_TENANT and tenant_id is None:
        raise AccessError(f"the role {role} belongs to a tenant: name it with --tenant")
    if role not in OF_TENANT and tenant_id is not None:
        raise AccessError(f"the role {role} is for all tenants: leave the tenant out")
    _check_days(days)


def _check_days(days: float | None) -> None:
    if days is not None and not 0 < days <= LONGEST_DAYS:
        raise AccessError(f"a token is valid for more than 0 and at most {LONGEST_DAYS:g} days")


def _expiry(tx: Snapshot, days: float | None) -> datetime | None:
    return None if days is None else tx.now + timedelta(days=days)


class _TenantName(NamedTuple):
    name: str


def _check_tenant(tx: Snapshot, tenant_id: str) -> None:
    if tx.first(_TenantName, "tenants/get", {"name": tenant_id}) is None:
        raise AccessError(f"there is no tenant {quoted(tenant_id)}: add it with `gribmill tenants add`")


def _get(tx: Snapshot, token_id: str) -> Token:
    found = tx.first(Token, "tokens/get", {"id": token_id})
    if found is None:
        raise TokenNotFound(f"there is no token {quoted(token_id)}")
    return found


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
