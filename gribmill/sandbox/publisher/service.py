"""What each address answers: objects, lists of keys, pages of folders. Knows nothing of sockets."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from email.utils import format_datetime
from urllib.parse import parse_qsl, unquote, urlsplit

from gribmill.sandbox.publisher import multipart
from gribmill.sandbox.publisher.bucket_list import PARAMETERS, BadList, asked, page_of, write_page
from gribmill.sandbox.publisher.byte_range import ByteSpan, Unsatisfiable, parse_range, parse_ranges
from gribmill.sandbox.publisher.conditional_request import judge, range_holds
from gribmill.sandbox.publisher.fault import is_index
from gribmill.sandbox.publisher.faults import Faults, Trouble
from gribmill.sandbox.publisher.folder import Folder
from gribmill.sandbox.publisher.html_listing import folder_page
from gribmill.sandbox.publisher.object_bytes import Content
from gribmill.sandbox.publisher.response import Answer, of_bytes, refusal

# A checksum of more would be counted twice over a file that takes seconds to read.
MOST_DIGESTED_BYTES = 64_000_000
MOST_PARAMETERS = 20
MOST_PAGE_LINES = 20_000


class Service:
    """Answers for one folder. Threads may share it."""

    def __init__(self, folder: Folder, faults: Faults, *, digests: bool = True, multi_range: bool = False) -> None:
        self.folder, self.faults, self.digests, self.multi_range = folder, faults, digests, multi_range

    def answer(self, method: str, target: str, headers: Mapping[str, str]) -> tuple[str, Answer]:
        """The key that was meant, and the answer; HEAD is answered as GET is, but for the body."""
        if method not in ("GET", "HEAD"):
            return "", refusal("MethodNotAllowed", {"Method": method}, {"Allow": "GET, HEAD"})
        try:
            parts = urlsplit(target)
            key = unquote(parts.path, errors="strict").lstrip("/")
            query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS))
        except ValueError:
            return "", refusal("InvalidURI")
        bucket = key.rstrip("/")
        if PARAMETERS & query.keys() and "/" not in bucket:
            return key, self._list(f"{bucket}/" if bucket else "", query)
        stored = self.folder.find(key)
        if stored is not None:
            # Chosen before the request counts: an object is replaced behind the first that fetches it.
            content = self.faults.content(self.folder, stored)
            trouble = self.faults.trouble(key, method)
            return key, self._object(key, content, headers, trouble, digest=self.digests and method == "GET")
        if key in ("", "/") or self.folder.is_folder(key):
            return key, self._page(parts.path, key)
        return key, refusal("NoSuchKey", {"Key": key})

    def _object(
        self, key: str, content: Content, headers: Mapping[str, str], trouble: Trouble, *, digest: bool
    ) -> Answer:
        if trouble.status is not None:
            return refusal("NoSuchKey" if trouble.status == 404 else "InternalError", {"Key": key})
        etag, modified = content.etag(), content.modified
        facts = {
            "ETag": etag,
            "Last-Modified": format_datetime(modified, usegmt=True),
            "Accept-Ranges": "bytes",
            "Content-Type": "binary/octet-stream" if not is_index(key) else "text/plain",
        }
        verdict = judge(headers, etag, modified)
        if verdict == "precondition failed":
            return refusal("PreconditionFailed", {"Condition": "If-Match"})
        if verdict == "not modified":
            return Answer(304, facts)
        asked_for = headers.get("Range") if range_holds(headers.get("If-Range"), etag, modified) else None
        if self.multi_range and (spans := parse_ranges(asked_for, content.size)):
            facts["Content-Type"] = multipart.CONTENT_TYPE
            return Answer(206, facts, multipart.body(content, spans), multipart.length(content, spans), trouble)
        try:
            span = parse_range(asked_for, content.size)
        except Unsatisfiable:
            size = {"RangeRequested": asked_for, "ActualObjectSize": content.size}
            return refusal("InvalidRange", size, {"Content-Range": f"bytes */{content.size}"})
        if span is not None:
            facts["Content-Range"] = span.header(content.size)
        body = span or ByteSpan(0, content.size)
        if digest and body.length <= MOST_DIGESTED_BYTES:
            facts["Content-Digest"] = _digest(content, body)
        return Answer(206 if span else 200, facts, content.read(body), body.length, trouble)

    def _list(self, bucket: str, query: Mapping[str, str]) -> Answer:
        if bucket and not self.folder.is_folder(bucket):
            return refusal("NoSuchBucket", {"BucketName": bucket.rstrip("/")})
        try:
            ask = asked(query)
        except BadList as error:
            return refusal("InvalidArgument", {"ArgumentName": str(error)})
        page = page_of(self.folder, bucket, ask)
        contents = {stored.key: self.faults.content(self.folder, stored) for stored in page.objects}
        return of_bytes(write_page(bucket, ask, page, contents, query), "application/xml")

    def _page(self, path: str, key: str) -> Answer:
        if not path.endswith("/"):
            return Answer(301, {"Location": f"{path}/"})
        names = self.folder.names(key.rstrip("/"))
        folders = [name for name, stored in names if stored is None]
        files = [(name, self.faults.content(self.folder, stored)) for name, stored in names if stored is not None]
        rows = [(name, content.modified, content.size) for name, content in files]
        return of_bytes(folder_page(f"/{key}", folders, rows[:MOST_PAGE_LINES]), "text/html;charset=UTF-8")


def _digest(content: Content, span: ByteSpan) -> str:
    """RFC 9530, of the body as it is sent: of a range, that of the range."""
    digest = hashlib.sha256()
    for chunk in content.read(span):
        digest.update(chunk)
    return f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"
