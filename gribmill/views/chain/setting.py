"""Settings and their origins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic_core import to_jsonable_python

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.settings.load import Origin


class SettingView(View):
    """One effective setting: its dotted key, its value, and the file, variable or option that it came from."""

    key: str
    value: Any
    source: str
    description: str

    @classmethod
    def of(cls, origin: Origin) -> Self:
        return cls(
            key=origin.key,
            value=to_jsonable_python(origin.value),
            source=origin.source,
            description=origin.description,
        )
