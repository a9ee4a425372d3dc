"""Sizes as options: `500MB`, `20GB`."""

from __future__ import annotations

import re

import click

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class SizeType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A number of bytes, in powers of 1000."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"([0-9]{1,15})(\.[0-9]{1,6})? ?([kKMGT]?B?)", str(value).strip())
        unit = UNITS.get(found[3].upper()) if found else None
        if found is None or unit is None:
            self.fail(
                f"{str(value)[:40]!r} is not a size: use a number of bytes, or one with kB, MB, GB or TB", param, ctx
            )
        return round(float(found[1] + (found[2] or "")) * unit)


SIZE = SizeType()
