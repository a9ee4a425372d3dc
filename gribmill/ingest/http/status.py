"""What the status of an answer means on a host."""

from __future__ import annotations

from datetime import UTC, datetime

import requests

from gribmill.ingest.http.errors import Broken, Changed, NotThere, PastEnd, RateLimited
from gribmill.ingest.http.object_head import USUAL_RETRY_SECONDS, retry_after, unsatisfied_size
from gribmill.ingest.mirrors.host import Host

# 403: where a bucket does not let us list it, and on NOMADS, a missing file is forbidden rather than not found.
MISSING = (403, 404, 410)
ERROR_LIMIT_BYTES = 4096
LONGEST_PHRASE = 80


def check_status(answer: requests.Response, url: str, host: Host) -> None:
    """Returns for 200 and 206; any other status is raised as its outcome."""
    status = answer.status_code
    if status in (200, 206):
        return
    asked = retry_after(answer.headers, datetime.now(UTC))
    if status == 429 or (status == 503 and (asked is not None or b"SlowDown" in _words(answer))):
        pause = USUAL_RETRY_SECONDS if asked is None else asked
        raise RateLimited(url, f"asks to slow down (status {status}), for {pause:.0f} s", pause)
    if status in host.retry_statuses:
        raise Broken(url, f"answered {status}, which {host.title} does when it has enough of us", status)
    if status in MISSING:
        raise NotThere(url, f"is not there (status {status}): not published yet, or no longer kept")
    if status == 412:
        raise Changed(url, "the object was replaced while it was read (status 412)")
    if status == 416:
        size = unsatisfied_size(answer.headers)
        if size == 0:
            raise NotThere(url, "is empty so far (status 416)")
        raise PastEnd(url, f"ends before the bytes that were asked for (status 416, size {size or 'unknown'})")
    raise Broken(url, f"answered {status} {(answer.reason or '')[:LONGEST_PHRASE]}".rstrip(), status)


def _words(answer: requests.Response) -> bytes:
    """The beginning of an error's text."""
    try:
        return answer.raw.read1(ERROR_LIMIT_BYTES, decode_content=False) or b""
    except Exception:  # noqa: BLE001 - the status is what counts, its text is a nicety
        return b""
