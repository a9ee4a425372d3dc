"""A process that downloads one hour, to be killed: python -m tests.ingest.download.downloader URL TARGET."""

from __future__ import annotations

import sys
from pathlib import Path

from gribmill.ingest.download.download import download
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import wanted
from tests.ingest.conftest import hrrr_at
from tests.ingest.server import Publisher
from tests.ingest.small_grib import RUN, WANTED

if __name__ == "__main__":
    with SourceSession() as session:
        download(hrrr_at(Publisher(sys.argv[1])), RUN, 1, wanted(WANTED), Path(sys.argv[2]), session=session)
