"""ECMWF's own client reads from a mirror: `read_with_ecmwf_opendata.py ROOT DATE TIME STEP FOLDER`."""

import json
import sys
from pathlib import Path

from ecmwf.opendata import Client

root, date, time, step, folder = sys.argv[1:]
client = Client(source=root.rstrip("/"), model="ifs", maximum_retries=2, retry_after=1)
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
            "some": target.read_bytes().count(b"7777"),
            "levels": levels.stat().st_size,
            "sizes": [target.stat().st_size, whole.stat().st_size],
        }
    )
)
