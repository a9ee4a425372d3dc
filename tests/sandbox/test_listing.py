"""LIST pages and pages of folders, read by plain XML and by gribmill's own scanner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import requests

from gribmill.ingest.available_hours import published
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.listing import read_html_page
from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.sandbox.publisher.server import Server
from tests.sandbox.making import RUN, led_to

pytestmark = pytest.mark.slow

NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
KEYS = ["a-1", "a.b", "a/b/c", "a/b/d e&f<g>", "a/c", "a0", "é"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    for key in KEYS:
        path = tmp_path / "bucket" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(key)
    (tmp_path / "bucket" / ".a.grib2.part").write_text("being written")
    with Server(tmp_path) as server:
        yield server


def listed(server: Server, **query: str) -> tuple[list[str], list[str], ElementTree.Element]:
    answer = requests.get(f"{server.url}bucket/", params=query, timeout=10)
    assert answer.status_code == 200, answer.text
    root = ElementTree.fromstring(answer.content)
    assert root.tag == f"{NAMESPACE}ListBucketResult"
    keys = [row.findtext(f"{NAMESPACE}Key") or "" for row in root.iter(f"{NAMESPACE}Contents")]
    folders = [row.findtext(f"{NAMESPACE}Prefix") or "" for row in root.iter(f"{NAMESPACE}CommonPrefixes")]
    return keys, folders, root


def test_keys_come_in_the_order_of_their_bytes_without_files_being_written(server: Server) -> None:
    keys, _, root = listed(server, **{"list-type": "2"})
    assert keys == sorted(KEYS, key=str.encode)
    assert root.findtext(f"{NAMESPACE}KeyCount") == str(len(KEYS))
    assert root.findtext(f"{NAMESPACE}IsTruncated") == "false"
    row = next(root.iter(f"{NAMESPACE}Contents"))
    head = requests.head(f"{server.url}bucket/{keys[0]}", timeout=10).headers
    assert row.findtext(f"{NAMESPACE}ETag") == head["ETag"]
    assert row.findtext(f"{NAMESPACE}Size") == head["Content-Length"]


@pytest.mark.parametrize("prefix", ["a", "a/", "a/b", "a/b/", "a/b/c", "a/bx", "z", "a.", "é", "../"])
def test_a_prefix_is_any_beginning_of_a_key(server: Server, prefix: str) -> None:
    assert listed(server, **{"list-type": "2", "prefix": prefix})[0] == [k for k in KEYS if k.startswith(prefix)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pages_are_contiguous_without_overlap(server: Server, size: int) -> None:
    keys: list[str] = []
    query = {"list-type": "2", "max-keys": str(size)}
    while True:
        page, _, root = listed(server, **query)
        keys += page
        assert len(page) <= size
        if root.findtext(f"{NAMESPACE}IsTruncated") == "false":
            break
        query["continuation-token"] = root.findtext(f"{NAMESPACE}NextContinuationToken") or ""
    assert keys == KEYS


def test_version_1_and_google_listings_continue_by_marker(server: Server) -> None:
    first, _, root = listed(server, prefix="a", **{"max-keys": "3"})
    marker = root.findtext(f"{NAMESPACE}NextMarker")
    rest, _, _ = listed(server, prefix="a", marker=marker or "")
    assert (first, marker) == (KEYS[:3], KEYS[2]) and rest == KEYS[3:6]
    assert listed(server, **{"list-type": "2", "start-after": "a/b/c"})[0] == KEYS[3:]


def test_delimiter_groups_keys_into_folders(server: Server) -> None:
    keys, folders, _ = listed(server, delimiter="/", **{"list-type": "2"})
    assert keys == ["a-1", "a.b", "a0", "é"] and folders == ["a/"]
    keys, folders, _ = listed(server, delimiter="/", prefix="a/", **{"list-type": "2"})
    assert keys == ["a/c"] and folders == ["a/b/"]
    _, folders, root = listed(server, delimiter="/", **{"list-type": "2", "max-keys": "3"})
    token = root.findtext(f"{NAMESPACE}NextContinuationToken") or ""
    keys, again, _ = listed(server, delimiter="/", **{"list-type": "2", "continuation-token": token})
    assert folders == ["a/"] and again == [] and keys == ["a0", "é"]


def test_keys_can_be_url_encoded(server: Server) -> None:
    keys, _, _ = listed(server, prefix="a/b/d", **{"list-type": "2", "encoding-type": "url"})
    assert keys == ["a/b/d%20e%26f%3Cg%3E"]


@pytest.mark.parametrize(
    ("query", "code"),
    [("list-type=2&max-keys=x", 400), ("list-type=2&max-keys=-1", 400), ("list-type=2&continuation-token=%25", 400),
     ("list-type=2&encoding-type=zip", 400), ("list-type=2&" + "&".join(f"a{n}=1" for n in range(50)), 400)],
)  # fmt: skip
def test_invalid_parameters_are_refused(server: Server, query: str, code: int) -> None:
    answer = requests.get(f"{server.url}bucket/?{query}", timeout=10)
    assert answer.status_code == code and ElementTree.fromstring(answer.text).tag == "Error"


def test_a_missing_bucket_is_not_an_empty_bucket(server: Server) -> None:
    answer = requests.get(f"{server.url}other/?list-type=2", timeout=10)
    assert answer.status_code == 404 and ElementTree.fromstring(answer.text).findtext("Code") == "NoSuchBucket"
    whole = requests.get(f"{server.url}?list-type=2&prefix=bucket/a/c", timeout=10)
    assert "<Key>bucket/a/c</Key>" in whole.text


def test_a_folder_is_served_as_an_html_page_like_nomads(server: Server) -> None:
    page = requests.get(f"{server.url}bucket/a/b/", timeout=10)
    assert page.headers["Content-Type"].startswith("text/html")
    lines = {line.key: line for line in read_html_page(page.content, page.url)}
    assert lines.keys() == {"c", "d e&f<g>"} and lines["c"].size == len("a/b/c")
    assert lines["c"].last_modified is not None
    moved = requests.get(f"{server.url}bucket/a", timeout=10)
    assert [answer.status_code for answer in moved.history] == [301] and moved.url.endswith("/bucket/a/")
    assert ".part" not in requests.get(f"{server.url}bucket/", timeout=10).text


@pytest.mark.slow
@pytest.mark.parametrize(("name", "hours"), [("hrrr", {0, 1, 3, 24}), ("gfs", {0, 1, 3, 24}), ("ifs", {0, 3, 24})])
def test_every_mirror_of_a_model_can_be_redirected_by_its_root(filled: Path, name: str, hours: set[int]) -> None:
    with Server(filled) as server, SourceSession() as session:
        model = led_to(server.url, "hrrr", "gfs", "ifs")[name]
        for mirror in model.mirrors:
            assert mirror.root.startswith(server.url)
            # NOMADS' files are believed when they are three minutes old.
            later = RUN.replace(year=RUN.year + 10)
            found = published(model, RUN, mirror, session, now=later, hours=sorted(hours | {5}))
            assert found.keys() == hours, mirror.name
            rounded = mirror.host.listing == "pages"
            assert all(one.index_there and bool(one.size) != rounded for one in found.values())


def test_roots_in_the_settings_suffice_to_redirect_a_model(filled: Path) -> None:
    with Server(filled) as server, SourceSession() as session:
        own = OwnModels(roots={"aws-gfs": f"{server.url}aws-gfs/"})
        gfs = load_models(own)["gfs"]
        assert published(gfs, RUN, gfs.mirrors[0], session).keys() == {0, 1, 3, 24}
