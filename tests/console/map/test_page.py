"""The map page in a real browser, over a real server: what it shows is what the tiles hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from gribmill.console.render import STATIC
from tests.console.map.forecast_root import EAST, HOSTILE, HOURS, MEMBERS, RUN
from tests.console.map.visit import cells_of, opened, point_at, rest, tile_of, wait_for_map
from tests.server.live_server import LiveServer
from tests.servers.chromium import Complaints, serious_findings
from tests.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

pytestmark = pytest.mark.process

MOST_SCRIPT_BYTES = 250_000


@pytest.mark.parametrize("plane", ["native", "web"])
@pytest.mark.parametrize("model", ["hrrr", "gfs"])
def test_value_under_the_pointer_matches_the_tile(page: Page, map_server: LiveServer, model: str, plane: str) -> None:
    opened(page, map_server, f"model={model}&region=east&variable=t2m&minutes=60&plane={plane}")
    values = tile_of(map_server, model, 1).read("t2m")
    found = list(cells_of(page))
    assert len({cell[:2] for cell in found}) > 12
    for row, column, value in found:
        expected = values[row, column]
        assert value.tobytes() == expected.tobytes() or (np.isnan(value) and np.isnan(expected))


@pytest.mark.parametrize("plane", ["native", "web"])
def test_place_under_the_pointer_matches_the_grid(page: Page, map_server: LiveServer, plane: str) -> None:
    opened(page, map_server, f"model=hrrr&region=east&variable=t2m&plane={plane}")
    lat, lon = tile_of(map_server, "hrrr").latlon()
    for x, y in ((0.4, 0.4), (0.55, 0.6)):
        found = point_at(page, x, y)
        said = page.locator("#readout").inner_text()
        place = re.search(r"at ([\d.]+)° N, ([\d.]+)° W", said)
        assert place is not None, said
        cell = int(found["row"]), int(found["column"])
        assert float(place[1]) == pytest.approx(lat[cell], abs=0.0051)
        assert -float(place[2]) == pytest.approx(lon[cell], abs=0.0051)


def test_north_is_up_and_east_is_right(page: Page, map_server: LiveServer) -> None:
    for model, plane in (("hrrr", "native"), ("gfs", "web")):
        opened(page, map_server, f"model={model}&region=east&plane={plane}")
        middle, higher, farther = (point_at(page, x, y) for x, y in ((0.5, 0.5), (0.5, 0.3), (0.6, 0.5)))
        assert int(higher["row"]) > int(middle["row"])
        assert int(farther["column"]) > int(middle["column"])


def test_difference_uses_the_nearest_points(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m&compare=difference&other=gfs&minutes=120")
    ours, theirs = tile_of(map_server, "hrrr", 2), tile_of(map_server, "gfs", 2)
    first, second = ours.read("t2m").astype(np.float64), theirs.read("t2m").astype(np.float64)
    lat, lon = ours.latlon()
    rows, columns = theirs.locate(lat, lon)
    checked = 0
    for row, column, value in cells_of(page):
        j, i = rows[row, column], columns[row, column]
        if abs(j % 1 - 0.5) < 1e-6 or abs(i % 1 - 0.5) < 1e-6:
            continue
        inside = np.isfinite(j) and np.isfinite(i)
        other = second[int(np.floor(j + 0.5)), int(np.floor(i + 0.5))] if inside else np.nan
        expected = np.float32((first[row, column] - 273.15) - (other - 273.15))
        assert value == expected or (np.isnan(value) and np.isnan(expected))
        checked += bool(np.isfinite(expected))
    assert checked > 8
    assert "nearest grid point" in page.locator("#note").inner_text()


def test_two_models_side_by_side_share_the_view_and_the_scale(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m&compare=side&other=gfs&minutes=60")
    captions = page.locator("#maps figcaption").all_inner_texts()
    assert [caption.split()[0] for caption in captions] == ["HRRR", "GFS"]
    labels = [scale.get_attribute("aria-label") for scale in page.locator(".map-legend .scale").all()]
    assert labels[0] == labels[1]
    point_at(page, 0.5, 0.5)
    assert re.search(r"HRRR .* · GFS ", page.locator("#readout").inner_text())


def test_play_shows_one_hour_after_the_other_until_it_is_paused(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    page.evaluate(
        """() => {
          const label = document.getElementById("hour-label");
          window.hours = [];
          const note = () => {
            const text = label.textContent.split(",")[0];
            if (window.hours.at(-1) !== text) window.hours.push(text);
          };
          new MutationObserver(note).observe(label, { childList: true });
        }"""
    )
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => window.hours.length >= 5")
    page.get_by_role("button", name="Pause").click()
    assert page.evaluate("() => window.hours")[:5] == ["+1 h", "+2 h", "+3 h", "+0 h", "+1 h"]
    wait_for_map(page)
    still = page.locator("#hour-label").inner_text()
    rest(page, 1200)
    assert page.locator("#hour-label").inner_text() == still


def test_hours_are_read_once_and_ahead(page: Page, map_server: LiveServer) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        path = urlsplit(request.url).path
        asked.extend([path] if path.startswith("/api/v1/tiles/") else [])

    page.on("request", note)
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    page.get_by_role("button", name="Hour after").click()
    page.wait_for_function("() => document.getElementById('hour-label').textContent.startsWith('+1 h')")
    wait_for_map(page)

    def tiles() -> set[str]:
        rest(page, 100)
        return {path.rsplit("/", 1)[1] for path in asked}

    wait_until(lambda: tiles() == {"000.npz", "001.npz", "002.npz", "003.npz"}, what="every hour to be read")
    rest(page)
    before = len(asked)
    for _ in HOURS:
        page.get_by_role("button", name="Hour after").click()
        wait_for_map(page)
    assert len(asked) == before


def test_url_restores_the_exact_view(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=gfs&region=east")
    for name, value in {"variable": "ws10", "wind": "barbs", "plane": "web", "units": "us", "colours": "usual"}.items():
        page.locator(f"select[name={name}]").select_option(value)
        wait_for_map(page)
    page.get_by_label("Isobars").check()
    page.locator("#hour").fill("2")
    wait_for_map(page)
    panel = page.locator(".map-panel").first
    panel.focus()
    for key in ("+", "+", "+", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    rest(page)
    before, address = point_at(page, 0.4, 0.6), page.url
    page.goto("about:blank")
    page.goto(address)
    wait_for_map(page)
    assert point_at(page, 0.4, 0.6) == before
    assert page.url == address
    chosen = {
        name: page.locator(f"select[name={name}]").input_value() for name in ("variable", "wind", "plane", "units")
    }
    assert chosen == {"variable": "ws10", "wind": "barbs", "plane": "web", "units": "us"}
    assert page.get_by_label("Isobars").is_checked()
    assert page.locator("#hour-label").inner_text().startswith("+2 h")


def test_back_returns_to_the_previous_choice(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    page.locator("select[name=variable]").select_option("mslp")
    wait_for_map(page)
    box = page.locator(".map-panel").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator("#forecast figure").first.wait_for()
    page.go_back()
    page.locator("#forecast").wait_for(state="hidden")
    assert page.locator("select[name=variable]").input_value() == "mslp"
    page.go_back()
    page.wait_for_function("() => document.querySelector('select[name=variable]').value === 't2m'")
    page.go_forward()
    page.wait_for_function("() => document.querySelector('select[name=variable]').value === 'mslp'")


def test_times_are_shown_in_utc_and_where_the_reader_is(chromium: Browser, map_server: LiveServer) -> None:
    context = chromium.new_context(timezone_id="Asia/Kolkata")
    page = context.new_page()
    opened(page, map_server, "model=hrrr&region=east&variable=t2m&minutes=60&point=38.4,-84.9")
    assert "2026-11-18 07:00 UTC (Wed 12:30" in page.locator("#hour-label").inner_text()
    page.get_by_text("The numbers").click()
    assert page.locator("#forecast tr").nth(1).locator("td").all_inner_texts()[:2] == [
        "2026-11-18 06:00",
        "2026-11-18 11:30",
    ]
    context.close()


def test_invalid_url_parameters_show_what_is_available(page: Page, map_server: LiveServer) -> None:
    nonsense = "model=../x&run=1&region=%3Cb%3E&minutes=-4&plane=moon&at=1,b,3&point=9&wind=9&other=%00&variable=zz"
    opened(page, map_server, nonsense)
    assert page.locator("select[name=model]").input_value() == "gefs.c00"
    assert page.locator("select[name=plane]").input_value() == "native"


def test_click_shows_the_forecast_of_the_api(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    box = page.locator(".map-panel").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.53, box["y"] + box["height"] * 0.46)
    page.locator("#forecast figure").first.wait_for()
    point = re.search(r"point=([-\d.]+)%2C([-\d.]+)", page.url)
    assert point is not None
    query = {"lat": point[1], "lon": point[2], "model": "hrrr", "run": RUN, "region": "east", "units": "metric"}
    answer = httpx.get(f"{map_server.url}/api/v1/point", params=query, trust_env=False).json()
    page.get_by_text("The numbers").click()
    header, *rows = [row.locator("th, td").all_inner_texts() for row in page.locator("#forecast tr").all()]
    column = next(n for n, text in enumerate(header) if text.startswith("t2m"))
    shown = [row[column].replace("−", "-") for row in rows]
    expected = [hour["t2m"] for hour in answer["hours"]]
    for text, value in zip(shown, expected, strict=True):
        assert text == "–" if value is None else float(text) == pytest.approx(value, rel=1e-4)
    titles = page.locator("#forecast figcaption").all_inner_texts()
    assert any("Temperature" in title for title in titles) and any("Precipitation" in title for title in titles)
    page.get_by_role("button", name="Close").click()
    assert not page.locator("#forecast").is_visible()
    assert "point=" not in page.url


def test_an_ensemble_is_shown_as_plumes(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, f"model={MEMBERS[1]}&region=east&variable=t2m&point=38.4,-84.9")
    plumes = page.locator("#forecast .plumes")
    plumes.wait_for()
    assert f"{len(MEMBERS)} members" in plumes.inner_text()
    assert plumes.locator("path.member").count() == len(MEMBERS)
    assert plumes.locator("path.band").count() == 1
    assert plumes.locator("path.middle").count() == 1


def test_markup_in_a_tile_is_shown_as_text(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=hostile")
    assert HOSTILE in page.locator("figcaption").first.inner_text()
    assert page.locator("img").count() == 0
    point_at(page, 0.5, 0.5)
    assert HOSTILE in page.locator("#readout").inner_text()


def test_map_can_be_used_by_keyboard(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    page.locator(".map-panel").first.focus()
    page.keyboard.press("+")
    first = page.locator("#readout").evaluate("(element) => ({...element.dataset})")
    assert page.locator("#readout").get_attribute("aria-live") == "polite"
    page.keyboard.press("ArrowRight")
    second = page.locator("#readout").evaluate("(element) => ({...element.dataset})")
    assert int(second["column"]) > int(first["column"])
    page.keyboard.press("Enter")
    page.locator("#forecast figure").first.wait_for()
    page.locator("#hour").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.getElementById('hour-label').textContent.startsWith('+1 h')")


def test_two_fingers_zoom_and_one_moves(chromium: Browser, map_server: LiveServer) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    panel = page.locator(".map-panel").first
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = context.new_cdp_session(page)

    def fingers(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": left, "y": top, "id": n} for n, (left, top) in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def scale() -> float:
        rest(page)
        at = re.search(r"at=([-\d.]+)%2C([-\d.]+)%2C([-\d.]+)", page.url)
        assert at is not None, page.url
        longitudes.append(float(at[2]))
        return float(at[3])

    longitudes: list[float] = []
    fingers("touchStart", (x - 20, y), (x + 20, y))
    for spread in (30, 45, 60, 80):
        fingers("touchMove", (x - spread, y), (x + spread, y))
    fingers("touchEnd")
    first = scale()
    fingers("touchStart", (x, y))
    for moved in (10, 30, 60):
        fingers("touchMove", (x - moved, y))
    fingers("touchEnd")
    assert scale() == pytest.approx(first)
    assert longitudes[1] > longitudes[0] + 0.5
    assert not page.locator("#forecast").is_visible()
    page.locator("#zoom-all").click()
    rest(page)
    assert "at=" not in page.url
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(
    page: Page, map_server: LiveServer, complaints: Complaints, scheme: Any, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    opened(page, map_server, f"model={MEMBERS[0]}&region=east&wind=particles&compare=side&other=gfs&point=38.4,-84.9")
    page.locator("#forecast .plumes").wait_for()
    assert serious_findings(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints.texts == []


def test_scripts_are_within_their_budget() -> None:
    assert sum(path.stat().st_size for path in STATIC.rglob("*.js")) < MOST_SCRIPT_BYTES


def test_no_file_of_the_map_is_loaded_from_another_host() -> None:
    for path in STATIC.rglob("map*/**/*.js"):
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", path.read_text()), path


def test_tiles_of_a_run_are_listed_with_their_urls(map_server: LiveServer) -> None:
    query = {"model": "hrrr", "run": RUN, "region": EAST.name}
    answer = httpx.get(f"{map_server.url}/console/map/tiles", params=query, trust_env=False)
    assert [one["minutes"] for one in answer.json()] == [60 * hour for hour in HOURS]
    assert httpx.head(f"{map_server.url}{answer.json()[0]['url']}", trust_env=False).status_code == 200
    for wrong in ({**query, "run": "20269999_99"}, {**query, "model": "../x"}, {**query, "region": "a/b"}):
        assert httpx.get(f"{map_server.url}/console/map/tiles", params=wrong, trust_env=False).status_code == 422
    nothing = httpx.get(f"{map_server.url}/console/map/tiles", params={**query, "run": "20200101_00"}, trust_env=False)
    assert nothing.json() == []


@pytest.mark.parametrize("box", ["1,2,3", "a,b,c,d", "0,50,10,40", "nan,0,1,2", "1" * 200])
def test_invalid_box_is_refused(map_server: LiveServer, box: str) -> None:
    answer = httpx.get(f"{map_server.url}/console/map/coastlines.npz", params={"box": box}, trust_env=False)
    assert answer.status_code == 422
    assert "detail" in answer.json()
