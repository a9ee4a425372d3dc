"""Errors of an object store are reported in one sentence."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gribmill.config_file import SettingsError
from gribmill.errors import GribmillError
from gribmill.storage import object_client
from gribmill.storage.bucket import NEW, Bucket, StoreOptions
from gribmill.storage.errors import ChangedObject, ObjectStoreError, ObjectStoreUnreachable
from gribmill.storage.object_client import client_of
from gribmill.storage.object_path import ObjectPath, object_path, stored_path
from gribmill.storage.object_ranges import merged
from tests.servers.seaweed import KEY, SECRET, ObjectServer

needs_server = pytest.mark.process


@pytest.fixture(autouse=True)
def new_clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clients read the environment once; no later test gets one with wrong keys."""
    client_of.cache_clear()
    monkeypatch.setattr(object_client, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    yield
    client_of.cache_clear()


@pytest.mark.parametrize(
    "url",
    ["s4://bucket/x", "http://host/x", "s3://", "s3:///x", "s3://b ucket/x", "s3://bucket/a/../b", "s3://bucket/a//b",
     "s3://bucket/\x1b", "s3://bucket/" + "x" * 2000, "s3:/bucket/x"],
)  # fmt: skip
def test_wrong_url_is_one_sentence(url: str) -> None:
    with pytest.raises(ObjectStoreError) as error:
        object_path(url, StoreOptions())
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


def test_url_and_path_are_distinguished() -> None:
    assert str(stored_path("s3://bucket/a/b.npz")) == "s3://bucket/a/b.npz"
    assert stored_path("a/b.npz") == Path("a/b.npz")


@pytest.mark.parametrize(
    "endpoint", ["ftp://x", "x", "http://", "http://user:secret@host", "http://a b", "http://x:99999"]
)
def test_wrong_endpoint_is_one_sentence(endpoint: str) -> None:
    with pytest.raises(SettingsError, match=r"^store\.endpoint"):
        StoreOptions(endpoint)


def test_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name == "obstore":
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ObjectStoreError, match=r"pip install 'gribmill\[s3\]'"):
        _ = ObjectPath(Bucket("s3://bucket"), "x").client


@needs_server
def test_wrong_secret_is_one_sentence(object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(
        ObjectStoreError, match=r"refused access \(SignatureDoesNotMatch\): check the access key"
    ) as error:
        object_server.path("x").read_bytes()
    assert "\n" not in str(error.value) and "wrong" not in str(error.value) and SECRET not in str(error.value)


@needs_server
def test_wrong_bucket_is_one_sentence(object_server: ObjectServer) -> None:
    for ask in (ObjectPath.read_bytes, ObjectPath.children, lambda path: path.write([b"x"])):
        with pytest.raises(ObjectStoreError, match=r"^there is no bucket s3://elsewhere at http://"):
            ask(object_server.path("x", "elsewhere"))


@needs_server
def test_keys_are_found_in_a_profile(
    object_server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text(f"[lab]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n")
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert object_server.path("ready").read_bytes() == b"1"
    client_of.cache_clear()
    monkeypatch.setenv("AWS_PROFILE", "other")
    with pytest.raises(GribmillError, match="there is no AWS profile 'other'"):
        object_server.path("ready").read_bytes()


def test_store_that_does_not_answer_is_waited_for_until_a_deadline() -> None:
    path = ObjectPath(Bucket("s3://bucket", StoreOptions("http://127.0.0.1:9")), "x")
    with pytest.raises(ObjectStoreUnreachable, match=r"^s3://bucket at http://127.0.0.1:9 did not answer for 0.3 s"):
        path.read_bytes()


@needs_server
def test_object_that_was_replaced_is_not_read_on(prefix: ObjectPath) -> None:
    path = prefix / "x"
    path.write([b"first"])
    seen = path.now()
    assert seen is not None
    path.write([b"other"])
    with pytest.raises(ChangedObject):
        path.read_range(0, 3, seen.etag)


@needs_server
def test_empty_object_has_an_empty_tail(prefix: ObjectPath) -> None:
    (prefix / "x").write([])
    data, status = (prefix / "x").read_tail(100)
    assert (data, status.st_size) == (b"", 0)


@needs_server
def test_large_file_is_sent_in_parts(prefix: ObjectPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_client, "MULTIPART_BYTES", 2**20)
    monkeypatch.setattr(object_client, "PART_BYTES", 5 * 2**20)
    content = bytes(range(256)) * 4096 * 12
    (tmp_path / "file").write_bytes(content)
    path = prefix / "x"
    path.client.upload(path.key, tmp_path / "file")
    assert b"".join(path.client.download(path.key)) == content
    with pytest.raises(ChangedObject):
        path.client.upload(path.key, tmp_path / "file")


@needs_server
def test_condition_on_a_removed_object_fails(prefix: ObjectPath) -> None:
    path = prefix / "x"
    path.write([b"1"], NEW)
    seen = path.now()
    path.unlink()
    with pytest.raises(ChangedObject):
        path.write([b"2"], seen)
    assert path.now() is None


def test_near_ranges_are_one_request() -> None:
    assert merged([(50, 60), (0, 10), (12, 20), (15, 18)], gap=5) == [(0, 20), (50, 60)]
    assert merged([]) == []
