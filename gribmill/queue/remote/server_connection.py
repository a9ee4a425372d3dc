"""HTTP requests of a remote worker to its server."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TypeVar

import requests
from pydantic import BaseModel, ValidationError

from gribmill.queue.errors import QueueError, StoreError, StoreUnreachable
from gribmill.queue.remote.server_url import check_server_url
from gribmill.version import __version__

PATH = "/api/v1/worker/"
CONNECT_SECONDS = 3.0
# Responses are read in chunks, so that a slow one cannot block a worker.
LONGEST_ANSWER = 64_000_000
PIECE = 1_000_000
# Delays before a read is retried: a restarting server is back within seconds.
READ_AGAIN_SECONDS: Sequence[float] = (0.5, 1.0, 2.0, 4.0)
# A file with the certificates of a private CA; other programs use the same variables.
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")

AnswerT = TypeVar("AnswerT", bound=BaseModel)


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
