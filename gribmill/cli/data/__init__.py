"""Commands that read and write data: GRIB files, tiles, point forecasts, regions."""

__all__: list[str] = []
