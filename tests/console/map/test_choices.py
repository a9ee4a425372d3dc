"""The choices above the map: long lists are grouped and can be searched, by keyboard too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.console.map.forecast_root import EAST, MEMBERS
from tests.console.map.module_site import ModuleSite
from tests.console.map.visit import opened, wait_for_map
from tests.server.live_server import LiveServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

VARIABLES = [
    ("t_500", "Temperature", "500 mb"), ("t_850", "Temperature", "850 mb"), ("u_850", "Eastward wind", "850 mb"),
    ("t2m", "Temperature at 2 m", "2 m above ground"), ("mslp", "Pressure", "mean sea level"),
    ("tcc", "Cloud cover", "entire atmosphere"), ("lcc", "Low clouds", "low cloud layer"),
    ("st", "Soil temperature", "0-0.1 m below ground"), ("pv", "Height", "PV=2e-06 (Km^2/kg/s) surface"),
]  # fmt: skip
CALL = """async ([name, values]) => {
  const groups = await import("/static/map/page/groups.js");
  return groups[name](...values);
}"""


def call(page: Page, site: ModuleSite, name: str, *values: Any) -> Any:
    page.goto(f"{site.url}/blank")
    return page.evaluate(CALL, [name, values])


def grouped(page: Page, site: ModuleSite) -> Any:
    listed = [{"name": name, "title": title, "level": level} for name, title, level in VARIABLES]
    return call(page, site, "variableGroups", listed)


def test_variables_are_grouped_by_level_from_the_ground_up(page: Page, site: ModuleSite) -> None:
    names = {title: [name for name, _ in rows] for title, rows in grouped(page, site)}
    assert list(names) == [
        "Surface and near the ground", "Whole atmosphere", "Clouds", "850 hPa", "500 hPa", "Soil", "Other levels",
    ]  # fmt: skip
    assert names["850 hPa"] == ["t_850", "u_850"] and names["Other levels"] == ["pv"]


def test_a_search_needs_every_word_and_keeps_what_is_chosen(page: Page, site: ModuleSite) -> None:
    groups = grouped(page, site)
    found = call(page, site, "matching", groups, "TEMP 850", "tcc")
    assert [name for _, rows in found for name, _ in rows] == ["tcc", "t_850"]
    assert call(page, site, "matching", groups, "nothing", None) == []


def test_members_of_an_ensemble_are_one_group(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, f"model={MEMBERS[0]}&region={EAST.name}")
    group = page.locator(f'select[name=model] optgroup[label="gefs ({len(MEMBERS)} members)"] option')
    assert group.all_inner_texts() == [*MEMBERS]
    assert page.locator("select[name=model] > option").all_inner_texts() == ["gfs", "hrrr"]


def test_a_variable_is_found_by_typing(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    search = page.locator("#variable-filter")
    assert not search.is_visible(), "a short list needs none"
    search.evaluate("(element) => { element.closest('label').hidden = false; }")
    search.fill("precipitation type")
    assert page.locator("#variable-count").inner_text().startswith("1 of ")
    search.press("Enter")
    page.wait_for_url("**variable=ptype**")
    wait_for_map(page)
    search.fill("no such thing")
    assert page.locator("#variable-count").inner_text() == "none"
    assert page.locator("select[name=variable]").input_value() == "ptype"
    search.press("Escape")
    assert page.locator("select[name=variable] option").count() > 5
    search.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.name") == "variable"
