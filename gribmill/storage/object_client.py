"""Requests to an object store, retried after temporary failures until a deadline.

Conditions are compared by ETag, in Google's store by generation. Each error message is one sentence.
"""

from __future__ import annotations

import importlib
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from gribmill.errors import printable, shortened
from gribmill.storage.aws_profile import profile_options
from gribmill.storage.bucket import NEW, Bucket, Condition, ObjectStatus
from gribmill.storage.errors import ChangedObject, ObjectStoreError, ObjectStoreUnreachable

# A request is retried for this long after temporary failures.
PATIENCE_SECONDS = 20.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 3.0
CONNECT_SECONDS = 5
REQUEST_SECONDS = 120
# Larger files are sent in parts, several at a time; most stores limit single writes to 5 GB.
MULTIPART_BYTES = 64 * 2**20
PART_BYTES = 16 * 2**20
PARTS_AT_ONCE = 4
MOST_LISTED = 1_000_000
T = TypeVar("T")

# Metadata services where cloud machines find their keys: used if there are none elsewhere.
_METADATA_SERVICES = ("169.254.169.254", "/computeMetadata/")
KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
# Statuses below 500 that a retry may fix.
TEMPORARY = (408, 425, 429)
# Error codes of S3 and Azure for a missing bucket.
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")


@lru_cache(maxsize=32)
def client_of(bucket: Bucket) -> ObjectClient:
    """The client of a bucket: one per process, with pooled connections."""
    return ObjectClient(bucket)


class ObjectClient:
    """All requests to one bucket. Safe to use from several threads."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self._obstore = _obstore()
        self._store = _open(bucket)

    def head(self, key: str) -> ObjectStatus:
        return _status(self._try(key, lambda: self._obstore.head(self._store, key)))

    def read(self, key: str) -> tuple[bytes, ObjectStatus]:
        """Read a whole object."""

        def get() -> tuple[bytes, ObjectStatus]:
            found = self._obstore.get(self._store, key)
            return bytes(found.bytes()), _status(found.meta)

        return self._try(key, get)

    def read_range(self, key: str, begin: int, end: int, etag: str | None) -> memoryview:
        options: dict[str, Any] = {"range": (begin, end)}
        if etag:
            options["if_match"] = etag
        return self._try(key, lambda: memoryview(self._obstore.get(self._store, key, options=options).bytes()))

    def read_tail(self, key: str, size: int) -> tuple[bytes, ObjectStatus]:
        if self.bucket.url.startswith("az:"):
            return self._read_end(key, size)

        def get() -> tuple[bytes, ObjectStatus]:
            try:
                found = self._obstore.get(self._store, key, options={"range": {"suffix": size}})
            except self._obstore.exceptions.BaseError as error:
                if _http_status(error) == 416:  # an empty object has no range
                    return b"", _status(self._obstore.head(self._store, key))
                raise
            return bytes(found.bytes()), _status(found.meta)

        return self._try(key, get)

    def _read_end(self, key: str, size: int) -> tuple[bytes, ObjectStatus]:
        """The last bytes from a store without suffix ranges (Azure): the size is requested first."""
        status = self.head(key)
        if not status.st_size:
            return b"", status
        begin = max(0, status.st_size - size)
        return bytes(self.read_range(key, begin, status.st_size, status.etag)), status

    def write(self, key: str, chunks: Sequence[bytes | bytearray | memoryview], condition: Condition) -> None:
        """Write an object in one request: it appears complete or not at all."""
        mode: Any = "create" if condition == NEW else "overwrite"
        if isinstance(condition, ObjectStatus):
            seen = {"e_tag": condition.etag, "version": condition.version}
            mode = {name: value for name, value in seen.items() if value}
        try:
            self._try(
                key,
                lambda: self._obstore.put(self._store, key, list(chunks), mode=mode, use_multipart=False),
                writing=True,
            )
        except FileNotFoundError:
            # Some stores respond like this to a condition on an object that is gone.
            raise ChangedObject(f"{self._name(key)} was removed meanwhile") from None

    def upload(self, key: str, file: Path) -> None:
        """Upload a local file under a free name; ChangedObject if the name is taken.

        Large files are uploaded in parts, which stores accept only without a condition, so the name is checked first.
        """
        large = file.stat().st_size > MULTIPART_BYTES
        if large and self._is_there(key):
            raise ChangedObject(f"{self._name(key)} is there already")
        how: dict[str, Any] = {"mode": "create", "use_multipart": False}
        if large:
            how = {"use_multipart": True, "chunk_size": PART_BYTES, "max_concurrency": PARTS_AT_ONCE}
        self._try(key, lambda: self._obstore.put(self._store, key, file, **how), writing=True)

    def download(self, key: str) -> Iterator[bytes]:
        """Read the whole object in parts. A failure in between is not retried here: the caller has to start again."""
        found = self._try(key, lambda: self._obstore.get(self._store, key))
        try:
            for part in found.stream(min_chunk_size=2**20):
                yield bytes(part)
        except (self._obstore.exceptions.BaseError, OSError) as error:
            raise ObjectStoreUnreachable(f"reading {self._name(key)} stopped: {_reason(error)}") from None

    def remove(self, keys: Sequence[str]) -> None:
        """Remove these objects. Missing ones, which stores other than S3 report, are ignored."""
        if not keys:
            return
        try:
            self._try(keys[0], lambda: self._obstore.delete(self._store, list(keys)), writing=True)
        except FileNotFoundError:
            for key in keys if len(keys) > 1 else ():
                self.remove([key])

    def children(self, prefix: str) -> tuple[list[str], dict[str, ObjectStatus]]:
        found = self._try(prefix, lambda: self._obstore.list_with_delimiter(self._store, _folder(prefix)))
        start = len(prefix) + 1 if prefix else 0
        folders = [one[start:].rstrip("/") for one in found["common_prefixes"]]
        return folders, {one["path"][start:]: _status(one) for one in found["objects"]}

    def below(self, prefix: str) -> list[tuple[str, ObjectStatus]]:
        def listed() -> list[tuple[str, ObjectStatus]]:
            found: list[tuple[str, ObjectStatus]] = []
            for page in self._obstore.list(self._store, _folder(prefix), chunk_size=1000):
                found += [(one["path"], _status(one)) for one in page]
                if len(found) > MOST_LISTED:
                    raise ObjectStoreError(f"{self._name(prefix)} has more than {MOST_LISTED} objects")
            return found

        return self._try(prefix, listed)

    def _is_there(self, key: str) -> bool:
        try:
            self.head(key)
        except FileNotFoundError:
            return False
        return True

    def _name(self, key: str) -> str:
        return f"{self.bucket.url}/{key}"

    def _try(self, key: str, request: Callable[[], T], *, writing: bool = False) -> T:
        """Send a request and return the response; retries after temporary failures, with increasing delays."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return request()
            except FileNotFoundError as error:
                if writing or any(code in str(error) for code in NO_BUCKET):
                    self._explain(key, error)
                raise FileNotFoundError(2, "there is no such object", self._name(key)) from None
            except self._obstore.exceptions.BaseError as error:
                self._explain(key, error)
                if time.monotonic() + pause > deadline:
                    raise ObjectStoreUnreachable(
                        f"{self.bucket.url}{self._at()} did not answer for {PATIENCE_SECONDS:g} s: {_reason(error)}"
                    ) from None
            time.sleep(pause * (0.5 + random.random() / 2))  # noqa: S311 — spreads requests, no secret
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _explain(self, key: str, error: Exception) -> None:
        """Raise the error for a failure that a retry would not fix."""
        known, text = self._obstore.exceptions, str(error)
        status, code = _http_status(error), next(iter(_CODE.findall(text)), "")
        if isinstance(error, known.AlreadyExistsError | known.PreconditionError):
            raise ChangedObject(f"{self._name(key)} was written by another process meanwhile") from None
        if code in NO_BUCKET:
            raise ObjectStoreError(f"there is no bucket {self.bucket.url}{self._at()}") from None
        if any(part in text for part in _METADATA_SERVICES) and not _is_temporary(status):
            raise _no_keys(self.bucket) from None
        if isinstance(error, known.PermissionDeniedError | known.UnauthenticatedError) or status in (401, 403):
            why = f" ({code})" if code else ""
            what = (
                "account and its roles"
                if self.bucket.url.startswith("gs:")
                else "access key, the secret and their rights"
            )
            raise ObjectStoreError(f"{self.bucket.url}{self._at()} refused access{why}: check the {what}") from None
        if isinstance(error, known.NotSupportedError):
            raise ObjectStoreError(f"{self.bucket.url}{self._at()} does not support this: {_reason(error)}") from None
        if status is not None and status >= 300 and status != 404 and not _is_temporary(status):
            raise ObjectStoreError(
                f"{self.bucket.url}{self._at()} answered {status}{f' {code}' if code else ''} to a request for {key}"
            ) from None

    def _at(self) -> str:
        return f" at {self.bucket.options.endpoint}" if self.bucket.options.endpoint else ""


def _obstore() -> Any:
    """Import obstore; raises a clear error if the extra is not installed."""
    try:
        module = importlib.import_module("obstore")
        importlib.import_module("obstore.exceptions")
    except ImportError:
        raise ObjectStoreError("object stores need obstore: pip install 'gribmill[s3]'") from None
    return module


def _open(bucket: Bucket) -> Any:
    # This module retries itself: obstore would not retry conditional writes, and has no overall deadline.
    retries = {"max_retries": 0, "retry_timeout": timedelta(seconds=PATIENCE_SECONDS)}
    endpoint, own = _own_options(bucket)
    client: dict[str, Any] = {
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=REQUEST_SECONDS),
    }
    if endpoint.startswith("http://"):
        client["allow_http"] = True
    store = importlib.import_module("obstore.store")
    try:
        return store.from_url(bucket.url, client_options=client, retry_config=retries, **own)
    except Exception as error:  # noqa: BLE001 — obstore raises errors of several kinds for a wrong configuration
        if any(words in str(error) for words in ("Missing AccessKeyId", "Missing SecretAccessKey", "Account must be")):
            raise _no_keys(bucket) from None
        raise ObjectStoreError(f"{bucket.url} cannot be used: {_reason(error)}") from None


def _own_options(bucket: Bucket) -> tuple[str, dict[str, Any]]:
    """The endpoint, and what obstore needs besides the environment, which it reads itself."""
    options, own = bucket.options, dict[str, Any]()
    endpoint = options.endpoint
    if bucket.url.startswith("s3:"):
        profile = {} if options.anonymous else profile_options()
        names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
        endpoint = endpoint or next(filter(None, map(os.environ.get, names)), profile.get("endpoint_url", ""))
        known = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        own["region"] = options.region or known or profile.get("region") or "us-east-1"
        for name, key in (
            ("access_key_id", "aws_access_key_id"),
            ("secret_access_key", "aws_secret_access_key"),
            ("token", "aws_session_token"),
        ):
            if key in profile:
                own[name] = profile[key]
    if bucket.url.startswith("gs:"):
        endpoint = endpoint or os.environ.get("GOOGLE_BASE_URL", "")
        own |= {"base_url": endpoint.rstrip("/")} if endpoint else {}
    elif endpoint:
        own["endpoint"] = endpoint
    if options.anonymous:
        own["skip_signature"] = True
    return endpoint, own


def _no_keys(bucket: Bucket) -> ObjectStoreError:
    keys = KEYS[bucket.url.partition(":")[0]]
    # For gs://, obstore needs a key to write in any case.
    other = "; store.anonymous only reads" if bucket.options.anonymous else ", or store.anonymous for a public bucket"
    return ObjectStoreError(f"no credentials were found for {bucket.url}: set {keys}{other}")


def _folder(prefix: str) -> str | None:
    return f"{prefix}/" if prefix else None


def _status(meta: Any) -> ObjectStatus:
    return ObjectStatus(meta["size"], meta["last_modified"].timestamp(), meta["e_tag"], meta["version"])


def _http_status(error: Exception) -> int | None:
    found = _STATUS.search(str(error))
    return int(found[1]) if found else None


def _is_temporary(status: int | None) -> bool:
    return status is not None and (status >= 500 or status in TEMPORARY)


def _reason(error: Exception) -> str:
    """The first line of an error, without details that only matter to obstore's developers."""
    return shortened(printable(str(error).partition("\n")[0]), 300)
