"""Azure Blob Storage has no suffix ranges. Runs if Azurite is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.storage import object_client
from gribmill.storage.bucket import NEW
from gribmill.storage.errors import ChangedObject, ObjectStoreError
from gribmill.storage.object_path import ObjectPath
from gribmill.storage.object_ranges import ObjectRanges

pytestmark = pytest.mark.process


def test_tail_and_parts_of_an_object_are_read(azure_prefix: ObjectPath) -> None:
    data = bytes(range(256)) * 2000
    path = azure_prefix / "large.bin"
    path.write([data], NEW)
    assert path.read_tail(10) == (data[-10:], path.stat())
    assert path.read_tail(2 * len(data))[0] == data
    ranges = ObjectRanges(path)
    assert (ranges(300, 1000), ranges.size) == (data[1000:1300], len(data))
    path.write([b"other"])
    with pytest.raises(ChangedObject):
        ranges(300, 2000)


def test_empty_object_has_an_empty_tail(azure_prefix: ObjectPath) -> None:
    (azure_prefix / "empty").write([b""])
    assert (azure_prefix / "empty").read_tail(100)[0] == b""


def test_large_file_is_sent_in_parts(azure_prefix: ObjectPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_client, "MULTIPART_BYTES", 2**20)
    monkeypatch.setattr(object_client, "PART_BYTES", 2**20)
    file = tmp_path / "messages"
    file.write_bytes(bytes(range(256)) * 4096 * 3)
    path = azure_prefix / "messages"
    path.client.upload(path.key, file)
    assert path.read_bytes() == file.read_bytes()
    with pytest.raises(ChangedObject):
        path.client.upload(path.key, file)


def test_wrong_key_and_missing_container_are_one_sentence(
    azure_prefix: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ObjectPath(type(azure_prefix.bucket)("az://nothere", azure_prefix.bucket.options), "x")
    with pytest.raises(ObjectStoreError, match="there is no bucket az://nothere") as error:
        other.write([b"1"])
    assert "\n" not in str(error.value)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "d3Jvbmc=")
    object_client.client_of.cache_clear()
    with pytest.raises(ObjectStoreError, match="refused access") as error:
        (azure_prefix / "x").read_bytes()
    assert "d3Jvbmc" not in str(error.value)
    object_client.client_of.cache_clear()
