"""Fields in the terminal."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from gribmill.draw.drawable import Drawable
from gribmill.draw.terminal.picture import draw_terminal
from tests.draw.make_fields import WORDS, northeast, regular

pytestmark = pytest.mark.slow


def shown(field: Drawable, width: int = 80, *, colours: str | None = None, encoding: str = "utf-8") -> str:
    """The printed text, with escape codes only if `colours` names a colour system."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=file, width=width, force_terminal=colours is not None, color_system=colours)  # type: ignore[arg-type]
    draw_terminal(field, console)
    file.flush()
    return raw.getvalue().decode(encoding)


def ramp(ny: int = 20, nx: int = 40) -> np.ndarray:
    """Rises eastward from 0 °C to 20 °C."""
    return np.broadcast_to(np.linspace(273.15, 293.15, nx, dtype=np.float32), (ny, nx)).copy()


def test_extremes_and_their_places_are_named() -> None:
    values = ramp()
    values[3, 5], values[17, 30] = 250.15, 310.15
    text = shown(regular(values))
    assert "min -23.0 at 41.5°N 7.5°W" in text and "max 37.0 at 48.5°N 5°E" in text


def test_title_units_and_times_are_shown() -> None:
    text = shown(northeast(long_name="Temperature at 2 m", **WORDS))
    assert "Temperature at 2 m [°C]" in text
    assert "HRRR  2023-07-22 06Z  +001 h  valid Sat 2023-07-22 07:00 UTC  ne · Northeast" in text


def test_no_colour_means_no_escape_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in shown(regular(ramp()))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(regular(ramp()), colours="truecolor")


def test_north_is_up_and_shades_darken_with_the_value() -> None:
    values = np.repeat(np.linspace(273.15, 293.15, 20, dtype=np.float32)[:, None], 40, axis=1)
    picture = [line[7:] for line in shown(regular(values)).splitlines() if line[7:] and len(set(line[7:])) == 1]
    assert "@" in picture[0] + picture[1] and picture[-1][0] in " ."
    order = [" .:-=+*%#@".index(line[0]) for line in picture]
    assert order == sorted(order, reverse=True) and len(set(order)) > 5


def test_true_colours_are_written_where_the_terminal_knows_them() -> None:
    text = shown(regular(ramp()), colours="truecolor")
    assert "▀" in text and "\x1b[38;2;" in text and "48;2;" in text


def test_terminals_with_256_colours_get_those() -> None:
    # A separate palette: rich remembers the codes of a style, whichever console first asked for them.
    text = shown(regular(ramp() - 250, units="m s-1", palette="wind"), colours="256")
    assert "\x1b[38;5;" in text and "38;2;" not in text


def test_terminals_with_few_colours_get_shades() -> None:
    assert "▀" not in shown(regular(ramp()), colours="standard")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_nothing_is_wider_than_the_terminal(width: int, colours: str | None) -> None:
    raw = shown(regular(ramp()), width, colours=colours)
    assert all(len(line) <= width for line in _without_codes(raw).splitlines())


def test_missing_points_look_like_nothing_else() -> None:
    values = ramp()
    values[:10, :20] = np.nan
    bare = shown(regular(values))
    assert "//////////" in bare and "/ 200 of 800 points missing" in bare
    assert "min 0.0 at 2 % of the points" in bare  # many share it: no single place is named
    coloured = shown(regular(values), colours="truecolor")
    assert "··········" in _without_codes(coloured)


def test_the_coast_is_drawn_darker_than_the_field_round_it() -> None:
    """A constant field over the Iberian coast: only the coast makes a second colour."""
    field = regular(np.full((40, 60), 295.0), west=-12, south=36, step=0.25)
    raw = io.StringIO()
    for coast in (True, False):
        draw_terminal(field, Console(file=raw, width=80, force_terminal=True, color_system="truecolor"), coast=coast)
    with_coast, without = raw.getvalue().split("max 21.9")[:2]
    assert len(_colours(with_coast)) > len(_colours(without))


@pytest.mark.parametrize(
    "values",
    [
        np.full((20, 30), np.nan),
        np.full((20, 30), 281.0),
        np.linspace(270, 290, 30)[None, :],
        np.linspace(270, 290, 30)[:, None],
        np.array([[281.0]]),
        np.array([[np.nan]]),
    ],
    ids=["all missing", "constant", "one row", "one column", "one point", "one missing point"],
)
@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_odd_fields_are_drawn(values: np.ndarray, colours: str | None) -> None:
    text = shown(regular(values), colours=colours)
    assert ("points missing" in text) == bool(np.isnan(values).any())
    assert ("max" in text) == bool(np.isfinite(values).any())


def test_a_terminal_without_unicode_gets_ascii_alone() -> None:
    text = shown(regular(ramp(), units="K"), encoding="ascii")
    assert "[C]" in text and text.isascii()


def test_in_ascii_the_picture_and_its_labels_stay_in_their_columns() -> None:
    values = np.full((20, 80), 280.0, dtype=np.float32)
    values[:, 0] = 300.0
    plain, full = (shown(regular(values), encoding=encoding).splitlines() for encoding in ("ascii", "utf-8"))
    assert [line.index("@") for line in plain if "@" in line] == [line.index("@") for line in full if "@" in line]
    carets = [[at for at, letter in enumerate(line) if letter == "^"] for line in (*plain, *full) if "^" in line]
    assert carets[0] == carets[1] and len(carets[0]) > 1


def _without_codes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _colours(text: str) -> set[str]:
    return set(re.findall(r"38;2;\d+;\d+;\d+", text))
