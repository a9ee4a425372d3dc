"""The response to each request: objects, lists of keys, pages of folders. Independent of sockets."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from email.utils import format_datetime
from urllib.parse import urlsplit

from gribmill.sandbox.publisher import multipart
from gribmill.sandbox.publisher.bucket_list import PARAMETERS, BadList, list_page, parse_list_request, write_page
from gribmill.sandbox.publisher.byte_range import ByteSpan, Unsatisfiable, parse_range, parse_ranges
from gribmill.sandbox.publisher.conditional_request import check_preconditions, range_applies
from gribmill.sandbox.publisher.fault import is_index
from gribmill.sandbox.publisher.faults import FaultInjector
from gribmill.sandbox.publisher.html_listing import folder_page
from gribmill.sandbox.publisher.request import Request, parse_target
from gribmill.sandbox.publisher.response import RawResponse, Response, from_bytes, refusal
from gribmill.sandbox.publisher.stored_object import ObjectStore, StoredObject

# A digest is computed before the body is sent, so a larger file would be read twice for seconds.
MOST_DIGESTED_BYTES = 64_000_000
MOST_PAGE_LINES = 20_000


class Service:
    """Serves one store. Threads may share it."""

    def __init__(
        self, store: ObjectStore, faults: FaultInjector, *, digests: bool = True, multi_range: bool = False
    ) -> None:
        self.store, self.faults, self.digests, self.multi_range = store, faults, digests, multi_range

    def respond(self, request: Request) -> Response | RawResponse:
        """The response to a request; HEAD is the same as GET, except that the body is not sent."""
        return self.faults.respond(request, self._respond)

    def _respond(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return refusal("MethodNotAllowed", {"Method": request.method}, {"Allow": "GET, HEAD"})
        try:
            key, query = parse_target(request.target)
        except ValueError:
            return refusal("InvalidURI")
        bucket = key.rstrip("/")
        if PARAMETERS & query.keys() and "/" not in bucket:
            return self._list(f"{bucket}/" if bucket else "", query)
        stored = self.store.find(key)
        if stored is not None:
            return replace(self._object(self.faults.version(self.store, stored), request), of_object=True)
        if key in ("", "/") or self.store.is_folder(key):
            return self._page(urlsplit(request.target).path, key)
        return refusal("NoSuchKey", {"Key": key})

    def _object(self, stored: StoredObject, request: Request) -> Response:
        etag, modified, size = stored.etag, stored.modified, stored.size
        facts = {
            "ETag": etag,
            "Last-Modified": format_datetime(modified, usegmt=True),
            "Accept-Ranges": "bytes",
            "Content-Type": "binary/octet-stream" if not is_index(stored.key) else "text/plain",
        }
        precondition = check_preconditions(request.headers, etag, modified)
        if precondition == "failed":
            return refusal("PreconditionFailed", {"Condition": "If-Match"})
        if precondition == "not modified":
            return Response(304, facts)
        applies = range_applies(request.headers.get("If-Range"), etag, modified)
        header = request.range if applies else None
        if self.multi_range and (spans := parse_ranges(header, size)):
            facts["Content-Type"] = multipart.CONTENT_TYPE
            return Response(206, facts, multipart.body(stored, spans), multipart.length(stored, spans))
        try:
            span = parse_range(header, size)
        except Unsatisfiable:
            ranges = {"RangeRequested": header, "ActualObjectSize": size}
            return refusal("InvalidRange", ranges, {"Content-Range": f"bytes */{size}"})
        if span is not None:
            facts["Content-Range"] = span.header(size)
        body = span or ByteSpan(0, size)
        if self.digests and request.method == "GET" and body.length <= MOST_DIGESTED_BYTES:
            facts["Content-Digest"] = _digest(stored, body)
        return Response(206 if span else 200, facts, stored.read(body), body.length)

    def _list(self, bucket: str, query: Mapping[str, str]) -> Response:
        if bucket and not self.store.is_folder(bucket):
            return refusal("NoSuchBucket", {"BucketName": bucket.rstrip("/")})
        try:
            ask = parse_list_request(query)
        except BadList as error:
            return refusal("InvalidArgument", {"ArgumentName": str(error)})
        page = list_page(self.store, bucket, ask)
        page.objects = [self.faults.version(self.store, stored) for stored in page.objects]
        return from_bytes(write_page(bucket, ask, page, query), "application/xml")

    def _page(self, path: str, key: str) -> Response:
        if not path.endswith("/"):
            return Response(301, {"Location": f"{path}/"})
        names = self.store.names(key.rstrip("/"))
        folders = [name for name, stored in names if stored is None]
        files = [(name, self.faults.version(self.store, stored)) for name, stored in names if stored is not None]
        rows = [(name, stored.modified, stored.size) for name, stored in files]
        return from_bytes(folder_page(f"/{key}", folders, rows[:MOST_PAGE_LINES]), "text/html;charset=UTF-8")


def _digest(stored: StoredObject, span: ByteSpan) -> str:
    """Content-Digest (RFC 9530): the digest of the body as sent, so for a range that of the range."""
    digest = hashlib.sha256()
    for chunk in stored.read(span):
        digest.update(chunk)
    return f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"
