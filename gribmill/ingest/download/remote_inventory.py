"""Lists the contents of a published file from its index, without downloading the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from gribmill.grib.names.lexicon import lexicon, unique_names
from gribmill.grib.names.time_range import parse_time_range
from gribmill.identity import run_id
from gribmill.ingest.download.download_plan import Limits
from gribmill.ingest.download.errors import MirrorFailure, NothingWanted, download_failure
from gribmill.ingest.errors import BadIndex, SourceError, Untrusted
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.entry import IndexEntry
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.search import line_text, searchable
from gribmill.ingest.mirror import IndexKind, SourceUrls
from gribmill.ingest.models.model import Model


@dataclass(frozen=True, slots=True)
class RemoteField:
    """One field of a published file: its `name` in the lexicon, if any, and its bytes, `start` to before `end`.

    `line` is the text that searches are matched against. `end` is None if neither index nor host states it.
    """

    number: str
    name: str | None
    element: str
    level: str
    time: str
    extra: str
    start: int
    end: int | None
    line: str


@dataclass(frozen=True, slots=True)
class RemoteInventory:
    """The fields of one published file, in order."""

    model: str
    run: str
    hour: int
    mirror: str
    url: str
    index_url: str
    fields: tuple[RemoteField, ...]

    def __iter__(self) -> Iterator[RemoteField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def matching(self, pattern: re.Pattern[str]) -> RemoteInventory:
        """Only the fields whose line contains a match of the regular expression."""
        return replace(self, fields=tuple(one for one in self.fields if pattern.search(one.line)))

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one row per field."""
        import pandas as pd

        frame = pd.DataFrame([asdict(one) for one in self.fields], columns=list(RemoteField.__dataclass_fields__))
        frame.attrs = {"model": self.model, "run": self.run, "hour": self.hour, "url": self.url}
        return frame


def remote_inventory(model: Model, run: datetime, hour: int, *, session: SourceSession) -> RemoteInventory:
    """The inventory of that hour, from the first mirror with a correct index. Raises DownloadFailed otherwise."""
    failures: list[MirrorFailure] = []
    for source in model.urls(run, hour):
        try:
            return _from_mirror(model, run, hour, source, session)
        except (SourceError, BadIndex, NothingWanted) as error:
            failures.append(MirrorFailure(source.mirror.name, error))
    raise download_failure(f"{model.id} {run_id(run)} hour {hour}", failures, ())


def _from_mirror(model: Model, run: datetime, hour: int, source: SourceUrls, session: SourceSession) -> RemoteInventory:
    if source.index_url is None:
        raise NothingWanted(f"{source.grib_url}: it has no index; fetch the file, and list it with `gribmill grib ls`")
    data = session.get(source.index_url, source.mirror.host, limit_bytes=Limits().index_bytes).data
    if data.lstrip()[:1] == b"<":
        raise Untrusted(source.index_url, "the response is a web page or an error message, not the index")
    size = session.head(source.grib_url, source.mirror.host).size
    inventory = parse_index(source.index_kind, data, source.index_url, run, size)
    entries = searchable(inventory, model.extras)
    fields = tuple(
        RemoteField(
            f"{entry.number}.{entry.sub}" if entry.sub else f"{entry.number}",
            name,
            entry.element,
            entry.level,
            entry.window,
            entry.extra,
            entry.offset,
            entry.end,
            line_text(inventory.kind, entry),
        )
        for entry, name in zip(entries, _names(inventory.kind, entries), strict=True)
    )
    return RemoteInventory(model.id, run_id(run), hour, source.mirror.name, source.grib_url, source.index_url, fields)


def _names(kind: IndexKind, entries: Sequence[IndexEntry]) -> list[str | None]:
    """The lexicon's name of each entry; None if it has none, or if a better entry has the name."""
    matches, minutes = [], []
    for entry in entries:
        if kind == "noaa_idx":
            when = parse_time_range(entry.window)
            minutes.append(when.end - when.start if when else 0)
            matches.append(lexicon().match_noaa(entry.element, entry.level, entry.window, entry.extra))
        else:
            levtype, _, level = entry.level.partition(" ")
            minutes.append(0)
            matches.append(lexicon().match_ecmwf(entry.element, levtype, level or None))
    return unique_names(matches, minutes)
