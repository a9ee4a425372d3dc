"""Protection against cross-site requests."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request

from gribmill.server.problems import HttpProblem

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def refuse_cross_site(request: Request, *, by_cookie: bool = False) -> None:
    """Refuse a write by a browser that does not come from this server's pages.

    Browsers send Sec-Fetch-Site, old ones at least Origin. With `by_cookie`, one of the two is required, because only
    browsers send cookies. Bearer tokens are safe: browsers never attach them automatically.
    """
    if request.method in SAFE_METHODS or "authorization" in request.headers:
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        if site != "same-origin" and not (site == "none" and not by_cookie):
            raise HttpProblem(403, "this request comes from a page of another site")
        return
    if origin is None:
        if by_cookie:
            raise HttpProblem(403, "changes in a session need the header Sec-Fetch-Site or Origin")
        return
    if urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower():
        raise HttpProblem(403, "this request comes from a page of another site")
