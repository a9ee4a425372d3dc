"""Operations on the database itself: create, upgrade, inspect, move."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gribmill.database.move import MovedTable, MoveRefused, Side, move
from gribmill.database.sqlite.move_side import SqliteSide
from gribmill.database.sqlite.status import sqlite_status
from gribmill.database.status import DatabaseStatus
from gribmill.database_url import SCHEMES, check_database_url, hide_password
from gribmill.errors import GribmillError
from gribmill.pipeline.job_types import TYPES
from gribmill.pipeline.open_queue import check_postgres_extra, open_database, open_queue
from gribmill.queue.store.workers import Workers
from gribmill.settings.schema import Settings
from gribmill.storage.layout import JOBS_FILE, DataRoot

Tell = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class UpgradedDatabase:
    """The migrations of a database, and which of them were just applied."""

    place: str
    applied: tuple[int, ...]
    migrations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MovedDatabase:
    """A completed move, and what the operator should do next."""

    source: str
    target: str
    tables: tuple[MovedTable, ...]
    next_step: str


def database_status(settings: Settings) -> DatabaseStatus:
    """The state of the database of these settings; creates nothing."""
    if settings.database is not None:
        check_postgres_extra()
        from gribmill.database.postgres.status import postgres_status

        return postgres_status(settings.database)
    return sqlite_status(_existing(settings))


def _existing(settings: Settings) -> Path:
    path = DataRoot(settings.data_root).jobs_db
    if not path.exists():
        raise GribmillError(f"there is no {path} yet; `gribmill db init` creates it")
    return path


def upgrade_database(settings: Settings, *, new: bool) -> UpgradedDatabase:
    """Create missing tables; without `new`, only in a database that already has some."""
    path = DataRoot(settings.data_root).jobs_db
    before = () if settings.database is None and not path.exists() else database_status(settings).migrations
    place = hide_password(settings.database) if settings.database else str(path)
    if not before and not new:
        raise GribmillError(f"{place} has no gribmill tables yet; `gribmill db init` creates them")
    open_database(settings, create=True).close()
    after = database_status(settings).migrations
    return UpgradedDatabase(place, tuple(version for version in after if version not in before), after)


def move_database(settings: Settings, target: str, tell: Tell) -> MovedDatabase:
    """Copy the database of these settings to one of the other kind, and verify the copy."""
    to_server = target.partition("://")[0] in SCHEMES
    if to_server == (settings.database is not None):
        tool = "pg_dump and pg_restore" if to_server else "`gribmill jobs backup`"
        raise MoveRefused(f"the queue is in {_engine(to_server)} already; copy it with {tool}")
    if to_server:
        target = _checked(target)
        new = settings.model_copy(update={"database": target})
    else:
        file = _file(target)
        new = settings.model_copy(update={"database": None, "data": file.parent})
    if settings.database is None:
        _existing(settings)
    _refuse_if_in_use(settings, create=False)
    _refuse_if_in_use(new, create=True)
    moved = _move(settings, new, tell)
    with closing(open_queue(new)) as store:
        if broken := store.verify():
            raise MoveRefused(f"the copy violates {len(broken)} invariants: `gribmill jobs verify` lists them")
    return moved


def _move(settings: Settings, new: Settings, tell: Tell) -> MovedDatabase:
    url = settings.database or new.database
    assert url is not None
    file = DataRoot((new if settings.database else settings).data_root).jobs_db
    from gribmill.database.postgres.move_side import postgres_side

    source: Side
    target: Side
    with postgres_side(url) as server, closing(SqliteSide(file)) as local:
        source, target = (server, local) if settings.database else (local, server)
        tables = tuple(move(source, target, server.tables(), tell))
    if new.database:
        step = f'set database = "{target.label}" in gribmill.toml, rename {file}, and start the workers'
    else:
        step = f"remove the setting `database`, so that {file} is used, and start the workers"
    return MovedDatabase(source.label, target.label, tables, step)


def _refuse_if_in_use(settings: Settings, *, create: bool) -> None:
    """Refuse while workers run, because they would keep using the old database."""
    # Not opened as a queue, which declares job types: an interrupted move must find its rows unchanged.
    with closing(open_database(settings, create=create)) as database:
        alive = [worker.id for worker in Workers(database, TYPES).alive(settings.queue.lease_seconds)]
    if alive:
        count, them = ("1 worker is", "it") if len(alive) == 1 else (f"{len(alive)} workers are", "them")
        raise MoveRefused(f"{count} running ({', '.join(alive[:3])}): stop {them}, then move again")


def _checked(url: str) -> str:
    try:
        check_database_url(url)
    except ValueError as error:
        raise MoveRefused(f"--to {hide_password(url)!r} is invalid: {error}") from None
    return url


def _file(name: str) -> Path:
    path = Path(name).absolute()
    if path.name != JOBS_FILE:
        raise MoveRefused(f"--to {name}: the file must be called {JOBS_FILE}, in the data root that will use it")
    return path


def _engine(server: bool) -> str:
    return "PostgreSQL" if server else "a file"
