"""Console sessions: a random id in a cookie that represents a token."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.access.tokens import Token
from gribmill.database.protocol import Database

IDLE = timedelta(hours=12)
ABSOLUTE = timedelta(days=7)
NOTE_USE = timedelta(seconds=30)
ID_LENGTH = 43


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A stored session. The database stores only the SHA-256 of its id."""

    id_hash: str
    token_id: str
    address: str
    created_at: datetime
    last_used_at: datetime
    ended_at: datetime | None

    def is_open(self, now: datetime) -> bool:
        return self.ended_at is None and now < self.last_used_at + IDLE and now < self.created_at + ABSOLUTE


class Sessions:
    """The sessions of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, token: Token, address: str) -> str:
        """Start a session for this token and return its id. Also removes old sessions."""
        session_id = secrets.token_urlsafe(32)
        with self._database.write() as tx:
            tx.change("sessions/prune", {"before": tx.now - 2 * ABSOLUTE})
            row = {"id_hash": hash_of(session_id), "token_id": token.id, "address": address}
            tx.change("sessions/insert", row)
        return session_id

    def verify(self, session_id: str) -> Token | None:
        """The token of an open session; None if it ended, was idle too long, or its token is not active."""
        if len(session_id) != ID_LENGTH:
            return None
        key = {"id_hash": hash_of(session_id)}
        with self._database.read() as tx:
            session = tx.first(ConsoleSession, "sessions/get", key)
            if session is None or not session.is_open(tx.now):
                return None
            token = tx.first(Token, "tokens/get", {"id": session.token_id})
            now = tx.now
        if token is None or token.state(now) != "active":
            return None
        if session.last_used_at < now - NOTE_USE:
            with self._database.write() as tx:
                tx.lasting = False
                tx.change("sessions/note_use", {**key, "before": now - NOTE_USE})
        return token

    def end(self, session_id: str) -> bool:
        """End a session; False if there was none."""
        with self._database.write() as tx:
            return bool(tx.change("sessions/end", {"id_hash": hash_of(session_id)}))


def hash_of(session_id: str) -> str:
    return hashlib.sha256(session_id.encode()).hexdigest()
