"""ECMWF's own client reads from a mirror: `read_with_ecmwf_opendata.py ROOT DATE TIME STEP FOLDER single|many`."""

import json
import sys
from pathlib import Path

from ecmwf.opendata import Client

root, date, time, step, folder, ranges = sys.argv[1:]
# The client assumes this of its cloud sources, and detects it for others.
cloud = {"source_accept_ranges": True, "source_accept_multiple_ranges": False} if ranges == "single" else {}
client = Client(source=root.rstrip("/"), model="ifs", maximum_retries=2, retry_after=1, **cloud)
target = Path(folder) / "some.grib2"
result = client.retrieve(
    date=date, time=int(time), step=int(step), type="fc", stream="oper", param=["2t", "tp", "msl"], target=str(target)
)
levels = Path(folder) / "levels.grib2"
client.retrieve(
    date=date, time=int(time), step=int(step), type="fc", stream="oper", levtype="pl", levelist=[500, 850],
    param="t", target=str(levels),
)  # fmt: skip
whole = Path(folder) / "whole.grib2"
client.download(date=date, time=int(time), step=int(step), type="fc", stream="oper", target=str(whole))
print(
    json.dumps(
        {
            "run": str(result.datetime),
            "sizes": [path.stat().st_size for path in (target, levels, whole)],
        }
    )
)
