"""From one GRIB file to the tiles of eight regions: gribmill and common alternatives."""
