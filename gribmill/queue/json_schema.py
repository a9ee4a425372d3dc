"""JSON Schemas of payloads: storing them, and checking payloads in bounded time.

A schema may reach the same rule along exponentially many references, and a payload may be as hostile as its tenant. So
patterns run in an engine without backtracking, and a check that uses too much CPU time is given up.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gribmill.errors import quoted
from gribmill.queue.errors import BadDefinition
from gribmill.queue.job_type import canonical_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from pydantic_core import SchemaValidator

SCHEMA_LIMIT_BYTES = 64_000
# CPU time. Ordinary checks take less than a thousandth of the first; a schema of 64 kB, a quarter of the second.
CHECK_SECONDS = 0.2
STORE_SECONDS = 1.0
LONGEST_PATTERN = 500
LONGEST_MATCHED = 4_000
# A pattern is matched in time proportional to its size with all repetitions written out.
MOST_REPETITIONS = 5_000
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# jsonschema evaluates these with Python's own patterns, and in quadratic time.
UNSUPPORTED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
FORMATS = ("date", "email", "ipv4", "ipv6", "time", "uuid")
_REPETITION = re.compile(r"(.)\{\s*(\d*)\s*,?\s*(\d*)\s*\}", re.DOTALL)

Check = Callable[[Any, Any, Any, Any], Any]


class SchemaUnusable(ValueError):
    """The schema cannot be applied, or not in the time allowed; the message says why."""


class _Allowance(threading.local):
    ends: float = 0.0


_allowance = _Allowance()


def check_schema(schema: Mapping[str, Any]) -> str:
    """Validate a JSON Schema and return it as text; raises BadDefinition."""
    from jsonschema import Draft202012Validator

    try:
        text = canonical_json(dict(schema))
        if len(text) > SCHEMA_LIMIT_BYTES:
            raise BadDefinition(f"the JSON Schema is larger than {SCHEMA_LIMIT_BYTES} bytes")
        _refuse_unsupported(json.loads(text))
        problem = _first(_validator(canonical_json(Draft202012Validator.META_SCHEMA)), schema, STORE_SECONDS)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadDefinition(f"not a JSON Schema: {error}") from None
    if problem:
        place = ".".join(map(str, problem.absolute_path)) or "the schema"
        raise BadDefinition(f"not a JSON Schema: {place}: {problem.message[:200]}")
    return text


def first_problem(schema_text: str, payload: Mapping[str, Any], *, partly: bool = False) -> str | None:
    """Why the payload does not match the schema, or None if it does. With `partly`, keys may be missing."""
    from referencing.exceptions import Unresolvable

    try:
        problem = _first(_validator(schema_text), payload, CHECK_SECONDS, partly=partly)
    # The others come from references to things that are not schemas, invalid addresses, and numbers beyond a float.
    except (Unresolvable, RecursionError, ValueError, OverflowError, AttributeError, TypeError) as error:
        return f"the JSON Schema of this type cannot be used: {error}"
    if problem is None:
        return None
    place = ".".join(map(str, problem.absolute_path))
    return f"{place}: {problem.message[:300]}" if place else problem.message[:300]


def _first(validator: Validator, value: Any, seconds: float, *, partly: bool = False) -> ValidationError | None:
    _allowance.ends = time.thread_time() + seconds
    return next((one for one in validator.iter_errors(value) if not (partly and _is_missing(one))), None)


def _is_missing(problem: ValidationError) -> bool:
    """Whether a key of the payload is missing, or an alternative cannot be chosen because one is."""
    if problem.validator in ("anyOf", "oneOf"):
        return any(_is_missing(one) for one in problem.context or ())
    return problem.validator == "required" and not problem.absolute_path


@lru_cache(maxsize=100)
def _validator(schema_text: str) -> Validator:
    """References to other documents are not resolved."""
    from jsonschema import FormatChecker
    from referencing import Registry

    formats = FormatChecker(FORMATS)
    # jsonschema checks the first only if an optional package is installed, and the second with Python's own patterns.
    formats.checkers = {
        **formats.checkers,
        "date-time": (_is_date_time, ValueError),
        "regex": (_is_pattern, ValueError),
    }
    made: Validator = _validator_class()(json.loads(schema_text), registry=Registry(), format_checker=formats)
    return made


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    """Imports jsonschema on first use: most processes run no commands."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    own: dict[str, Check] = {
        "additionalProperties": _additional_properties,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
        **dict.fromkeys(UNSUPPORTED, _unsupported),
    }
    checks = {name: _in_time(check) for name, check in {**Draft202012Validator.VALIDATORS, **own}.items()}
    made: Any = extend(Draft202012Validator, checks)  # type: ignore[no-untyped-call]
    evolve = made.evolve

    def evolved(self: Any, **changes: Any) -> Any:
        # Where a schema names its dialect, jsonschema would continue with its own class for that dialect.
        schema = changes.get("schema", self.schema)
        if isinstance(schema, dict) and "$schema" in schema:
            changes["schema"] = {key: value for key, value in schema.items() if key != "$schema"}
        return evolve(self, **changes)

    made.evolve = evolved
    return made


def _in_time(check: Check) -> Check:
    def limited(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
        if time.thread_time() > _allowance.ends:
            raise SchemaUnusable("the check takes too long")
        return check(validator, wanted, instance, schema)

    return limited


def _unsupported(_validator: Any, _wanted: Any, _instance: Any, _schema: Any) -> None:
    raise SchemaUnusable(f"{' and '.join(sorted(UNSUPPORTED))} are not supported")


def _refuse_unsupported(schema: Any) -> None:
    """Raise SchemaUnusable for another dialect, and for keywords and patterns that cannot be checked."""
    if isinstance(schema, dict) and schema.get("$schema", DIALECT) not in (DIALECT, f"{DIALECT}#"):
        raise SchemaUnusable(f"its dialect must be {DIALECT}")
    for part in _parts(schema):
        if found := sorted(UNSUPPORTED & part.keys()):
            raise SchemaUnusable(f"{found[0]} is not supported")
        patterns = part.get("patternProperties")
        for pattern in (part.get("pattern"), *(patterns if isinstance(patterns, dict) else ())):
            if isinstance(pattern, str):
                _matcher(pattern)


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """All objects of a schema that may be schemas."""
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            yield value
            pending += [one for key, one in value.items() if key not in ("const", "default", "enum", "examples")]


# Patterns


@lru_cache(maxsize=100)
def _matcher(pattern: str) -> SchemaValidator:
    """pydantic's engine matches in linear time, and has no look-around and no backreferences."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    if len(pattern) > LONGEST_PATTERN:
        raise SchemaUnusable(f"the pattern {quoted(pattern)} is longer than {LONGEST_PATTERN} characters")
    if _written_out(pattern) > MOST_REPETITIONS:
        raise SchemaUnusable(f"the pattern {quoted(pattern)} repeats too often; at most {MOST_REPETITIONS} in all")
    try:
        return SchemaValidator(core_schema.str_schema(strict=True, pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        reason = str(error).strip().splitlines()[-1].strip().removeprefix("error: ").removeprefix("SchemaError: ")
        raise SchemaUnusable(f"the pattern {quoted(pattern)} cannot be used: {reason}") from None


def _written_out(pattern: str) -> int:
    """An upper bound of the pattern's size without counted repetitions, as if those of groups were all nested."""
    once, times = len(pattern), 1
    for before, least, most in _REPETITION.findall(pattern):
        count = max(1, *(int(number) for number in (least, most) if len(number) in range(1, 7)), 0)
        if before in ")}" or before.isspace():
            times *= count
        else:
            once += count
        if len(least) > 6 or len(most) > 6:
            times = MOST_REPETITIONS + 1
    return once * times


def _matches(pattern: str, text: str) -> bool:
    if time.thread_time() > _allowance.ends:
        raise SchemaUnusable("the check takes too long")
    if len(text) > LONGEST_MATCHED:
        raise SchemaUnusable(f"a text that is matched with a pattern has at most {LONGEST_MATCHED} characters")
    return _matcher(pattern).isinstance_python(text)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError(f"{quoted(instance)} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        for pattern, part in patterns.items():
            for key, value in instance.items():
                if _matches(pattern, key):
                    yield from validator.descend(value, part, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not validator.is_type(instance, "object") or allowed is True:
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    more = [key for key in instance if key not in known and not any(_matches(one, key) for one in patterns)]
    if allowed is not False:
        for key in more:
            yield from validator.descend(instance[key], allowed, path=key)
    elif more:
        names, verb = ", ".join(map(quoted, more)), "was" if len(more) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({names} {verb} unexpected)")


def _unique_items(validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if wanted and validator.is_type(instance, "array") and len(set(map(_identity, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _identity(value: Any) -> Any:
    """Equal for values that are equal in JSON: 1 and 1.0, but not 1 and true."""
    if isinstance(value, dict):
        return "object", frozenset((key, _identity(one)) for key, one in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_identity, value))
    return isinstance(value, bool), value


# Formats


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        _matcher(value)
    return True


def _is_date_time(value: object) -> bool:
    """Whether a string is a date and time with a UTC offset. Values of other types pass."""
    if not isinstance(value, str):
        return True
    return "T" in value.upper() and datetime.fromisoformat(value).tzinfo is not None
