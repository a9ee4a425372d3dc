"""What a mirror has: bucket listings, HTML pages, local folders, and single probes."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gribmill.ingest.available_hours import published
from gribmill.ingest.errors import Broken, SourceError, TooLarge, Untrusted
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.listing import list_keys, read_bucket_page, read_html_page, split_root
from gribmill.ingest.mirror import Mirror, hosts
from gribmill.ingest.models.model import Model
from tests.ingest.conftest import hrrr_at, key_of, publish
from tests.ingest.server import PUBLISHED_AT, Publisher
from tests.ingest.small_grib import RUN, usual_file

LATER = PUBLISHED_AT + timedelta(hours=1)
LIST = '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{}</ListBucketResult>'
OBJECT = "<Contents><Key>a</Key><Size>5</Size></Contents>"


def _bucket(publisher: Publisher) -> Mirror:
    return Mirror("m", f"{publisher.url}b/", hosts()["aws"])


def test_a_long_list_is_read_page_by_page(publisher: Publisher, session: SourceSession) -> None:
    for number in range(25):
        publisher.put(f"b/run/f{number:03d}", bytes(number + 1))
    publisher.put("b/other/x", b"x")
    publisher.page_size = 10
    found = list_keys(_bucket(publisher), "run/f", session)
    assert sorted(found) == [f"run/f{number:03d}" for number in range(25)]
    assert found["run/f007"].size == 8
    assert found["run/f007"].etag == publisher.objects["b/run/f007"].etag
    assert found["run/f007"].last_modified == PUBLISHED_AT
    assert len(publisher.requests) == 3


def test_empty_prefix_gives_nothing(publisher: Publisher, session: SourceSession) -> None:
    assert list_keys(_bucket(publisher), "none", session) == {}


@pytest.mark.parametrize(
    ("root", "bucket", "folder"),
    [
        ("https://noaa-hrrr-bdp-pds.s3.amazonaws.com/", "https://noaa-hrrr-bdp-pds.s3.amazonaws.com/", ""),
        ("https://b.s3.eu-central-1.amazonaws.com/x/y/", "https://b.s3.eu-central-1.amazonaws.com/", "x/y/"),
        ("https://storage.googleapis.com/gfs/", "https://storage.googleapis.com/gfs/", ""),
        ("https://storage.googleapis.com/gfs/a/", "https://storage.googleapis.com/gfs/", "a/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/", ""),
    ],
)
def test_a_root_is_a_bucket_and_a_folder_in_it(root: str, bucket: str, folder: str) -> None:
    assert split_root(root) == (bucket, folder)


def test_keys_are_relative_to_the_root(publisher: Publisher, session: SourceSession) -> None:
    publisher.put("b/deep/er/run/f1", b"x")
    mirror = Mirror("m", f"{publisher.url}b/deep/er/", hosts()["aws"])
    assert sorted(list_keys(mirror, "run/", session)) == ["run/f1"]


def _laughs() -> str:
    levels = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
    return f'<!DOCTYPE b [<!ENTITY l0 "ha">{levels}]>' + LIST.format("<Name>&l9;</Name>")


@pytest.mark.parametrize(
    "bad",
    [
        _laughs(),
        '<!DOCTYPE b [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + LIST.format("<Name>&x;</Name>"),
        LIST.format("&undefined;"),
        LIST.format("<!-- a remark -->" + OBJECT),
        LIST.format("<a>" * 500 + "</a>" * 500),
        LIST.format("<Name>" + "x" * 10_000 + "</Name>"),
        LIST.format(OBJECT * 10_001),
        LIST.format("<Contents><Key>a</Key></Contents>"),
        LIST.format("<Contents><Key>a</Key><Size>-5</Size></Contents>"),
        LIST.format("<Contents><Key>a</Key><Size>" + "9" * 30 + "</Size></Contents>"),
        LIST.format("<IsTruncated>true</IsTruncated>"),
        "<Error><Code>AccessDenied</Code></Error>",
        "<html><body>robots</body></html>",
        LIST.format(OBJECT)[:-10],
        "",
        "no XML",
    ],
    ids=lambda bad: bad[:20],
)  # fmt: skip
def test_hostile_xml_is_refused(bad: str) -> None:
    with pytest.raises(Untrusted):
        read_bucket_page(bad.encode(), "u")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_bomb_in_another_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(Untrusted):
        read_bucket_page(_laughs().encode(encoding), "u")


def test_declared_encoding_is_ignored() -> None:
    page = LIST.format(OBJECT).replace('version="1.0"', 'version="1.0" encoding="UTF-7"')
    assert [one.key for one in read_bucket_page(page.encode(), "u").objects] == ["a"]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=80), st.integers(0, 300))
def test_damaged_pages_are_read_or_refused_never_a_crash(noise: bytes, at: int) -> None:
    page = LIST.format(OBJECT * 3).encode()
    try:
        found = read_bucket_page(page[:at] + noise + page[at + len(noise) :], "u")
    except SourceError as refusal:
        assert str(refusal).startswith("u")
    else:
        assert len(found.objects) <= 3


def test_a_time_beyond_the_calendar_is_ignored() -> None:
    late = "9999-12-31T23:59:59-12:00"
    page = f"<ListBucketResult><Contents><Key>a</Key><Size>1</Size><LastModified>{late}</LastModified></Contents>"
    (one,) = read_bucket_page(f"{page}</ListBucketResult>".encode(), "u").objects
    assert one.last_modified is None


def test_a_listing_that_loops_ends(publisher: Publisher, session: SourceSession) -> None:
    page = LIST.format(f"<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>{OBJECT}")
    publisher.fault("body", value=page.encode())
    with pytest.raises(Untrusted, match="circular"):
        list_keys(_bucket(publisher), "", session)
    assert len(publisher.requests) == 2


def test_google_and_old_servers_have_their_own_continuation_tokens() -> None:
    marker = LIST.format(f"<IsTruncated>true</IsTruncated><NextMarker>m</NextMarker>{OBJECT}")
    assert read_bucket_page(marker.encode(), "u").next_place() == ("marker", "m")
    silent = LIST.format(f"<IsTruncated>true</IsTruncated>{OBJECT}")
    assert read_bucket_page(silent.encode(), "u").next_place() == ("start-after", "a")


APACHE = """<html><body><table><tr><th><a href="?C=N;O=D">Name</a></th></tr>
<tr><td><a href="/pub/hrrr/prod/">Parent Directory</a></td><td>&nbsp;</td><td>  - </td></tr>
<tr><td valign="top"><img src="x.gif"></td><td><a href="hrrr.t00z.wrfsfcf00.grib2">hrrr.t00z.wrfs..&gt;</a></td>
<td align="right">2025-08-01 00:51  </td><td align="right">142M</td></tr>
<tr><td><a href="hrrr.t00z.wrfsfcf00.grib2.idx">x</a></td><td align="right">2025-08-01 00:52  </td><td>8.9K</td></tr>
<tr><td><a href="sub/">sub/</a></td><td align="right">2025-08-01 00:52  </td><td>  - </td></tr>
<tr><td><a href="empty.grib2">e</a></td><td align="right">2025-08-01 00:53  </td><td>  0 </td></tr></table></html>"""
NGINX = """<html><head><title>Index of /f/</title></head><body><h1>Index</h1><hr><pre><a href="../">../</a>
<a href="20250801000000-0h-oper-fc.grib2">20250801000000-0h-oper-fc.grib2</a>    01-Aug-2025 06:40    148897712
<a href="https://elsewhere.example/f/evil.grib2">evil</a>   01-Aug-2025 06:40    5
<a href="/f/20250801000000-3h-oper-fc.grib2">x</a>   01-08-2025 06:41:07    99
<a href="../../etc/passwd">p</a>  01-Aug-2025 06:40    5
<a href="notime.grib2">n</a></pre></body></html>"""


def test_pages_of_apache_and_nomads() -> None:
    lines = {line.key: line for line in read_html_page(APACHE.encode(), "http://h/pub/hrrr/prod/conus/")}
    assert sorted(lines) == ["empty.grib2", "hrrr.t00z.wrfsfcf00.grib2", "hrrr.t00z.wrfsfcf00.grib2.idx"]
    first = lines["hrrr.t00z.wrfsfcf00.grib2"]
    assert (first.size, first.empty) == (None, False)
    assert first.last_modified == datetime(2025, 8, 1, 0, 51, tzinfo=UTC)
    assert (lines["empty.grib2"].size, lines["empty.grib2"].empty) == (0, True)


def test_a_page_of_nginx_is_read() -> None:
    lines = {line.key: line for line in read_html_page(NGINX.encode(), "http://h/f/")}
    assert sorted(lines) == ["20250801000000-0h-oper-fc.grib2", "20250801000000-3h-oper-fc.grib2", "notime.grib2"]
    assert lines["20250801000000-0h-oper-fc.grib2"].size == 148897712
    assert lines["20250801000000-3h-oper-fc.grib2"].size == 99
    assert lines["20250801000000-3h-oper-fc.grib2"].last_modified == datetime(2025, 8, 1, 6, 41, tzinfo=UTC)
    assert (lines["notime.grib2"].size, lines["notime.grib2"].last_modified) == (None, None)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 700))
def test_damaged_html_is_read_or_refused_never_a_crash(noise: bytes, at: int) -> None:
    page = APACHE.encode()
    try:
        lines = read_html_page(page[:at] + noise + page[at:], "http://h/pub/")
    except SourceError as refusal:
        assert str(refusal).startswith("http://h/pub/")
    else:
        assert not [line.key for line in lines if not line.key or "/" in line.key]


def test_pages_that_are_not_listings_are_refused() -> None:
    with pytest.raises(Untrusted, match="has no links"):
        read_html_page(b"<html>Are you a robot?</html>", "http://h/f/")
    with pytest.raises(Untrusted, match="links"):
        read_html_page(b'<a href="../">' * 20_001, "http://h/f/")


@pytest.mark.parametrize("hostile", ["<a ", "<a href='", '<a href="x"', "<!--", "<", '<a href="x">', "</a"])
def test_hostile_pages_are_refused_in_bounded_time(hostile: str) -> None:
    with pytest.raises(Untrusted, match="links"):
        read_html_page(hostile.encode() * 100_000, "http://h/f/")


def test_hour_is_published_when_file_and_index_exist(publisher: Publisher, hrrr: Model, session: SourceSession) -> None:
    whole, no_index, empty, empty_index = (usual_file(hour) for hour in (0, 1, 2, 3))
    publish(publisher, whole)
    publisher.put(key_of(no_index), no_index.data)
    publisher.put(key_of(empty), b"")
    publisher.put(key_of(empty) + ".idx", empty.idx)
    publish(publisher, empty_index, idx=b"")
    publisher.put(key_of(usual_file(4)) + ".idx", b"alone")
    publisher.put(key_of(usual_file(5)).replace("wrfsfc", "wrfprs"), b"another product")
    found = published(hrrr, RUN, hrrr.mirrors[0], session)
    assert sorted(found) == [0]
    one = found[0]
    assert one.grib_url == publisher.url + key_of(whole)
    assert one.index_url == one.grib_url + ".idx"
    assert (one.size, one.mirror, one.index_there) == (len(whole.data), "aws-hrrr", True)
    assert (one.etag, one.last_modified) == (publisher.objects[key_of(whole)].etag, PUBLISHED_AT)
    assert len(publisher.requests) == 1


def test_files_that_may_still_grow_wait_on_nomads(publisher: Publisher, session: SourceSession) -> None:
    model = hrrr_at(publisher, ("nomads",))
    for hour in (0, 1):
        publish(publisher, usual_file(hour), ("nomads",))
    publisher.objects[key_of(usual_file(1), "nomads")].modified = PUBLISHED_AT + timedelta(minutes=9)
    found = published(model, RUN, model.mirrors[0], session, now=PUBLISHED_AT + timedelta(minutes=10))
    assert sorted(found) == [0]
    assert (found[0].size, found[0].last_modified) == (None, PUBLISHED_AT)
    assert sorted(published(model, RUN, model.mirrors[0], session, now=LATER)) == [0, 1]
    publisher.fault("status", value=404)
    assert published(model, RUN, model.mirrors[0], session, now=LATER) == {}


def test_a_failing_mirror_is_distinguished_from_an_empty_one(
    publisher: Publisher, hrrr: Model, session: SourceSession
) -> None:
    assert published(hrrr, RUN, hrrr.mirrors[0], session) == {}
    publisher.fault("status", value=500)
    with pytest.raises(Broken):
        published(hrrr, RUN, hrrr.mirrors[0], session)


def _without_listing(model: Model) -> Model:
    host = replace(model.mirrors[0].host, listing="none")
    return replace(model, mirrors=(replace(model.mirrors[0], host=host),))


def test_without_listings_hours_are_probed_until_they_end(
    publisher: Publisher, hrrr: Model, session: SourceSession
) -> None:
    for hour in (0, 1, 3, 30):
        publish(publisher, usual_file(hour))
    model = _without_listing(hrrr)
    found = published(model, RUN, model.mirrors[0], session)
    assert sorted(found) == [0, 1, 3]
    assert found[3].size == len(usual_file(3).data)
    assert len(publisher.requests) == 3 * 2 + 4
    assert sorted(published(model, RUN, model.mirrors[0], session, hours=[30])) == [30]


def _folder_model(hrrr: Model, folder: Path) -> Model:
    return replace(hrrr, mirrors=(Mirror("mine", folder.as_uri() + "/", hosts()["other"]),))


def test_local_folders_are_listed_and_need_no_index(hrrr: Model, session: SourceSession, tmp_path: Path) -> None:
    model = _folder_model(hrrr, tmp_path)
    assert published(model, RUN, model.mirrors[0], session) == {}
    for hour in (0, 7):
        path = tmp_path / key_of(usual_file(hour)).removeprefix("aws/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * hour)
    found = published(model, RUN, model.mirrors[0], session)
    assert sorted(found) == [7]
    assert (found[7].size, found[7].index_there) == (7, False)


def test_a_file_that_vanishes_while_its_folder_is_listed_does_not_hide_the_others(
    hrrr: Model, session: SourceSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"x")

    def scan(path: Path) -> Any:
        with scandir(path) as entries:
            found = [*entries]
        assert all(one.is_file() for one in found)
        (tmp_path / "b").unlink()
        return nullcontext(found)

    scandir = os.scandir
    monkeypatch.setattr("gribmill.ingest.listing.os.scandir", scan)
    assert sorted(list_keys(_folder_model(hrrr, tmp_path).mirrors[0], "", session)) == ["a", "c"]


def test_a_folder_with_too_many_files_is_refused(
    hrrr: Model, session: SourceSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gribmill.ingest.listing.MOST_FILES", 3)
    for name in "abcd":
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(TooLarge):
        list_keys(_folder_model(hrrr, tmp_path).mirrors[0], "", session)
