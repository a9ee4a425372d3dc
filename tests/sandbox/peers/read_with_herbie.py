"""Herbie reads an HRRR hour from a mirror: `read_with_herbie.py ROOT DATE HOUR FOLDER`."""

import json
import sys
from typing import Any

import herbie.models

root, date, hour, folder = sys.argv[1:]
original = herbie.models.hrrr.template


def template(self: Any) -> None:
    """Herbie's own template with one source, the bucket at the mirror."""
    original(self)
    self.SOURCES = {"aws": self.SOURCES["aws"].replace("https://noaa-hrrr-bdp-pds.s3.amazonaws.com/", root)}


herbie.models.hrrr.template = template

from herbie import Herbie  # noqa: E402

hour_file = Herbie(date, model="hrrr", product="sfc", fxx=int(hour), save_dir=folder, verbose=False)
inventory = hour_file.inventory()
wind = hour_file.xarray(r":[UV]GRD:10 m above ground", remove_grib=False)
temperature = hour_file.xarray(r":TMP:2 m above ground", remove_grib=False)
print(
    json.dumps(
        {
            "lines": len(inventory),
            "rain": inventory[inventory.variable == "APCP"].forecast_time.tolist(),
            "mean_t2m": float(temperature.t2m.mean()),
            "shape": list(temperature.t2m.shape),
            "wind": sorted(str(name) for name in wind.data_vars if str(name) in ("u10", "v10")),
            "valid": str(temperature.valid_time.values),
        }
    )
)
