"""Faults on request: each affects its files only, and the same way every time."""

from __future__ import annotations

import contextlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from gribmill.grib.messages import walk
from gribmill.ingest.download.download import download
from gribmill.ingest.download.errors import DownloadFailed
from gribmill.ingest.errors import Changed, SourceError
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import wanted
from gribmill.ingest.mirror import IndexKind
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.publisher.fault import Fault, hour_of, parse_fault
from gribmill.sandbox.publisher.faults import Faults
from gribmill.sandbox.publisher.server import Server
from tests.sandbox.making import HRRR_KEY, RUN, led_to, named

HIT, SPARED = HRRR_KEY.format(3), HRRR_KEY.format(1)
WANTED = wanted(["t2m", "u10", "v10", "tp", "refc"])


def faulty(folder: Path, *faults: Fault | str, seed: int = 0) -> Server:
    return Server(folder, Faults([parse_fault(one) if isinstance(one, str) else one for one in faults], seed))


def get(server: Server, key: str, **headers: str) -> requests.Response:
    return requests.get(server.url + key, headers=headers, timeout=30)


def test_faults_are_parsed_from_words() -> None:
    assert parse_fault("truncate") == Fault("truncate")
    assert parse_fault("500:0.25") == Fault("500", share=0.25)
    assert parse_fault("flip:3") == Fault("flip", hours=frozenset({3}))
    assert parse_fault("stale-idx:0-3, 6x2") == Fault("stale-idx", hours=frozenset({0, 1, 2, 3, 6}), times=2)
    assert parse_fault("500x1") == Fault("500", times=1)
    for bad in ("", "melt", "500:1.5", "500:0.0", "flip:a", "flip:3-1", "500x", "500:0.1.2"):
        with pytest.raises(SandboxError):
            parse_fault(bad)


def test_the_hour_of_a_file_is_read_from_its_key() -> None:
    assert hour_of(HIT) == hour_of(f"{HIT}.idx") == 3
    assert hour_of("x/gfs.20260901/12/atmos/gfs.t12z.pgrb2.0p25.f123") == 123
    assert hour_of("a/b/20260901/00z/ifs/0p25/oper/20260901000000-6h-oper-fc.index") == 6
    assert hour_of("aws-hrrr/readme") is None


def test_faults_for_one_hour_leave_other_hours_alone(filled: Path) -> None:
    with faulty(filled, "500:3") as server:
        assert get(server, HIT).status_code == get(server, f"{HIT}.idx").status_code == 500
        assert get(server, SPARED).status_code == get(server, f"{SPARED}.idx").status_code == 200


def test_a_share_of_files_is_the_same_for_a_seed(filled: Path) -> None:
    keys = [HRRR_KEY.format(hour) for hour in range(200)]
    hit = [key for key in keys if Fault("500", share=0.25).aims_at(key, 1)]
    assert 30 < len(hit) < 70
    assert hit == [key for key in keys if Fault("500", share=0.25).aims_at(key, 1)]
    assert hit != [key for key in keys if Fault("500", share=0.25).aims_at(key, 2)]
    assert all(Fault("500", share=0.25).aims_at(f"{key}.idx", 1) for key in hit)
    assert Fault("500", keys="*f03*").aims_at(HIT, 0) and not Fault("500", keys="*f03*").aims_at(SPARED, 0)


def test_a_fault_can_pass_after_some_requests(filled: Path) -> None:
    with faulty(filled, "500:3x2") as server:
        assert [get(server, HIT).status_code for _ in range(4)] == [500, 500, 200, 200]


@pytest.mark.parametrize(("fault", "key"), [("truncate:3x2", HIT), ("stale-idx:3x2", f"{HIT}.idx")])
def test_a_faulty_version_can_be_replaced_after_some_requests(filled: Path, fault: str, key: str) -> None:
    right = (filled / key).read_bytes()
    with faulty(filled, fault) as server:
        assert [get(server, key).content == right for _ in range(4)] == [False, False, True, True]


def test_truncate_serves_the_first_part_with_its_true_size(filled: Path) -> None:
    whole = (filled / HIT).read_bytes()
    with faulty(filled, "truncate:3") as server:
        answer, index = get(server, HIT), get(server, f"{HIT}.idx")
        listed = get(server, "aws-hrrr/?list-type=2&prefix=hrrr.20260901/conus/hrrr.t12z.wrfsfcf03").text
        size = requests.head(server.url + HIT, timeout=30).headers["Content-Length"]
    assert answer.content == whole[: len(answer.content)] and 0 < len(answer.content) < len(whole)
    assert f"<Size>{len(answer.content)}</Size>" in listed and size == str(len(answer.content))
    assert index.content == (filled / f"{HIT}.idx").read_bytes()


@pytest.mark.parametrize("name", ["hrrr", "ifs"])
def test_a_stale_index_points_beside_the_messages(filled: Path, name: str) -> None:
    key = HIT if name == "hrrr" else "aws-ecmwf/20260901/12z/ifs/0p25/oper/20260901120000-3h-oper-fc.grib2"
    index_key = f"{HIT}.idx" if name == "hrrr" else key.replace(".grib2", ".index")
    data = (filled / key).read_bytes()
    with faulty(filled, "stale-idx:3") as server:
        assert get(server, key).content == data
        kind: IndexKind = "noaa_idx" if name == "hrrr" else "ecmwf_index"
        entries = parse_index(kind, get(server, index_key).content, "stale", RUN).entries
    assert data[entries[0].offset :][:4] == b"GRIB"
    assert all(data[entry.offset :][:4] != b"GRIB" for entry in entries[1:])


def test_flip_damages_one_bit_in_transit_and_the_checksum_detects_it(filled: Path) -> None:
    whole = (filled / HIT).read_bytes()
    with faulty(filled, "flip:3") as server, faulty(filled, "flip:3") as again:
        damaged, index = get(server, HIT), get(server, f"{HIT}.idx")
        same = get(again, HIT)
        with SourceSession() as session, pytest.raises(SourceError, match="checksum"):
            session.get(server.url + HIT, led_to(server.url, "hrrr")["hrrr"].mirrors[0].host, limit_bytes=10**8)
    wrong = [place for place, byte in enumerate(damaged.content) if byte != whole[place]]
    assert len(damaged.content) == len(whole) and len(wrong) == 1
    assert (damaged.content[wrong[0]] ^ whole[wrong[0]]).bit_count() == 1
    assert same.content == damaged.content
    assert index.content == (filled / f"{HIT}.idx").read_bytes()


def test_vanish_lists_what_cannot_be_fetched(filled: Path) -> None:
    with faulty(filled, "vanish:3") as server:
        assert HIT.partition("/")[2] in get(server, "aws-hrrr/?list-type=2").text
        assert requests.head(server.url + HIT, timeout=30).status_code == 200
        assert get(server, HIT).status_code == 404
        assert get(server, f"{HIT}.idx").status_code == 200


def test_cut_breaks_the_connection_in_the_middle(filled: Path) -> None:
    with faulty(filled, "cut:3x1") as server:
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            get(server, HIT)
        assert get(server, HIT).content == (filled / HIT).read_bytes()


def test_503_requests_a_pause_for_file_and_index(filled: Path) -> None:
    with faulty(filled, "503:3x1") as server:
        for key in (HIT, f"{HIT}.idx"):
            busy = get(server, key)
            assert (busy.status_code, busy.headers["Retry-After"]) == (503, "1") and "SlowDown" in busy.text
            assert get(server, key).status_code == 200


def test_bot_page_replaces_the_file(filled: Path) -> None:
    with faulty(filled, "bot-page:3") as server:
        page = get(server, HIT)
        assert page.status_code == 200 and page.headers["Content-Type"].startswith("text/html")
        assert b"robot" in page.content
        assert get(server, f"{HIT}.idx").content == (filled / f"{HIT}.idx").read_bytes()


def test_no_range_sends_the_whole_file(filled: Path) -> None:
    with faulty(filled, "no-range:3x1") as server:
        whole = get(server, HIT, Range="bytes=0-3")
        assert whole.status_code == 200 and whole.content == (filled / HIT).read_bytes()
        assert get(server, HIT, Range="bytes=0-3").status_code == 206


def test_reset_closes_the_connection_without_a_response(filled: Path) -> None:
    with faulty(filled, "reset:3x1") as server:
        with pytest.raises(requests.exceptions.ConnectionError):
            get(server, HIT)
        assert get(server, HIT).status_code == 200


def test_stall_goes_silent_in_the_middle_until_the_publisher_stops(filled: Path) -> None:
    half = (filled / HIT).stat().st_size // 2
    server = faulty(filled, "stall:3")
    server.start()
    response = requests.get(server.url + HIT, stream=True, timeout=(30, 0.3))
    with pytest.raises(requests.exceptions.ConnectionError, match="timed out"):
        assert len(response.content) < half
    server.stop()
    assert server.seen[-1].sent == half


def test_slow_sends_pieces_and_ends_when_the_mirror_stops(filled: Path) -> None:
    server = faulty(filled, "slow:3")
    server.start()
    answer = requests.get(server.url + HIT, stream=True, timeout=30)
    assert answer.raw.read(100)
    server.stop()
    with contextlib.suppress(Exception):
        while answer.raw.read(65536):
            pass
    answer.close()
    assert server.seen[-1].sent <= (filled / HIT).stat().st_size


@pytest.mark.parametrize("name", ["hrrr", "ifs"])
def test_replace_brings_another_edition_after_the_first_request(filled: Path, name: str) -> None:
    key = HIT if name == "hrrr" else "aws-ecmwf/20260901/12z/ifs/0p25/oper/20260901120000-3h-oper-fc.grib2"
    index_key = f"{HIT}.idx" if name == "hrrr" else key.replace(".grib2", ".index")
    kind: IndexKind = "noaa_idx" if name == "hrrr" else "ecmwf_index"
    with faulty(filled, "replace:3") as server:
        before = requests.head(server.url + key, timeout=30).headers["ETag"]
        index = get(server, index_key).content
        assert get(server, key, Range="bytes=0-3").headers["ETag"] == before
        assert get(server, key, **{"If-Match": before}).status_code == 412
        after, new_index = get(server, key), get(server, index_key).content
        assert after.headers["ETag"] != before
        assert after.headers["ETag"] in get(server, f"{key.partition('/')[0]}/?list-type=2").text.replace("&quot;", '"')
    old = (filled / key).read_bytes()

    def messages(data: bytes) -> list[bytes]:
        return [data[one.offset : one.offset + one.length] for one in walk(data, key)]

    assert messages(after.content) != messages(old) and sorted(messages(after.content)) == sorted(messages(old))
    then = parse_index(kind, index, "then", RUN, len(old)).entries
    now = parse_index(kind, new_index, "now", RUN, len(old)).entries
    assert {(e.element, e.level, e.window): old[e.offset : e.end] for e in then} == {
        (e.element, e.level, e.window): after.content[e.offset : e.end] for e in now
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        None,
        "truncate:3",
        "stale-idx:3",
        "500:3x1",
        "flip:3x1",
        "vanish:3",
        "replace:3",
        "cut:3x1",
        "503:3x1",
        "bot-page:3",
        "no-range:3",
        "reset:3x1",
    ],
)
def test_a_download_through_each_fault_is_correct_or_fails(filled: Path, tmp_path: Path, fault: str | None) -> None:
    with faulty(filled, *([fault] if fault else [])) as server, SourceSession() as session:
        model = led_to(server.url, "hrrr")["hrrr"]
        target = tmp_path / "003.grib2"
        try:
            download(model, RUN, 3, WANTED, target, session=session)
        except DownloadFailed as error:
            assert fault in ("truncate:3", "vanish:3", "stale-idx:3", "bot-page:3"), str(error)
            assert not target.exists()
            return
    whole = (filled / HIT).read_bytes()
    parts = {whole[one.offset : one.offset + one.length] for one in walk(whole, "whole")}
    got = target.read_bytes()
    fetched = [got[one.offset : one.offset + one.length] for one in walk(got, "got")]
    assert set(fetched) <= parts
    assert {one.name for one in WANTED} <= named(got).keys()


def test_a_pinned_download_notices_the_replacement(filled: Path) -> None:
    with faulty(filled, "replace:3") as server, SourceSession() as session:
        host = led_to(server.url, "hrrr")["hrrr"].mirrors[0].host
        pin = session.head(server.url + HIT, host)
        session.read_range(server.url + HIT, host, 0, 10, pin=pin)
        with pytest.raises(Changed):
            session.read_range(server.url + HIT, host, 10, 20, pin=pin)
    assert urlsplit(server.url).hostname == "127.0.0.1"
