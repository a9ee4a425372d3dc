"""XML pages of a bucket's keys: both versions of S3's LIST, which Google's XML API shares."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote
from xml.sax.saxutils import escape

from gribmill.sandbox.publisher.stored_object import ObjectStore, StoredObject

MOST_KEYS = 1000
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# A request with any of these is a LIST; without them the URL of a folder gives an HTML page.
PARAMETERS = frozenset({
    "list-type", "prefix", "delimiter", "marker", "start-after", "continuation-token", "max-keys", "encoding-type",
})  # fmt: skip


class BadList(Exception):
    """An invalid parameter; the text is its name."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The parameters of a LIST. Only keys after `after` are listed."""

    version: int
    prefix: str
    delimiter: str
    after: str
    most: int
    url_encoded: bool


@dataclass(slots=True)
class ListPage:
    """One page: objects, and common prefixes if a delimiter was given."""

    objects: list[StoredObject]
    folders: list[str]
    last: str = ""
    truncated: bool = False


def parse_list_request(query: Mapping[str, str]) -> ListRequest:
    """The parameters, checked."""
    version = 2 if query.get("list-type") == "2" else 1
    token = query.get("continuation-token")
    if token is not None and version == 2:
        after = _from_token(token)
    else:
        after = query.get("start-after", "") if version == 2 else query.get("marker", "")
    most = query.get("max-keys") or str(MOST_KEYS)
    if not (most.isascii() and most.isdigit() and len(most) < 10):
        raise BadList("max-keys")
    if query.get("encoding-type", "url") != "url":
        raise BadList("encoding-type")
    return ListRequest(
        version,
        query.get("prefix", ""),
        query.get("delimiter", ""),
        after,
        min(int(most), MOST_KEYS),
        "encoding-type" in query,
    )


def list_page(store: ObjectStore, bucket: str, ask: ListRequest) -> ListPage:
    """The next keys of the bucket (its name with a slash; empty for the whole store)."""
    page = ListPage([], [])
    for stored in store.walk(bucket + ask.prefix):
        key = stored.key.removeprefix(bucket)
        rest = key[len(ask.prefix) :]
        group = ""
        if ask.delimiter and ask.delimiter in rest:
            group = ask.prefix + rest.partition(ask.delimiter)[0] + ask.delimiter
        name = group or key
        if name.encode() <= ask.after.encode() or (group and page.folders[-1:] == [group]):
            continue
        if len(page.objects) + len(page.folders) >= ask.most:
            page.truncated = ask.most > 0
            break
        page.last = name
        if group:
            page.folders.append(group)
        else:
            page.objects.append(stored)
    return page


def write_page(bucket: str, ask: ListRequest, page: ListPage, query: Mapping[str, str]) -> bytes:
    """The page as XML."""

    def text(name: str, value: object, *, key: bool = False) -> str:
        words = quote(str(value), safe="/") if key and ask.url_encoded else str(value)
        return f"<{name}>{escape(words)}</{name}>"

    parts = [text("Name", bucket.rstrip("/")), text("Prefix", ask.prefix, key=True)]
    if ask.version == 2:
        parts.append(text("KeyCount", len(page.objects) + len(page.folders)))
        parts += [text("ContinuationToken", query["continuation-token"])] if "continuation-token" in query else []
        parts += [text("StartAfter", query["start-after"], key=True)] if "start-after" in query else []
        parts += [text("NextContinuationToken", _token(page.last))] if page.truncated else []
    else:
        parts.append(text("Marker", ask.after, key=True))
        parts += [text("NextMarker", page.last, key=True)] if page.truncated else []
    parts.append(text("MaxKeys", ask.most))
    parts += [text("Delimiter", ask.delimiter, key=True)] if ask.delimiter else []
    parts += [text("EncodingType", "url")] if ask.url_encoded else []
    parts.append(text("IsTruncated", str(page.truncated).lower()))
    for stored in page.objects:
        parts.append(
            "<Contents>"
            + text("Key", stored.key.removeprefix(bucket), key=True)
            + text("LastModified", f"{stored.modified:%Y-%m-%dT%H:%M:%S}.000Z")
            + text("ETag", stored.etag)
            + text("Size", stored.size)
            + text("StorageClass", "STANDARD")
            + "</Contents>"
        )
    parts += [f"<CommonPrefixes>{text('Prefix', name, key=True)}</CommonPrefixes>" for name in page.folders]
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="{NAMESPACE}">'
    return f"{head}{''.join(parts)}</ListBucketResult>".encode()


def _token(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode()


def _from_token(token: str) -> str:
    try:
        return base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise BadList("continuation-token") from None
