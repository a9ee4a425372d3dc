"""Statements are written once, with SQLite's placeholders."""

from __future__ import annotations

import pytest

from gribmill.database.postgres.statements import to_psycopg


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("SELECT 1 WHERE id = :job_id AND status = :status", "SELECT 1 WHERE id = %(job_id)s AND status = %(status)s"),
        ("UPDATE jobs SET a = ?, b = ?", "UPDATE jobs SET a = %s, b = %s"),
        ("SELECT x::text, :y::int", "SELECT x::text, %(y)s::int"),
        ("SELECT id FROM jobs INDEXED BY jobs_lease WHERE true", "SELECT id FROM jobs WHERE true"),
        ("SELECT 'a :b ? 100%' || :c", "SELECT 'a :b ? 100%%' || %(c)s"),
        ("SELECT 'it''s :here' LIKE 'x%'", "SELECT 'it''s :here' LIKE 'x%%'"),
        ("-- Who is :who? 5 %\nSELECT 7 % 5", "SELECT 7 %% 5"),
    ],
)
def test_placeholders_become_those_of_psycopg(written: str, sent: str) -> None:
    assert to_psycopg(written) == sent
