"""From one GRIB file to the tiles of eight regions: gribmill and the ways people use otherwise."""
