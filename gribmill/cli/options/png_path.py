"""Where a drawing goes: a PNG, and not named like another kind of picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

OTHER_KINDS = {".jpg", ".jpeg", ".svg", ".pdf", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".eps", ".ps"}


class PngPath(click.Path):
    """A file to write. A name that promises another kind of picture is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(value).suffix.lower() in OTHER_KINDS:
            self.fail(f"{str(value)!r} would be a PNG all the same: let the name end in .png", param, ctx)
        return super().convert(value, param, ctx)


PNG = PngPath(dir_okay=False, path_type=Path)
