"""A server for the part of Google Cloud Storage's XML API that obstore uses, on loopback, in this process.

It is gribmill's own and was written from Google's documentation, because no emulator that can be installed by name
speaks this API: `gcp-storage-emulator` and the Firebase emulator speak the JSON API. So the tests show that gribmill
does what the documentation asks for, not that Google's servers do. What the server does not know (a header
`x-goog-…`, a parameter, a condition) it refuses, so that nothing is ignored silently.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import secrets
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from gribmill.storage.bucket import Bucket, StoreOptions
from gribmill.storage.object_client import client_of
from gribmill.storage.object_path import ObjectPath
from tests.servers.google_objects import GoogleBucket, Refused, StoredObject
from tests.servers.required import unavailable

BUCKET, PUBLIC_BUCKET = "tiles", "public"
ACCOUNT = "writer@gribmill-tests.iam.gserviceaccount.com"
GENERATION, CONDITION = "x-goog-generation", "x-goog-if-generation-match"
KNOWN_PARAMETERS = {
    "list-type", "prefix", "delimiter", "continuation-token", "max-keys", "start-after", "audience",
    "uploads", "uploadId", "partNumber",
}  # fmt: skip
# What a test may let the server do to the next request: refuse it, or carry it out and drop the connection.
Fault = Refused | Literal["lost"]


@dataclass(frozen=True)
class ServiceAccount:
    """The key of a service account: a file for its owner, and a public part for the server."""

    file: Path
    modulus: int

    @classmethod
    def new(cls, folder: Path) -> ServiceAccount:
        key = folder / "key.pem"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        said = subprocess.run(["openssl", "rsa", "-in", key, "-noout", "-modulus"], check=True, capture_output=True)
        file = folder / "service_account.json"
        fields = {
            "type": "service_account",
            "private_key_id": "1",
            "private_key": key.read_text(),
            "client_email": ACCOUNT,
        }
        file.write_text(json.dumps(fields))
        return cls(file, int(said.stdout.decode().strip().removeprefix("Modulus="), 16))

    def has_signed(self, token: str) -> bool:
        """Whether a token is a JWT of this account: RSASSA-PKCS1-v1_5 with SHA-256, and the exponent 65537."""
        try:
            text, _, signature = token.rpartition(".")
            issuer = json.loads(_decoded(text.partition(".")[2]))["iss"]
            size = (self.modulus.bit_length() + 7) // 8
            opened = pow(int.from_bytes(_decoded(signature), "big"), 65537, self.modulus).to_bytes(size, "big")
        except (ValueError, KeyError):
            return False
        digest = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(text.encode()).digest()
        return issuer == ACCOUNT and opened == b"\0\1" + b"\xff" * (size - len(digest) - 3) + b"\0" + digest


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class GoogleStorage:
    """Use it in a `with`. Buckets are in memory; `faults` are applied to the next requests, in order.

    It also answers as the metadata service of Google's machines, which gives out a token.
    """

    def __init__(self, account: ServiceAccount) -> None:
        self.account = account
        self.buckets = {BUCKET: GoogleBucket(), PUBLIC_BUCKET: GoogleBucket(public=True)}
        self.machine_token = secrets.token_hex()
        self.faults: deque[Fault] = deque()
        self.requests: list[str] = []
        methods = {f"do_{method}": RequestHandler.answer for method in ("GET", "HEAD", "PUT", "POST", "DELETE")}
        handler = type("Handler", (RequestHandler,), {"storage": self, **methods})
        self._server = Listener(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def path(self, key: str, bucket: str = BUCKET, *, anonymous: bool = False) -> ObjectPath:
        return ObjectPath(Bucket(f"gs://{bucket}", StoreOptions(self.endpoint, anonymous=anonymous)), key)

    def __enter__(self) -> GoogleStorage:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Listener(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


class RequestHandler(BaseHTTPRequestHandler):
    """One connection."""

    storage: GoogleStorage
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet
    disable_nagle_algorithm = True

    def answer(self) -> None:
        self.storage.requests.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        fault = self.storage.faults.popleft() if self.storage.faults else None
        if fault == "lost":
            self.wfile, self.close_connection = io.BytesIO(), True
        try:
            if isinstance(fault, Refused):
                raise fault
            self._carry_out(body)
        except Refused as error:
            document = f"<?xml version='1.0' encoding='UTF-8'?><Error><Code>{error.code}</Code></Error>"
            self._send(error.status, document.encode())

    def _carry_out(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        name, _, key = unquote(parts.path).lstrip("/").partition("/")
        conditions = {one.lower() for one in self.headers} & {"if-match", "if-none-match"}
        extensions = {one.lower() for one in self.headers if one.lower().startswith("x-goog-")}
        if query.keys() - KNOWN_PARAMETERS or extensions - {CONDITION} or (conditions and self.command != "GET"):
            raise Refused(501, "NotImplemented")
        if name == "computeMetadata":
            self._send_token()
            return
        bucket = self._admitted(name)
        if not key:
            if self.command != "GET" or query.get("list-type") != "2":
                raise Refused(501, "NotImplemented")
            self._send(200, bucket.listing(name, query).encode())
        elif self.command in ("GET", "HEAD") and not query:
            self._send_object(bucket.get(key))
        elif self.command == "PUT" and not query:
            condition = self.headers[CONDITION]
            self._send_written(bucket.put(key, body, None if condition is None else int(condition)))
        elif self.command == "DELETE" and not query:
            bucket.delete(key)
            self._send(204)
        else:
            self._carry_out_upload(bucket, name, key, query, body)

    def _carry_out_upload(self, bucket: GoogleBucket, name: str, key: str, query: dict[str, str], body: bytes) -> None:
        upload = query.get("uploadId", "")
        if self.command == "POST" and "uploads" in query:
            fields = f"<Bucket>{name}</Bucket><Key>{key}</Key><UploadId>{bucket.begin_upload(key)}</UploadId>"
            self._send(200, f"<InitiateMultipartUploadResult>{fields}</InitiateMultipartUploadResult>".encode())
        elif self.command == "PUT" and "partNumber" in query:
            self._send(200, b"", {"ETag": bucket.put_part(upload, int(query["partNumber"]), body)})
        elif self.command == "POST" and upload:
            made = bucket.complete(upload, body.decode())
            fields = f"<Bucket>{name}</Bucket><Key>{key}</Key><ETag>{made.etag}</ETag>"
            document = f"<CompleteMultipartUploadResult>{fields}</CompleteMultipartUploadResult>"
            self._send(200, document.encode(), {GENERATION: str(made.generation)})
        elif self.command == "DELETE" and upload:
            bucket.abort(upload)
            self._send(204)
        else:
            raise Refused(501, "NotImplemented")

    def _admitted(self, name: str) -> GoogleBucket:
        """The bucket, if the caller may do this with it."""
        kind, _, token = (self.headers["Authorization"] or "").partition(" ")
        if kind and not (token == self.storage.machine_token or self.storage.account.has_signed(token)):
            raise Refused(401, "AuthenticationRequired")
        bucket = self.storage.buckets.get(name)
        if bucket is None:
            raise Refused(404, "NoSuchBucket")
        if not kind and not (bucket.public and self.command in ("GET", "HEAD")):
            raise Refused(403, "AccessDenied")
        return bucket

    def _send_token(self) -> None:
        if self.headers["Metadata-Flavor"] != "Google":
            raise Refused(403, "Forbidden")
        token = {"access_token": self.storage.machine_token, "expires_in": 3600, "token_type": "Bearer"}
        self._send(200, json.dumps(token).encode(), {"Content-Type": "application/json"})

    def _send_object(self, one: StoredObject) -> None:
        if self.headers["If-Match"] not in (None, "*", one.etag):
            raise Refused(412, "PreconditionFailed")
        modified = formatdate(one.modified, usegmt=True)
        about = {"ETag": one.etag, GENERATION: str(one.generation), "Last-Modified": modified}
        if self.command == "HEAD":
            self._send(200, b"", about, length=len(one.data))
        elif wanted := self.headers["Range"]:
            begin, end = _range(wanted, len(one.data))
            where = f"bytes {begin}-{end - 1}/{len(one.data)}"
            self._send(206, one.data[begin:end], {**about, "Content-Range": where})
        else:
            self._send(200, one.data, about)

    def _send_written(self, one: StoredObject) -> None:
        self._send(200, b"", {"ETag": one.etag, GENERATION: str(one.generation)})

    def _send(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Says nothing."""


def _range(text: str, size: int) -> tuple[int, int]:
    """Begin and end of a Range of one part; one that no byte falls in is refused."""
    first, _, last = text.removeprefix("bytes=").partition("-")
    if first:
        begin, end = int(first), min(size, int(last) + 1 if last else size)
    else:
        begin, end = max(0, size - int(last)), size
    if begin >= end:
        raise Refused(416, "InvalidRange")
    return begin, end


@pytest.fixture(scope="session")
def service_account(tmp_path_factory: pytest.TempPathFactory) -> ServiceAccount:
    if shutil.which("openssl") is None:
        unavailable("gs:// cannot be tested: there is no openssl to make the key of a service account")
    return ServiceAccount.new(tmp_path_factory.mktemp("google"))


@pytest.fixture
def google_storage(service_account: ServiceAccount, monkeypatch: pytest.MonkeyPatch) -> Iterator[GoogleStorage]:
    """A server of this test. The key of the account is found as users have it."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account.file))
    with GoogleStorage(service_account) as server:
        yield server
    client_of.cache_clear()


@pytest.fixture
def google_prefix(google_storage: GoogleStorage) -> ObjectPath:
    return google_storage.path("prefix")
