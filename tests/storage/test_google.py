"""gs:// speaks Google's own protocol: generations instead of ETags, and keys of service accounts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gribmill.storage import object_client
from gribmill.storage.atomic import write_atomic
from gribmill.storage.bucket import NEW, Bucket, StoreOptions
from gribmill.storage.errors import ChangedObject, ObjectStoreError, ObjectStoreUnreachable
from gribmill.storage.object_path import ObjectPath
from gribmill.storage.object_ranges import ObjectRanges
from tests.servers.google_objects import Refused, StoredObject
from tests.servers.google_storage import BUCKET, PUBLIC_BUCKET, GoogleStorage, ServiceAccount

pytestmark = pytest.mark.process


def test_tail_and_parts_of_an_object_are_read(google_prefix: ObjectPath) -> None:
    data = bytes(range(256)) * 2000
    path = google_prefix / "large.bin"
    path.write([data], NEW)
    assert path.read_tail(10) == (data[-10:], path.stat())
    assert path.read_tail(2 * len(data))[0] == data
    ranges = ObjectRanges(path)
    assert (ranges(300, 1000), ranges.size) == (data[1000:1300], len(data))
    path.write([b"other"])
    with pytest.raises(ChangedObject):
        ranges(300, 2000)


def test_empty_object_has_an_empty_tail(google_prefix: ObjectPath) -> None:
    (google_prefix / "empty").write([b""])
    assert (google_prefix / "empty").read_tail(100)[0] == b""


def test_object_that_was_replaced_and_put_back_counts_as_changed(google_prefix: ObjectPath) -> None:
    """Equal contents have equal ETags, but every write has a generation of its own."""
    path = google_prefix / "x"
    path.write([b"first"], NEW)
    seen = path.now()
    path.write([b"second"])
    path.write([b"first"])
    again = path.now()
    assert seen is not None and again is not None and seen.etag == again.etag and seen.version != again.version
    with pytest.raises(ChangedObject):
        path.write([b"third"], seen)
    path.write([b"third"], again)
    assert path.read_bytes() == b"third"


def test_condition_on_a_removed_object_fails(google_prefix: ObjectPath) -> None:
    path = google_prefix / "x"
    path.write([b"1"], NEW)
    seen = path.now()
    path.unlink()
    path.unlink()
    with pytest.raises(ChangedObject):
        path.write([b"2"], seen)
    assert path.now() is None


def test_large_file_is_sent_in_parts(
    google_storage: GoogleStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_client, "MULTIPART_BYTES", 2**20)
    monkeypatch.setattr(object_client, "PART_BYTES", 5 * 2**20)
    file = tmp_path / "messages"
    file.write_bytes(bytes(range(256)) * 4096 * 12)
    path = google_storage.path("messages")
    path.client.upload(path.key, file)
    assert len([one for one in google_storage.requests if "partNumber" in one]) == 3
    assert b"".join(path.client.download(path.key)) == file.read_bytes()
    with pytest.raises(ChangedObject):
        path.client.upload(path.key, file)


def test_listings_of_several_pages_are_complete(google_storage: GoogleStorage) -> None:
    objects = google_storage.buckets[BUCKET].objects
    one = StoredObject(b"x", 1, '"x"')
    names = [f"{number:04d}.npz" for number in range(800)]
    objects.update({f"run/{name}": one for name in names})
    objects.update({f"run/region{number:04d}/000.npz": one for number in range(300)})
    objects["runs/other"] = one
    path = google_storage.path("run")
    assert len(list(path.below())) == 1100
    assert len([one for one in google_storage.requests if "list-type" in one]) == 2
    folders, files = path.children()
    assert (len(folders), sorted(files)) == (300, names)
    path.remove_below()
    assert list(objects) == ["runs/other"]


@pytest.mark.parametrize("name", ["a b", "a+b", "50%", "für", "a&b", "<a>", "a?b#c", "a=b"])
def test_every_name_is_the_same_in_requests_and_listings(google_prefix: ObjectPath, name: str) -> None:
    (google_prefix / name / name).write([b"x"])
    assert (google_prefix / name / name).read_bytes() == b"x"
    assert google_prefix.children()[0] == [name]
    assert [path.name for path, _ in google_prefix.below()] == [name]


def test_busy_store_is_asked_again(google_storage: GoogleStorage) -> None:
    path = google_storage.path("x")
    google_storage.faults += [
        Refused(429, "SlowDown"),
        Refused(503, "ServiceUnavailable"),
        Refused(500, "InternalError"),
    ]
    path.write([b"1"], NEW)
    assert [one.partition(" ")[0] for one in google_storage.requests] == ["PUT"] * 4
    google_storage.faults += [Refused(429, "SlowDown"), Refused(408, "RequestTimeout")]
    assert path.read_bytes() == b"1"


def test_store_that_stays_busy_is_a_temporary_failure(
    google_storage: GoogleStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_client, "PATIENCE_SECONDS", 0.3)
    google_storage.faults += [Refused(429, "SlowDown")] * 100
    with pytest.raises(ObjectStoreUnreachable, match=r"^gs://tiles at http://.* 429 Too Many Requests") as error:
        google_storage.path("x").write([b"1"])
    assert "\n" not in str(error.value)


def test_write_whose_answer_was_lost_is_found(google_storage: GoogleStorage) -> None:
    """Sent again, its condition fails; the writer then looks, and finds what it wrote itself."""
    path = google_storage.path("x")
    google_storage.faults.append("lost")
    found: list[bytes] = []
    write_atomic(path, [b"tile"], lambda: found.append(path.read_bytes()))
    assert found == [b"tile"]
    assert path.read_bytes() == b"tile"


def test_removal_that_was_interrupted_is_completed(google_storage: GoogleStorage) -> None:
    objects = google_storage.buckets[BUCKET].objects
    objects.update({f"run/{number}": StoredObject(b"x", 1, '"x"') for number in range(40)})
    google_storage.faults += [Refused(503, "ServiceUnavailable")] * 3
    keys = [f"run/{number}" for number in range(50)]
    google_storage.path("").client.remove(keys)
    assert not objects


def test_missing_bucket_is_one_sentence(google_storage: GoogleStorage) -> None:
    for ask in (ObjectPath.read_bytes, ObjectPath.children, lambda path: path.write([b"x"])):
        with pytest.raises(ObjectStoreError, match=r"^there is no bucket gs://elsewhere at http://[^\n]*$"):
            ask(google_storage.path("x", "elsewhere"))


def test_public_bucket_is_read_without_a_key(google_storage: GoogleStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    google_storage.buckets[PUBLIC_BUCKET].put("x", b"1", None)
    path = google_storage.path("x", PUBLIC_BUCKET, anonymous=True)
    assert path.read_bytes() == b"1"
    assert list(path.parent.children()[1]) == ["x"]
    with pytest.raises(ObjectStoreError, match=r"refused access \(AccessDenied\)"):
        google_storage.path("x", anonymous=True).read_bytes()


def test_key_of_another_account_is_one_sentence(
    google_storage: GoogleStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(ServiceAccount.new(tmp_path).file))
    with pytest.raises(
        ObjectStoreError, match=r"refused access \(AuthenticationRequired\): check the account"
    ) as error:
        google_storage.path("x").read_bytes()
    assert "\n" not in str(error.value)


def test_damaged_credentials_are_one_sentence_without_secrets(
    google_storage: GoogleStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"type": "service_account", "private_key_id": "1", "private_key": "c2VjcmV0", "client_email": "a@b"}
    file = tmp_path / "key.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    for content in (None, "", "c2VjcmV0", json.dumps(fields), json.dumps({**fields, "private_key": 1})):
        if content is not None:
            file.write_text(content)
        with pytest.raises(ObjectStoreError, match=r"^gs://tiles cannot be used: ") as error:
            google_storage.path("x").read_bytes()
        assert "\n" not in str(error.value) and "c2VjcmV0" not in str(error.value)


@pytest.mark.parametrize("anonymous", [False, True])
def test_missing_credentials_say_what_to_set(
    google_storage: GoogleStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anonymous: bool
) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.setenv(name, "127.0.0.1:9")
    hint = "; store.anonymous only reads" if anonymous else ", or store.anonymous for a public bucket"
    with pytest.raises(
        ObjectStoreError,
        match=f"^no credentials were found for gs://tiles: set GOOGLE_APPLICATION_CREDENTIALS{hint}$",
    ):
        google_storage.path("x", anonymous=anonymous).write([b"1"])


def test_token_of_the_machine_is_used(
    google_storage: GoogleStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metadata service that is busy for a moment is asked again."""
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.setenv(name, google_storage.endpoint.removeprefix("http://"))
    google_storage.faults += [Refused(503, "Unavailable"), Refused(429, "Busy")] * 2
    google_storage.path("x").write([b"1"], NEW)
    assert google_storage.path("x").read_bytes() == b"1"


def test_endpoint_is_found_in_the_environment(google_storage: GoogleStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_BASE_URL", f"{google_storage.endpoint}/")
    path = ObjectPath(Bucket(f"gs://{BUCKET}", StoreOptions()), "x")
    path.write([b"1"], NEW)
    assert path.read_bytes() == b"1"
