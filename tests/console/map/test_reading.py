"""The browser reads tiles bit for bit like gribmill, and reports damaged ones in a sentence."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import cut
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import write_npz
from gribmill.tiles.format.restart_points import parse_restart_points
from gribmill.tiles.read.tile import read_tile
from tests.console.map.module_site import ModuleSite
from tests.make_grib import GRIDS, make_message, smooth_values, write
from tests.tiles.format.test_hostile_tiles import meta_of, rewrite
from tests.tiles.make_tile import BOSTON, GFS, HRRR, make_tile

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

READ_TILE = """async ([url, name]) => {
  const { Tile } = await import("/static/map/tile/tile.js");
  try {
    const tile = await Tile.open(url);
    const values = await tile.values(name);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return { shape: tile.shape, data: btoa(text) };
  } catch (error) {
    return { error: error.name, message: error.message };
  }
}"""
READ_ARRAY = """async ([url, name]) => {
  const { Npz } = await import("/static/map/tile/npz.js");
  try {
    const { shape, values } = await (await Npz.open(url)).array(name);
    return { kind: values.constructor.name, shape, values: [...values] };
  } catch (error) {
    return { error: error.name, message: error.message };
  }
}"""


def read_in_browser(page: Page, site: ModuleSite, path: Path | bytes, name: str) -> dict[str, Any]:
    page.goto(f"{site.url}/blank")
    url = site.add("tile.npz", path)
    found: dict[str, Any] = page.evaluate(READ_TILE, [url, name])
    return found


def values_of(found: dict[str, Any]) -> np.ndarray[Any, Any]:
    assert "error" not in found, found
    return np.frombuffer(base64.b64decode(found["data"]), np.float32).reshape(found["shape"])


def same_bits(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    return found.shape == expected.shape and bool((found.view(np.uint32) == expected.view(np.uint32)).all())


def noisy(shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Random values, some of them missing."""
    random = np.random.default_rng(7)
    values = random.normal(280, 15, shape).astype(np.float32)
    values[random.random(shape) < 0.1] = np.nan
    return values


@pytest.mark.parametrize("encoding", ["fast", "compact"])
@pytest.mark.parametrize("values", ["noisy", "smooth", "all missing", "extreme"])
def test_float32_arrays_are_read_to_the_last_bit(
    page: Page, site: ModuleSite, tmp_path: Path, encoding: Any, values: str
) -> None:
    fields = {
        "noisy": noisy(HRRR.shape),
        "smooth": smooth_values(HRRR.shape).astype(np.float32),
        "all missing": np.full(HRRR.shape, np.nan, np.float32),
        "extreme": np.tile(np.array([0.0, -0.0, 3.4e38, -3.4e38, 1e-45, np.nan], np.float32), (1059, 300))[:, :1799],
    }
    path = make_tile(tmp_path, {"t2m": (fields[values], {})}, region=replace(BOSTON, encoding=encoding))
    found = values_of(read_in_browser(page, site, path, "t2m"))
    assert same_bits(found, read_tile(path).read("t2m"))


def test_packed_arrays_are_read_to_the_last_bit(page: Page, site: ModuleSite, tmp_path: Path) -> None:
    """GRIB integers as zigzag-encoded differences; 65535 is missing."""
    values = smooth_values(GRIDS["gfs-small"].shape)
    values[10:14, 20:60] = np.nan
    grib = write(tmp_path / "made.grib2", [make_message(grid="gfs-small", short_name="2t", values=values, bits=12)])
    region = Region("world", Box(-180, -90, 180, 90), encoding="packed")
    built = cut(grib, region, tmp_path, model="gfs")
    path = built[0].tiles[0].path
    tile = read_tile(path)
    assert tile.meta.variables["t2m"].packed is not None, "the tile is not packed: this test would show nothing"
    found = values_of(read_in_browser(page, site, Path(str(path)), "t2m"))
    assert same_bits(found, tile.read("t2m"))
    assert np.isnan(found).sum() == 160


def test_older_packed_arrays_without_signs_or_differences_are_read(
    page: Page, site: ModuleSite, tmp_path: Path
) -> None:
    integers = np.random.default_rng(3).integers(0, 65536, read_tile(_plain(tmp_path)).shape).astype(np.uint16)
    for differences, zigzag in ((False, False), (True, False), (True, True)):
        path = _plain(tmp_path)
        meta = meta_of(path)
        how = {"reference": 251.125, "scale": 2.0**-6, "factor": 0.1, "differences": differences, "zigzag": zigzag}
        meta["variables"]["t2m"]["packed"] = how
        rewrite(path, meta, t2m=integers)
        assert same_bits(values_of(read_in_browser(page, site, path, "t2m")), read_tile(path).read("t2m"))


def test_large_array_with_restart_points_is_read_completely_and_alone(
    page: Page, site: ModuleSite, tmp_path: Path
) -> None:
    wide = replace(BOSTON, box=replace(BOSTON.box, west=-90.0, south=35.0))
    fields: Any = {name: (noisy(HRRR.shape), {}) for name in ("t2m", "d2m", "u10", "v10")}
    path = make_tile(tmp_path, fields, region=wide)
    entry = Archive(path).entries["t2m"]
    points = parse_restart_points(entry.extra, entry.raw_size)
    assert points is not None and len(points.checksums) > 4
    found = values_of(read_in_browser(page, site, path, "t2m"))
    assert same_bits(found, read_tile(path).read("t2m"))
    assert site.sent < 0.4 * path.stat().st_size, "more was read than the directory, meta and one of four arrays"
    assert site.requests <= 4


def test_a_member_of_an_ensemble_is_read(page: Page, site: ModuleSite, tmp_path: Path) -> None:
    path = make_tile(tmp_path, {"t2m": (noisy(GFS.shape), {})}, grid=GFS, model="gefs.p01")
    assert same_bits(values_of(read_in_browser(page, site, path, "t2m")), read_tile(path).read("t2m"))


def test_a_server_without_ranges_gives_the_same_values(page: Page, site: ModuleSite, tmp_path: Path) -> None:
    site.ranges = False
    path = _plain(tmp_path)
    assert same_bits(values_of(read_in_browser(page, site, path, "t2m")), read_tile(path).read("t2m"))


@pytest.mark.parametrize("kind", ["f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4"])
@pytest.mark.parametrize("compression", ["fast", "stored"])
def test_every_type_of_number_is_read(
    page: Page, site: ModuleSite, tmp_path: Path, kind: str, compression: Any
) -> None:
    array = np.arange(-20, 40, dtype=np.int64).astype(kind).reshape(3, 4, 5)
    write_npz(tmp_path / "a.npz", {"a": array, "b": array[0]}, compression)
    page.goto(f"{site.url}/blank")
    found = page.evaluate(READ_ARRAY, [site.add("a.npz", tmp_path / "a.npz"), "a"])
    assert found["shape"] == [3, 4, 5]
    assert found["values"] == array.ravel().tolist()


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


def one_member(name: bytes, raw: bytes, **changes: int) -> bytes:
    """A ZIP file with one stored member and altered header numbers."""
    packed, size = changes.get("packed", len(raw)), changes.get("size", len(raw))
    crc, method = changes.get("crc", zlib.crc32(raw)), changes.get("method", 0)
    rest = struct.pack("<5H3I2H", 20, changes.get("flags", 0), method, 0, 33, crc, packed, size, len(name), 0)
    local = b"PK\3\4" + rest + name + raw
    central = b"PK\1\2" + struct.pack("<H", 20) + rest[:-2] + struct.pack("<5H2I", 0, 0, 0, 0, 0, 0, 0)
    central = central[:42] + struct.pack("<I", changes.get("offset", 0)) + name
    count = changes.get("count", 1)
    end = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, count, count, len(central), len(local), 0)
    return local + central + end


def npy(header: str, body: bytes = b"") -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + body


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "empty|too short"),
    "text": (lambda _: b"Not found, sorry. " * 400, "not a tile"),
    "truncated": (lambda data: data[: len(data) // 2], "not a tile|damaged|truncated"),
    "without its end": (lambda data: data[:-4], "not a tile|damaged"),
    "with bytes behind its end": (lambda data: data + b"1234", "damaged"),
    "bit flipped in an array": (lambda data: flipped(data, data.index(b"t2m.npy") + 40_000), "damaged in array t2m"),
    "bit flipped in a name": (lambda data: flipped(data, data.rindex(b"t2m.npy") + 1), "not an array"),
    "two arrays in one place": (lambda data: _overlapping(data), "overlap|disagree"),
    "bomb": (lambda _: one_member(b"meta.npy", b"\0" * 100, size=2**30, method=8), "cannot give"),
    "more members than there are": (lambda _: one_member(b"meta.npy", b"x" * 50, count=60000), "more than it may have"),
    "path for a name": (lambda _: one_member(b"../meta.npy", b"x" * 50), "not an array"),
    "encrypted": (lambda _: one_member(b"meta.npy", b"x" * 50, flags=1), "tiles do not use"),
    "pickle": (
        lambda _: one_member(b"meta.npy", npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"x" * 8)),
        "not a plain array",
    ),
    "header that runs code": (
        lambda _: one_member(b"meta.npy", npy("{'descr': __import__('os').name, }", b"x" * 8)),
        "not a plain array",
    ),
    "shape that lies": (
        lambda _: one_member(
            b"meta.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", b"x" * 8)
        ),
        "do not fill",
    ),
    "meta that is not JSON": (
        lambda _: one_member(b"meta.npy", npy("{'descr': '|S8', 'fortran_order': False, 'shape': (), }", b"{'a': 1}")),
        "not JSON",
    ),
}


def _overlapping(data: bytes) -> bytes:
    """The second member of the directory begins where the first does."""
    directory = data.index(b"PK\1\2")
    second = data.index(b"PK\1\2", directory + 4)
    return data[: second + 42] + data[directory + 42 : directory + 46] + data[second + 46 :]


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_file_is_reported_in_a_sentence(
    page: Page, site: ModuleSite, tmp_path: Path, kind: str, complaints: Any
) -> None:
    damage, sentence = HOSTILE[kind]
    found = read_in_browser(page, site, damage(_plain(tmp_path).read_bytes()), "t2m")
    assert found.get("error") == "TileError", found
    assert any(part in found["message"] for part in sentence.split("|")), found
    assert found["message"].endswith(".")
    complaints.texts[:] = [text for text in complaints.texts if "416" not in text]  # the browser logs the status


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda meta: {**meta, "format": 2}, "has format 2"),
        (lambda meta: {**meta, "grid": {**meta["grid"], "shape": [10**9, 10**9]}}, "incomplete"),
        (lambda meta: {**meta, "grid": {**meta["grid"], "shape": [3, 4]}}, "different type or shape"),
        (lambda meta: {**meta, "grid": None}, "incomplete"),
        (lambda meta: {**meta, "variables": {}}, "no variable t2m"),
    ],
)
def test_metadata_that_contradict_the_arrays_are_reported(
    page: Page, site: ModuleSite, tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], sentence: str
) -> None:
    path = _plain(tmp_path)
    rewrite(path, change(meta_of(path)))
    found = read_in_browser(page, site, path, "t2m")
    assert found.get("error") == "TileError", found
    assert sentence in found["message"]


def test_a_tile_that_is_replaced_while_it_is_read_is_noticed(page: Page, site: ModuleSite, tmp_path: Path) -> None:
    wide = replace(BOSTON, box=replace(BOSTON.box, west=-80.0))
    path = make_tile(tmp_path, {"t2m": (noisy(HRRR.shape), {}), "a2m": (noisy(HRRR.shape), {})}, region=wide)
    page.goto(f"{site.url}/blank")
    page.evaluate(
        """async (url) => {
          const { Tile } = await import("/static/map/tile/tile.js");
          window.tile = await Tile.open(url);
        }""",
        site.add("tile.npz", path),
    )
    site.etags["tile.npz"] = '"two"'
    said = page.evaluate("() => window.tile.values('a2m').then(() => 'read', (error) => error.message)")
    assert "was replaced" in said


def test_tile_is_cached_by_the_browser(page: Page, site: ModuleSite, tmp_path: Path) -> None:
    """A reopened page gets the same version from the cache, except for ends of blocks that Chromium drops."""
    site.cached = True
    wide = replace(BOSTON, box=replace(BOSTON.box, west=-80.0))
    fields: dict[str, Any] = {"t2m": (noisy(HRRR.shape), {}), "a2m": (noisy(HRRR.shape), {})}
    path = make_tile(tmp_path, fields, region=wide)
    url, size = site.add("tile.npz", path), path.stat().st_size

    def read(version: int) -> list[Any]:
        page.goto(f"{site.url}/blank")
        return [page.evaluate(READ_TILE, [f"{url}?v={version}#{size}", name]) for name in fields]

    first, sent = read(1), site.sent
    assert read(1) == first
    assert size <= sent <= site.sent < sent + size / 20
    site.files["tile.npz"] = b"another version"
    assert "error" in read(2)[0]


def test_missing_tile_is_reported(page: Page, site: ModuleSite, complaints: Any) -> None:
    page.goto(f"{site.url}/blank")
    found = page.evaluate(READ_TILE, ["/files/none.npz", "t2m"])
    assert found == {"error": "TileError", "message": "The server no longer has this tile."}
    assert "404" in complaints.texts.pop()  # the browser logs the status itself


def _plain(folder: Path) -> Path:
    return make_tile(
        folder, {"t2m": (noisy(HRRR.shape), {})}, region=replace(BOSTON, box=replace(BOSTON.box, west=-76.0))
    )
