"""The numbered files that bring a database up to date."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.database.postgres.migrate import migrations as of_postgres
from gribmill.database.sqlite.migrate import migrations as of_sqlite
from gribmill.database.statements import Migration


@pytest.mark.parametrize("migrations", [of_sqlite, of_postgres], ids=["sqlite", "postgres"])
def test_migration_numbers_are_unique(migrations: Callable[[], list[Migration]]) -> None:
    versions = [one.version for one in migrations()]
    assert versions == sorted(set(versions))
