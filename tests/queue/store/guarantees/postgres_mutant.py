"""Broken variants of the queue in PostgreSQL, each with one safeguard removed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from gribmill.database.postgres import statements
from gribmill.database.postgres.statements import to_psycopg
from gribmill.database.statements import statement_text
from tests.queue.store.tested_backend import PostgresUnderTest


@dataclass(frozen=True)
class PostgresMutant:
    """A replacement in a named statement, and a change to the database itself."""

    sql: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        """Apply it until the patch is undone. Fails if the safeguard to remove no longer exists."""
        original = statements.statement
        altered = {name: to_psycopg(self._altered(name)) for name in self.sql}

        def statement(name: str) -> str:
            return altered[name] if name in altered else original(name)

        for module in list(sys.modules.values()):
            if module.__name__.startswith("gribmill.database") and getattr(module, "statement", None) is original:
                patch.setattr(module, "statement", statement)

    def _altered(self, name: str) -> str:
        text = statement_text(statements.HOME, name)
        for old, new in self.sql[name]:
            assert old in text, f"{name} has no {old!r} to take away"
            text = text.replace(old, new)
        return text

    def alter(self, backend: PostgresUnderTest) -> None:
        """Apply the change to the database itself."""
        for text in self.by_hand:
            backend.by_hand(text)


def without(function: str, condition: str) -> str:
    """A statement that redefines a database function so that the branch with this condition is never taken."""
    return altered(function, condition, condition.replace("IF ", "IF false AND "))


def altered(function: str, old: str, new: str) -> str:
    """A statement that redefines a database function with this replacement."""
    return (
        f"DO $mutant$ DECLARE body text := pg_get_functiondef('{function}'::regproc);"
        f" BEGIN ASSERT strpos(body, $${old}$$) > 0; EXECUTE replace(body, $${old}$$, $${new}$$);"
        " END $mutant$"
    )
