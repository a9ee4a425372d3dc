"""A callback for options and arguments whose text is parsed elsewhere: an impossible value is a usage error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gribmill.errors import GribmillError


def accepted_by(parse: Callable[[str], object]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Refuse values that `parse` refuses, with exit code 2; the value itself stays as it is."""

    def check(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        for text in value if isinstance(value, tuple) else [value]:
            if text is None:
                continue
            try:
                parse(text)
            except GribmillError as error:
                raise click.BadParameter(str(error), ctx, param) from None
        return value

    return check
