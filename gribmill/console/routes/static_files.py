"""Scripts, styles and images. Their URLs change with their content, so browsers may cache them."""

from __future__ import annotations

from functools import lru_cache

from fastapi import Request
from starlette.responses import Response

from gribmill.console.render import STATIC, version_of
from gribmill.server.etag import has_current
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/static", tag="console", in_docs=False)

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
KEEP = "public, max-age=31536000, immutable"
# For modules imported by other modules, whose URLs contain no version, and for a version that another server has
# during an upgrade: browsers must revalidate them.
LOOK_AGAIN = "no-cache"


@router.get("/{name:path}")
async def console_static(request: Request, name: str) -> Response:
    """One file of the console."""
    found = _files().get(name)
    if found is None:
        raise HttpProblem(404, f"there is nothing at {request.url.path}")
    data, kind, version = found
    tag, keeps = f'"{version}"', request.query_params.get("v") == version
    headers = {"Cache-Control": KEEP if keeps else LOOK_AGAIN, "ETag": tag}
    if has_current(request.headers, tag):
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
            found[path.relative_to(STATIC).as_posix()] = (data, kind, version_of(data))
    return found
