"""Lists of a bucket as S3 and Google Cloud Storage give them: XML pages with a token for the next."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from gribmill.ingest.http.client import Session
from gribmill.ingest.http.errors import Untrusted
from gribmill.ingest.listing.s3_page import BucketObject, read_bucket_page
from gribmill.ingest.mirrors.host import Host

# 1,000 keys of some 400 bytes are a page.
PAGE_LIMIT_BYTES = 8_000_000
MOST_PAGES = 50


def list_bucket(root: str, prefix: str, host: Host, session: Session) -> list[BucketObject]:
    """All objects below a mirror's root whose keys (from the root on) begin with the prefix."""
    bucket, folder = split_root(root)
    found: list[BucketObject] = []
    place: tuple[str, str] | None = None
    seen: set[tuple[str, str]] = set()
    for _ in range(MOST_PAGES):
        query = {"list-type": "2", "prefix": folder + prefix} | (dict([place]) if place else {})
        url = f"{bucket}?{urlencode(query, quote_via=quote, safe='/')}"
        page = read_bucket_page(session.get(url, host, limit_bytes=PAGE_LIMIT_BYTES).data, url)
        found.extend(one.below(folder) for one in page.objects if one.key.startswith(folder + prefix))
        place = page.next_place()
        if place is None:
            return found
        if place in seen:
            raise Untrusted(url, "the list goes round in circles: its next page was read before")
        seen.add(place)
    raise Untrusted(bucket, f"the list of {prefix!r} has more than {MOST_PAGES} pages")


def split_root(root: str) -> tuple[str, str]:
    """The bucket's address and the folder in it. Its name is in the host's name (S3), or comes first in the path."""
    parts = urlsplit(root)
    path = parts.path.strip("/")
    named_by_host = ".s3." in parts.netloc or ".s3-" in parts.netloc
    bucket, _, folder = ("", "", path) if named_by_host else path.partition("/")
    address = f"{parts.scheme}://{parts.netloc}/" + (f"{bucket}/" if bucket else "")
    return address, f"{folder}/" if folder else ""
