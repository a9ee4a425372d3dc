"""Commands that jobs run, and the job types of definitions with a command.

A command is a fixed list of arguments with placeholders, and never a shell. A JSON Schema describes its payload.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gribmill.errors import quoted
from gribmill.queue.errors import BadArguments, BadDefinition
from gribmill.queue.job_type import ARGS_LIMIT_BYTES, COMMAND_LANE, JobType, check_size
from gribmill.queue.json_schema import first_problem

if TYPE_CHECKING:
    from gribmill.queue.arguments import Args

OWN_PROGRAM = "gribmill"
MOST_ARGUMENTS = 200
ARGUMENT_LIMIT_BYTES = 32_000
_PLACE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COMMAND_ARGS = "gribmill.queue.arguments:CommandArgs"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """What a job runs. Each argument is a literal string, or one placeholder such as `{{name}}`."""

    argv: tuple[str, ...]
    environment: tuple[str, ...] = ()
    """Environment variables of the worker that are passed to the command, besides PATH, HOME and LANG."""
    options: tuple[str, ...] = ()
    """Placeholders whose value may begin with `-`, so that it could be read as an option."""

    @classmethod
    def of(cls, value: Any) -> CommandSpec:
        """Validate a stored command; raises BadDefinition."""
        if not isinstance(value, Mapping) or value.keys() - {"argv", "environment", "options"}:
            raise BadDefinition("a command must be an object with argv, environment and options")
        parts = {name: value.get(name, ()) for name in ("argv", "environment", "options")}
        for name, words in parts.items():
            if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
                raise BadDefinition(f"{name} of a command must be a list of strings")
        spec = cls(**{name: tuple(words) for name, words in parts.items()})
        spec.check()
        return spec

    def as_json(self) -> dict[str, Any]:
        return {"argv": list(self.argv), "environment": list(self.environment), "options": list(self.options)}

    @property
    def program(self) -> str:
        return self.argv[0]

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the placeholders."""
        return tuple(place[1] for word in self.argv if (place := _PLACE.fullmatch(word)))

    def check(self) -> None:
        """Raise BadDefinition if no payload could make it run."""
        if not 0 < len(self.argv) <= MOST_ARGUMENTS:
            raise BadDefinition(f"a command must have 1 to {MOST_ARGUMENTS} arguments")
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", self.program):
            raise BadDefinition(f"{quoted(self.program)} is not a program's name; use gribmill, or one of [commands]")
        for word in self.argv:
            if "\0" in word or len(word.encode("utf-8", "replace")) > ARGUMENT_LIMIT_BYTES:
                raise BadDefinition("an argument must not contain NUL and may have at most 32 kB")
            if "{{" in word and not _PLACE.fullmatch(word):
                raise BadDefinition(f"{quoted(word)}: a placeholder fills a whole argument, as in {{{{name}}}}")
        if strange := sorted(set(self.options) - set(self.places)):
            raise BadDefinition(f"{quoted(strange[0])} is not a placeholder of the command")
        for name in self.environment:
            if not _VARIABLE.fullmatch(name):
                raise BadDefinition(f"{quoted(name)} is not the name of an environment variable")

    def fill(self, payload: Mapping[str, Any]) -> list[str]:
        """Fill in the payload's values; the program comes first. Raises BadArguments."""
        return [self._filled(place[1], payload) if (place := _PLACE.fullmatch(word)) else word for word in self.argv]

    def _filled(self, name: str, payload: Mapping[str, Any]) -> str:
        value = payload.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise BadArguments(f"{name}: expected a text or a number for the command's argument {{{{{name}}}}}")
        text = str(value)
        if "\0" in text or len(text.encode("utf-8", "replace")) > ARGUMENT_LIMIT_BYTES:
            raise BadArguments(f"{name}: a command's argument must not contain NUL and may have at most 32 kB")
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise BadArguments(f"{name}: contains an unpaired surrogate") from None
        if text.startswith("-") and name not in self.options:
            raise BadArguments(f"{name}: {quoted(text)} begins with '-' and could be read as an option")
        return text


def check_program(program: str, allowed: Mapping[str, str]) -> None:
    """Raise BadDefinition unless the program is gribmill or is allowed by the settings."""
    if program != OWN_PROGRAM and program not in allowed:
        known = ", ".join(sorted({OWN_PROGRAM, *allowed}))
        raise BadDefinition(
            f"the program {quoted(program)} is not allowed; add it to [commands] allow in gribmill.toml."
            f" Allowed now: {known}"
        )


def schema_of(places: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema that requires a string or a number for each placeholder, and nothing else."""
    return {
        "type": "object",
        "properties": {name: {"type": ["string", "number"]} for name in places},
        "required": list(dict.fromkeys(places)),
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class CommandType(JobType):
    """A job type that an operator added."""

    command: CommandSpec = field(default_factory=lambda: CommandSpec(("gribmill",)))
    schema_text: str = "{}"

    @property
    def argument_names(self) -> Sequence[str] | None:
        schema = self.schema()
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        return list(schema.get("properties", {})) if closed else None

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.schema_text)
        return found

    def check(self, args: Mapping[str, Any] | str) -> Args:
        """Raise BadArguments unless the payload matches the schema and fills the command."""
        payload = self._read(args) if isinstance(args, str) else dict(args)
        text = check_size(self.key, payload)
        if problem := first_problem(self.schema_text, json.loads(text)):
            raise BadArguments(f"{self.key}: {problem}")
        try:
            self.command.fill(payload)
        except BadArguments as error:
            raise BadArguments(f"{self.key}: {error}") from None
        return self.model.model_construct(**payload)

    def encode(self, args: Mapping[str, Any]) -> tuple[str, Args]:
        model = self.check(args)
        return check_size(self.key, args), model

    def check_partly(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        required = self.schema().get("required", [])
        missing = tuple(name for name in required if name not in args) if isinstance(required, list) else ()
        payload = json.loads(check_size(self.key, args))
        if not missing:
            self.check(args)
        elif problem := first_problem(self.schema_text, payload, partly=True):
            raise BadArguments(f"{self.key}: {problem}")
        return missing

    def _read(self, text: str) -> dict[str, Any]:
        try:
            payload = json.loads(text) if len(text) <= ARGS_LIMIT_BYTES else None
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            raise BadArguments(f"{self.key}: arguments are a JSON object of at most {ARGS_LIMIT_BYTES} bytes")
        return payload


def make_command_type(key: str, handler: str | None, command: Any, schema_text: str, **tuned: Any) -> CommandType:
    """Build the job type of a stored definition; raises BadDefinition if its command cannot be run."""
    spec = CommandSpec.of(command)
    usual: dict[str, Any] = {"description": "", "lane": COMMAND_LANE}
    return CommandType(
        key=key, args=COMMAND_ARGS, handler=handler, command=spec, schema_text=schema_text, **{**usual, **tuned}
    )
