"""Read access to a database through the server, and HTTP requests of a remote worker to it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import requests
from pydantic import BaseModel, ValidationError

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.database.records import RawRows
from gribmill.queue.errors import NotAllowed, QueueError, StoreError, StoreUnreachable
from gribmill.queue.model import (
    BrokenTrigger,
    ClaimRequest,
    Enqueued,
    Exchange,
    PreparedJob,
    Report,
    Succeeded,
    Trigger,
    Violation,
)
from gribmill.queue.remote.messages import ReadMessage, TableMessage
from gribmill.queue.remote.reads import params_to_json
from gribmill.queue.remote.server_url import check_server_url
from gribmill.version import __version__

RecordT = TypeVar("RecordT")
AnswerT = TypeVar("AnswerT", bound=BaseModel)

PATH = "/api/v1/worker/"
CONNECT_SECONDS = 3.0
# Responses are read in chunks, so that a slow one cannot block a worker.
LONGEST_ANSWER = 64_000_000
PIECE = 1_000_000
# Delays before a read is retried: a restarting server is back within seconds.
READ_AGAIN_SECONDS: Sequence[float] = (0.5, 1.0, 2.0, 4.0)
# A file with the certificates of a private CA; other programs use the same variables.
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")


class RemoteSnapshot:
    """Each statement reads its own snapshot. Handlers need no more, because other hosts may change rows at any time."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server
        self._now: datetime | None = None

    @property
    def now(self) -> datetime:
        """The database's clock at the last statement; before the first, the local clock."""
        return self._now or datetime.now(UTC)

    def query(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> list[RecordT]:
        return self.table(name, params).records(record)

    def first(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> RecordT | None:
        found = self.query(record, name, params)
        return found[0] if found else None

    def table(self, name: str, params: Mapping[str, Any] = {}) -> RawRows:
        message = ReadMessage(statement=name, params=params_to_json(params))
        found = self._server.look("read", message, TableMessage)
        self._now = datetime.fromtimestamp(found.now, UTC)
        return RawRows(found.columns, [*found.rows])

    def list_triggers(self) -> list[Trigger | BrokenTrigger]:
        refuse()

    def get_trigger(self, trigger_id: int) -> Trigger | BrokenTrigger | None:
        refuse()

    def any_trigger_due(self, types: Sequence[str]) -> bool:
        refuse()

    def any_lost(self, farthest_lease_seconds: float) -> bool:
        refuse()

    def violations(self) -> list[Violation]:
        refuse()


class RemoteDatabase:
    """One connection per thread."""

    workers_outlive_it = True

    def __init__(self, url: str, token: str, lease_seconds: float) -> None:
        self._options = (url, token, lease_seconds)
        self._threads = threading.local()

    @property
    def server(self) -> ServerConnection:
        """The connection of this thread; a forked process makes its own."""
        if getattr(self._threads, "pid", None) != os.getpid():
            self._threads.server = ServerConnection(*self._options)
            self._threads.pid = os.getpid()
        server: ServerConnection = self._threads.server
        return server

    def for_tenant(self, name: str) -> RemoteDatabase:
        refuse()

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        yield RemoteSnapshot(self.server)

    def write(self) -> AbstractContextManager[Transaction]:
        refuse()

    def turn(
        self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]], claims: Sequence[ClaimRequest]
    ) -> Exchange | None:
        refuse()

    def insert_job(self, job: PreparedJob) -> Enqueued:
        refuse()

    def may_have_work(self) -> bool:
        """Always true: only a claim can find out."""
        return True

    def tidy(self) -> None:
        """The server does it."""

    def announce(self) -> None:
        """The server does it."""

    def listener(self) -> SilentListener:
        return SilentListener()

    def close(self) -> None:
        if getattr(self._threads, "pid", None) == os.getpid():
            self._threads.server.close()
            del self._threads.pid


class SilentListener:
    """Never becomes readable: a worker without a database polls."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def fileno(self) -> int:
        return self._read_end

    def drain(self) -> None:
        """There are never notifications."""

    def close(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)


def refuse() -> NoReturn:
    raise NotAllowed("a worker without a database connection cannot do this: run it on a host that has one")


class ServerConnection:
    """One thread's connection. StoreUnreachable means that no response came, and the outcome is unknown."""

    def __init__(self, url: str, token: str, lease_seconds: float) -> None:
        self._base = check_server_url(url) + PATH
        self._answer_seconds = max(2.0, lease_seconds / 3)
        self._session = requests.Session()
        self._session.trust_env = False  # no netrc: the token is the only credential
        self._session.verify = next(filter(None, map(os.environ.get, CA_VARIABLES)), True)
        self._session.headers.update({"Authorization": f"Bearer {token}", "User-Agent": f"gribmill/{__version__}"})

    def post(self, path: str, message: BaseModel | None, answer: type[AnswerT]) -> AnswerT:
        """Send a request and return the response; raises a QueueError with the server's message if it refuses."""
        body = message.model_dump_json() if message else "{}"
        try:
            with self._session.post(
                self._base + path,
                data=body.encode(),
                headers={"Content-Type": "application/json"},
                timeout=(CONNECT_SECONDS, self._answer_seconds),
                allow_redirects=False,
                stream=True,
            ) as response:
                text = self._read(response)
        except requests.RequestException as error:
            raise StoreUnreachable(f"the server {self._base} does not answer ({type(error).__name__})") from None
        if response.status_code != 200:
            raise _refusal(response.status_code, text)
        try:
            return answer.model_validate_json(text)
        except ValidationError:
            raise StoreError(
                f"the server {self._base} sent a response that this version of gribmill does not understand"
            ) from None

    def look(self, path: str, message: BaseModel | None, answer: type[AnswerT]) -> AnswerT:
        """Like `post`, for reads, which are retried while the server cannot be reached."""
        for seconds in READ_AGAIN_SECONDS:
            try:
                return self.post(path, message, answer)
            except StoreUnreachable:
                time.sleep(seconds)
        return self.post(path, message, answer)

    def _read(self, response: requests.Response) -> bytes:
        ends = time.monotonic() + self._answer_seconds
        found = bytearray()
        for piece in response.iter_content(PIECE):
            found += piece
            if len(found) > LONGEST_ANSWER:
                raise StoreError(f"the server's response is larger than {LONGEST_ANSWER} bytes")
            if time.monotonic() > ends:
                raise StoreUnreachable(f"the server's response takes longer than {self._answer_seconds:g} s")
        return bytes(found)

    def close(self) -> None:
        self._session.close()


class _Problem(BaseModel):
    detail: str = ""


def _refusal(status: int, text: bytes) -> QueueError:
    try:
        detail = _Problem.model_validate_json(text).detail
    except ValidationError:
        detail = ""
    sentence = detail[:1000] or f"the server responded with status {status}"
    if status in (401, 403):
        return StoreError(f"the server refuses this worker: {sentence}")
    if status in (408, 429) or status >= 500:
        return StoreUnreachable(f"the server is unavailable: {sentence}")
    return QueueError(sentence)
