"""The root of every error that gribmill raises for a person to read, and how input is quoted in one."""

from __future__ import annotations

# The longest sentence that is printed, and the longest value that is quoted in one.
SENTENCE_LIMIT = 2000
QUOTE_LIMIT = 80
# Control characters, and those that change the direction of text, could control or deceive the reader's terminal.
_CONTROL = [*range(32), *range(127, 160), *range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CONTROL if code != ord("\n")}


class GribmillError(Exception):
    """A sentence for a person: what was wrong, where, and what to do. Exits with code 1."""


def printable(text: str) -> str:
    """The text with control characters made visible; line ends stay."""
    return text.translate(_VISIBLE)


def control_character(text: str) -> str | None:
    """The first control character of a text, as it is shown; None without one. Tabs and line ends are allowed."""
    return next((_VISIBLE[ord(one)] for one in text if ord(one) in _VISIBLE and one not in "\t\r"), None)


def shortened(text: str, limit: int = SENTENCE_LIMIT) -> str:
    """The text, or its beginning and its end if it is longer than the limit: input of any size can be quoted in it."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]} … ({len(text) - limit} characters are left out) … {text[-tail:]}"


def sentence(text: str) -> str:
    """An error as it is printed: of limited length, and without control characters."""
    return printable(shortened(text))


def quoted(value: object, limit: int = QUOTE_LIMIT) -> str:
    """The value as Python writes it, if that is short; of a long one the beginning."""
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to write very long numbers
        return f"a number of {value.bit_length()} bits"
    text = repr(value[: limit + 1]) if isinstance(value, str | bytes) else _repr(value)
    return text if len(text) <= limit + 2 else f"{text[:limit]}…"


def _repr(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # a very long number, or a deeply nested list
        return f"a {type(value).__name__} that cannot be shown"
