"""Definitions with a command: validation, placeholders, edits and removal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.command import CommandSpec, check_program
from gribmill.queue.errors import BadArguments, BadDefinition, NotAllowed, UnknownJobType
from gribmill.queue.job_type import Registry
from gribmill.queue.model import ClaimRequest, NewTemplate, NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.store.types.definitions import DefinitionParts, NewDefinition
from tests.queue.store.sample_types import PLAIN
from tests.queue.store.store_driver import add

TYPES = Registry(PLAIN, command_handler="nowhere:run")
ECHO = {"argv": ["echo", "-n", "{{word}}"]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(SqliteDatabase(tmp_path / "jobs.db"), TYPES)
    yield store
    assert store.verify() == []
    store.close()


def test_new_type_is_enqueued_claimed_and_visible_to_other_processes(store: Store) -> None:
    made = store.definitions.add(NewDefinition("echo", ECHO, values={"timeout_seconds": 9}), changed_by="ann")
    assert (made.lane, made.timeout_seconds, made.version) == ("command", 9, 1)
    other = Store(store.database, TYPES)
    add(other, "echo", {"word": "hi"})
    (job,) = store.claim(ClaimRequest("w1", ("echo",), 60.0))
    assert (job.args, job.timeout_seconds) == ('{"word":"hi"}', 9)
    assert job.command is not None
    assert '"argv":["echo","-n","{{word}}"]' in job.command
    assert store.triggers.add(NewTrigger("t", "echo", {"word": "x"}, cron="* * * * *")).type == "echo"


def test_formats_of_the_schema_are_checked(store: Store) -> None:
    formats = {"id": "uuid", "at": "date-time", "day": "date"}
    properties = {name: {"type": "string", "format": kind} for name, kind in formats.items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    store.definitions.add(NewDefinition("sync", {"argv": ["echo"]}, arg_schema=schema))
    good = {"id": "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09", "at": "2026-02-16T10:30:00Z", "day": "2026-02-16"}
    assert add(store, "sync", good)
    for name, wrong in {"id": "not a uuid", "at": "2026-02-16 10:30", "day": "16.2.2026"}.items():
        with pytest.raises(BadArguments, match=f"{name}: .* is not a '{formats[name]}'"):
            add(store, "sync", {**good, name: wrong})


@pytest.mark.parametrize(
    ("key", "command", "schema", "sentence"),
    [
        ("plain", ECHO, None, "there is a job type plain already"),
        ("Bad Key", ECHO, None, "is not a name for a job type"),
        ("x", {"argv": []}, None, "a command must have 1 to 200 arguments"),
        ("x", {"argv": ["/bin/sh", "-c"]}, None, "is not a program's name"),
        ("x", {"argv": ["echo", "a{{b}}"]}, None, "a placeholder fills a whole argument"),
        ("x", {"argv": ["echo", "{{b"]}, None, "a placeholder fills a whole argument"),
        ("x", {"argv": ["{{b}}"]}, None, "is not a program's name"),
        ("x", {"argv": "echo"}, None, "argv of a command must be a list of strings"),
        ("x", {"argv": ["echo"], "shell": True}, None, "a command must be an object with argv"),
        ("x", {"argv": ["echo"], "options": ["b"]}, None, "'b' is not a placeholder"),
        ("x", {"argv": ["echo"], "environment": ["A=B"]}, None, "is not the name of an environment variable"),
        ("x", ECHO, {"type": 3}, "not a JSON Schema: type"),
        ("x", ECHO, {"description": "x" * 70_000}, "larger than 64000 bytes"),
    ],
)
def test_a_definition_that_cannot_run_is_refused(
    store: Store, key: str, command: dict[str, Any], schema: dict[str, Any] | None, sentence: str
) -> None:
    with pytest.raises(BadDefinition) as refused:
        store.definitions.add(NewDefinition(key, command, arg_schema=schema))
    assert sentence in str(refused.value)
    assert [one.key for one in store.definitions.list()] == ["plain"]


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        ({}, "'word' is a required property"),
        ({"word": [1]}, "word: [1] is not of type"),
        ({"word": "x", "other": 1}, "'other' was unexpected"),
        ({"word": "--delete"}, "begins with '-' and could be read as an option"),
        ({"word": -5}, "begins with '-'"),
        ({"word": "a\0b"}, "must not contain NUL"),
        ({"word": float("nan")}, "cannot be written as JSON"),
        ({"word": "x" * 70_000}, "larger than 64000 bytes"),
    ],
    ids=str,
)
def test_a_payload_that_does_not_fit_is_refused(store: Store, payload: dict[str, Any], sentence: str) -> None:
    store.definitions.add(NewDefinition("echo", ECHO))
    with pytest.raises(BadArguments, match=r"^echo: ") as refused:
        add(store, "echo", payload)
    assert sentence in str(refused.value)
    assert store.jobs.list().jobs == ()


def test_custom_schema_is_used_and_fetches_nothing(store: Store) -> None:
    store.definitions.add(NewDefinition("echo", ECHO, arg_schema={"properties": {"word": {"enum": ["a", "b"]}}}))
    add(store, "echo", {"word": "a", "more": 1})
    with pytest.raises(BadArguments, match="'c' is not one of"):
        add(store, "echo", {"word": "c"})
    with pytest.raises(BadArguments, match="word: expected a text or a number"):
        add(store, "echo", {})
    store.definitions.add(NewDefinition("far", ECHO, arg_schema={"$ref": "http://127.0.0.1:1/schema.json"}))
    with pytest.raises(BadArguments, match="cannot be used"):
        add(store, "far", {"word": "a"})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"word": {"$ref": "#/title"}}, "title": "no schema"},
        {"properties": {"word": {"$ref": "#/required/x"}}, "required": ["word"]},
        {"$id": "http://[", "properties": {"word": {"$ref": "b"}}},
        {"properties": {"word": {"multipleOf": 0.1}}},
    ],
)
def test_a_schema_that_cannot_be_applied_is_named_as_the_cause(store: Store, schema: dict[str, Any]) -> None:
    store.definitions.add(NewDefinition("odd", ECHO, arg_schema=schema))
    with pytest.raises(BadArguments, match="JSON Schema of this type cannot be used"):
        add(store, "odd", {"word": 10**400})


def test_placeholders_fill_whole_arguments() -> None:
    spec = CommandSpec.of({"argv": ["echo", "{{ a }}", "b", "{{c}}"], "options": ["c"]})
    assert spec.fill({"a": "x y", "c": -1.5}) == ["echo", "x y", "b", "-1.5"]
    assert spec.fill({"a": True, "c": "--all"}) == ["echo", "true", "b", "--all"]


def test_only_allowed_programs_run() -> None:
    check_program("gribmill", {})
    check_program("rsync", {"rsync": "/usr/bin/rsync"})
    with pytest.raises(BadDefinition, match=r"'sh' is not allowed.*Allowed now: gribmill, rsync"):
        check_program("sh", {"rsync": "/usr/bin/rsync"})


def test_a_damaged_command_does_not_stop_the_queue(store: Store) -> None:
    store.definitions.add(NewDefinition("echo", ECHO))
    row = {**_row(store), "command": {"argv": 3}}
    with store.database.write() as tx:
        tx.change("types/upsert", row)
    store.registry.forget()
    add(store)
    assert "echo" not in store.registry


def _row(store: Store) -> dict[str, Any]:
    found = store.definitions.get("echo").definition
    return {name: getattr(found, name) for name in found.__slots__}


# Edited and removed


def test_command_description_and_schema_are_replaced_each_as_a_version(store: Store) -> None:
    store.definitions.add(NewDefinition("echo", ECHO))
    parts = DefinitionParts("Says two words.", argv=["echo", "{{word}}", "{{other}}"])
    made = store.definitions.edit("echo", {"timeout_seconds": 9}, parts=parts, changed_by="ann")
    assert (made.description, made.timeout_seconds, made.version) == ("Says two words.", 9, 2)
    assert made.command == {"argv": ["echo", "{{word}}", "{{other}}"], "environment": [], "options": []}
    with pytest.raises(BadArguments, match="'other' is a required property"):
        add(store, "echo", {"word": "a"})
    add(store, "echo", {"word": "a", "other": "b"})
    schema = {"properties": {"word": {"enum": ["x"]}, "other": {}}}
    store.definitions.edit("echo", {}, parts=DefinitionParts(arg_schema=schema))
    store.definitions.edit("echo", {}, parts=DefinitionParts(argv=["echo", "{{word}}"]))
    assert store.definitions.get("echo").definition.arg_schema == schema, "a schema of one's own stays"
    with pytest.raises(BadArguments, match="word: 'a' is not one of"):
        add(store, "echo", {"word": "a"})
    same = store.definitions.edit("echo", {}, parts=DefinitionParts("Says two words."))
    assert same.version == 4, "nothing changed"
    versions = store.definitions.get("echo").versions
    assert [(one.version, one.change, one.changed_by) for one in versions][:2] == [(1, "add", None), (2, "edit", "ann")]


@pytest.mark.parametrize(
    ("key", "parts", "sentence"),
    [
        ("plain", DefinitionParts("x"), "plain is declared by the code: only its values can be changed"),
        ("echo", DefinitionParts(argv=["/bin/sh"]), "is not a program's name"),
        ("echo", DefinitionParts(argv=[]), "a command must have 1 to 200 arguments"),
        ("echo", DefinitionParts(options=["b"]), "'b' is not a placeholder"),
        ("echo", DefinitionParts(arg_schema={"type": 3}), "not a JSON Schema"),
        ("echo", DefinitionParts(argv=["echo", "{{other}}"]), "default_args: no argument 'word'"),
    ],
)
def test_refused_edit_leaves_the_definition_as_it_was(
    store: Store, key: str, parts: DefinitionParts, sentence: str
) -> None:
    store.definitions.add(NewDefinition("echo", ECHO, values={"default_args": {"word": "x"}}))
    before = store.definitions.get(key)
    with pytest.raises(BadDefinition, match=sentence):
        store.definitions.edit(key, {}, parts=parts)
    assert store.definitions.get(key) == before


def test_type_without_jobs_triggers_and_templates_is_removed_and_can_be_added_again(store: Store) -> None:
    store.definitions.add(NewDefinition("echo", ECHO))
    store.definitions.remove("echo")
    with pytest.raises(UnknownJobType):
        store.definitions.get("echo")
    with pytest.raises(UnknownJobType):
        add(store, "echo", {"word": "a"})
    assert store.definitions.add(NewDefinition("echo", ECHO)).version == 1
    with pytest.raises(NotAllowed, match="plain is declared by the code and cannot be removed"):
        store.definitions.remove("plain")


def test_type_in_use_is_not_removed(store: Store) -> None:
    store.definitions.add(NewDefinition("echo", ECHO))
    job = add(store, "echo", {"word": "a"})
    store.jobs.cancel(job)
    with pytest.raises(NotAllowed, match="echo has 1 job: deactivate it instead"):
        store.definitions.remove("echo")
    store.maintenance.prune(0, 0)
    trigger = store.triggers.add(NewTrigger("t", "echo", {"word": "x"}, event="e"))
    store.templates.add(NewTemplate("one", "echo"))
    store.templates.add(NewTemplate("two", "echo"))
    with pytest.raises(NotAllowed, match="echo has 1 trigger, 2 templates"):
        store.definitions.remove("echo")
    store.triggers.remove(trigger.id)
    store.templates.remove("one")
    store.templates.remove("two")
    store.definitions.remove("echo")
