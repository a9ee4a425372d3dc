"""A downloaded file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.ingest.download.download_plan import Downloaded


class DownloadView(View):
    """The messages fetched from one file, the bytes and requests this took, and the variables they contain."""

    model: str
    run: str
    hour: int
    path: str
    mirror: str
    url: str
    way: str
    messages: int
    needed_bytes: int
    requested_bytes: int
    source_bytes: int | None
    requests: int
    sha256: str
    found: tuple[str, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, model: str, run: str, hour: int, got: Downloaded) -> Self:
        return cls(
            model=model,
            run=run,
            hour=hour,
            path=str(got.path),
            mirror=got.mirror,
            url=got.url,
            way=got.way,
            messages=len(got.messages),
            needed_bytes=got.bytes,
            requested_bytes=got.requested_bytes,
            source_bytes=got.source_size,
            requests=got.requests,
            sha256=got.sha256,
            found=got.found,
            missing=got.missing,
        )
