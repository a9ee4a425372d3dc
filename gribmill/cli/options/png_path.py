"""The path of a PNG file to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

OTHER_FORMATS = {".jpg", ".jpeg", ".svg", ".pdf", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".eps", ".ps"}


class PngPath(click.Path):
    """A file to write. Suffixes of other image formats are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(value).suffix.lower() in OTHER_FORMATS:
            self.fail(f"{str(value)!r} would be a PNG file; end the name in .png", param, ctx)
        return super().convert(value, param, ctx)


PNG = PngPath(dir_okay=False, path_type=Path)
