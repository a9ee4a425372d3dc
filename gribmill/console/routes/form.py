"""Submitted forms."""

from __future__ import annotations

from urllib.parse import parse_qsl

from fastapi import Request

from gribmill.server.problems import HttpProblem

MOST_FIELDS = 5000


class Form:
    """The fields of a submitted form; a field may occur several times."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self.fields = fields

    def one(self, name: str, default: str = "") -> str:
        """The last value of a field, stripped."""
        return next((value.strip() for key, value in reversed(self.fields) if key == name), default)

    def several(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    def ids(self, name: str) -> list[int]:
        """The values of a field that are valid ids."""
        return [int(value) for value in self.several(name) if value.isdecimal() and len(value) < 19]

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.fields)


async def form_of(request: Request) -> Form:
    """Parse the form in the body; raises a problem 400 if it is invalid."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise HttpProblem(415, "the request must be a form: application/x-www-form-urlencoded")
    try:
        text = (await request.body()).decode("utf-8")
        return Form(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except (UnicodeDecodeError, ValueError):
        raise HttpProblem(400, "the form is not valid UTF-8, or has too many fields") from None
