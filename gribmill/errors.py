"""The base class of gribmill's errors, and functions that quote input in their messages."""

from __future__ import annotations

# Maximum length of a printed message, and of a value quoted in one.
SENTENCE_LIMIT = 2000
QUOTE_LIMIT = 80
# Control characters and characters that change the text direction could manipulate the reader's terminal.
_CONTROL = [*range(32), *range(127, 160), *range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CONTROL if code != ord("\n")}


class GribmillError(Exception):
    """An error with a message for people: what is wrong, where, and what to do. The exit code is 1."""


def printable(text: str) -> str:
    """The text with control characters made visible; line ends are kept."""
    return text.translate(_VISIBLE)


def control_character(text: str) -> str | None:
    """The first control character of a text, in visible form; None if there is none. Tabs and line ends are allowed."""
    return next((_VISIBLE[ord(one)] for one in text if ord(one) in _VISIBLE and one not in "\t\r"), None)


def shortened(text: str, limit: int = SENTENCE_LIMIT) -> str:
    """The text, or its beginning and end if it is longer than the limit, because it may quote input of any size."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]} … ({len(text) - limit} characters are left out) … {text[-tail:]}"


def sentence(text: str) -> str:
    """An error message for printing: with limited length, and without control characters."""
    return printable(shortened(text))


def quoted(value: object, limit: int = QUOTE_LIMIT) -> str:
    """The `repr` of a value, or its beginning if it is long."""
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to write very long numbers
        return f"a number of {value.bit_length()} bits"
    text = repr(value[: limit + 1]) if isinstance(value, str | bytes) else _repr(value)
    return text if len(text) <= limit + 2 else f"{text[:limit]}…"


def _repr(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # a very long number, or a deeply nested list
        return f"a {type(value).__name__} that cannot be shown"
