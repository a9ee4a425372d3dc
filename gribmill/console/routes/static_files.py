"""Scripts, styles and images. Their URLs change with their content, so browsers may cache them."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from fastapi import Request
from starlette.responses import Response

from gribmill.console.render import STATIC
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/static", tag="console", in_docs=False)

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
KEEP = "public, max-age=31536000, immutable"
# For modules imported by other modules: their URLs contain no version, so browsers must revalidate them.
LOOK_AGAIN = "no-cache"


@router.get("/{name:path}")
async def console_static(request: Request, name: str) -> Response:
    """One file of the console."""
    found = _files().get(name)
    if found is None:
        raise HttpProblem(404, f"there is nothing at {request.url.path}")
    data, kind, tag = found
    headers = {"Cache-Control": KEEP if "v" in request.query_params else LOOK_AGAIN, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=kind, headers=headers)


@lru_cache(maxsize=1)
def _files() -> dict[str, tuple[bytes, str, str]]:
    """All files by name, read once, so that paths in requests never reach the disk."""
    found = {}
    for path in STATIC.rglob("*"):
        kind = TYPES.get(path.suffix)
        if kind is not None and path.is_file():
            data = path.read_bytes()
            tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
            found[path.relative_to(STATIC).as_posix()] = (data, kind, tag)
    return found
