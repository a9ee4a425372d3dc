"""How many bytes a file's wanted messages have, by its index alone."""

from __future__ import annotations

from datetime import datetime

from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import select
from gribmill.ingest.index.wanted import wanted
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context

INDEX_LIMIT_BYTES = 20_000_000


def bytes_of_file(
    context: Context, model: Model, run: datetime, hour: int, variables: tuple[str, ...] = ()
) -> int | None:
    """From the first mirror that answers; None when none does, or when the source has no index."""
    for source in model.urls(run, hour):
        if source.index_url is None:
            continue
        try:
            size = context.session.head(source.grib_url, source.mirror.host).size
            body = context.session.get(source.index_url, source.mirror.host, limit_bytes=INDEX_LIMIT_BYTES)
            inventory = parse_index(source.index_kind, body.data, source.index_url, run, size)
            chosen = select(
                inventory,
                wanted(variables or model.variables),
                hour,
                extras=model.extras,
                offset_minutes=model.offset_minutes,
            )
        except IngestError:
            continue
        return sum((end if end is not None else size or start) - start for start, end in chosen.ranges)
    return None
