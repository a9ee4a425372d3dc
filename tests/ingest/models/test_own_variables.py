"""User-defined variables: what is allowed, what is refused, and which index lines they match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gribmill.config_file import SettingsError
from gribmill.grib.names.lexicon import lexicon, use_own_variables
from gribmill.grib.names.own_variables import OwnVariableError, own_variables
from gribmill.ingest.download.verify_message import claim_of
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import UnknownVariable, select, wanted
from gribmill.pipeline.models import configured_models, use_configured_variables
from gribmill.settings.load import load_settings
from gribmill.settings.schema import Settings
from tests.ingest.make_index import noaa_lines
from tests.real_files import real

POP: dict[str, Any] = {
    "long_name": "Chance of rain", "units": "%", "noaa": "APCP", "level": "surface", "statistic": "accum",
    "extra": "prob >0.254:prob fcst 255/255",
}  # fmt: skip
THUNDER: dict[str, Any] = {
    "long_name": "Thunder", "units": "%", "noaa": "TSTM", "level": "surface", "grib2": "0.19.2",
    "time": "11-12 hour acc fcst", "extra": "probability forecast",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_own_variables_afterwards() -> Iterator[None]:
    yield
    use_own_variables(())


def use(**tables: dict[str, Any]) -> None:
    use_configured_variables(Settings.model_validate({"variables": tables}))


def lines_of(text_lines: list[str], *names: str) -> dict[str, str]:
    inventory = parse_index("noaa_idx", noaa_lines(text_lines), "x")
    chosen = select(inventory, wanted(names), 12)
    return {name: f"{entry.element}:{entry.window}:{entry.extra}" for name, entry in chosen.found.items()}


def test_real_lines_of_the_national_blend_are_found_by_their_own_words() -> None:
    data = real("idx/bhar.2026080512.blend.core.f012.co.excerpt.idx").read_bytes()
    use(
        pop=POP,
        thunder=THUNDER,
        low_ceiling={"long_name": "x", "units": "%", "noaa": "CEIL", "level": "cloud ceiling", "below": 304.8},
        sleet={"long_name": "x", "units": "%", "noaa": "PTYPE", "level": "surface", "above": 3, "below": 4},
        t2m_sd={"long_name": "x", "units": "K", "noaa": "TMP", "level": "2 m above ground", "extra": "ens std dev"},
        cape_p10={"long_name": "x", "units": "J kg-1", "noaa": "CAPE", "level": "surface", "percentile": 10},
        snow_p1={
            "long_name": "x", "units": "m", "noaa": "ASNOW", "level": "surface", "time": "11-12 hour acc fcst",
            "percentile": 1,
        },
        ice={"long_name": "x", "units": "m", "noaa": "FICEAC", "grib2": "0.1.123", "level": "surface", "hours": 1,
             "statistic": "accum"},
        twilight={"long_name": "x", "units": "K", "grib2": "0.0.206@7", "level": "surface",
                  "noaa": "var discipline=0 center=7 local_table=1 parmcat=0 parm=206"},
    )  # fmt: skip
    names = ("pop", "pop_6h", "pop_12h", "thunder", "low_ceiling", "sleet", "t2m_sd", "cape_p10", "snow_p1", "ice")
    chosen = select(parse_index("noaa_idx", data, "nbm"), wanted((*names, "twilight", "t2m", "tp_6h")), 12)
    assert {name: entry.number for name, entry in chosen.found.items()} == {
        "pop": 77, "pop_6h": 78, "pop_12h": 79, "thunder": 85, "low_ceiling": 16, "sleet": 81, "t2m_sd": 193,
        "cape_p10": 73, "snow_p1": 120, "ice": 41, "twilight": 204, "t2m": 192, "tp_6h": 100,
    }  # fmt: skip
    assert chosen.missing == ()


def test_probability_is_never_confused_with_the_quantity_or_another_threshold() -> None:
    use(pop=POP)
    plain = "APCP:surface:11-12 hour acc fcst:"
    assert lines_of([plain], "pop") == {}
    assert lines_of(["APCP:surface:11-12 hour acc fcst:prob >2.54:prob fcst 255/255"], "pop") == {}
    both = [plain, "APCP:surface:11-12 hour acc fcst:prob >0.254:prob fcst 1/7"]
    assert lines_of(both, "pop", "tp_bucket") == {
        "pop": "APCP:11-12 hour acc fcst:prob >0.254:prob fcst 1/7",
        "tp_bucket": "APCP:11-12 hour acc fcst:",
    }


def test_keys_find_the_same_line_as_words() -> None:
    use(
        by_keys={
            "long_name": "x", "units": "%", "grib2": "0.1.8", "level": "kind 1", "statistic": "accum", "hours": 6,
            "above": 0.254,
        }
    )  # fmt: skip
    rows = [f"APCP:surface:{span} hour acc fcst:prob >0.254:prob fcst 255/255" for span in ("6-12", "11-12")]
    assert lines_of(rows, "by_keys") == {"by_keys": "APCP:6-12 hour acc fcst:prob >0.254:prob fcst 255/255"}


def test_a_variable_of_ecmwf_is_found_by_param_and_level() -> None:
    use(
        t_300_own={
            "long_name": "x", "units": "K", "ecmwf": "t", "levtype": "pl", "levelist": "333", "grib2": "0.0.99"
        },
        orog_sd={"long_name": "x", "units": "m", "ecmwf": "sdor", "levtype": "sfc", "grib2": "0.3.20@98"},
    )  # fmt: skip
    row = '{{"type": "fc", "step": "6", "levtype": "{}", {}"param": "{}", "_offset": {}, "_length": 200}}\n'
    data = row.format("pl", '"levelist": "333", ', "t", 0) + row.format("sfc", "", "sdor", 200)
    inventory = parse_index("ecmwf_index", data.encode(), "x")
    chosen = select(inventory, wanted(["t_300_own", "orog_sd"]), 6, extras=("fc",))
    assert {name: entry.level for name, entry in chosen.found.items()} == {"t_300_own": "pl 333", "orog_sd": "sfc"}


def test_a_downloaded_message_must_have_the_threshold() -> None:
    use(pop=POP)
    inventory = parse_index(
        "noaa_idx", noaa_lines(["APCP:surface:11-12 hour acc fcst:prob >0.254:prob fcst 255/255"]), "x"
    )
    (want,) = wanted(["pop"])
    claim = claim_of(want, select(inventory, [want], 12).found["pop"])
    assert claim.variant is not None and claim.variant.above == 0.254
    assert claim.parameters == ((0, 1, 8),)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("t2m", {}, "[variables.t2m]: t2m is a variable of gribmill itself; choose another name"),
        ("t_850", {}, "t_850 is a variable of gribmill itself"),
        ("tp_6h", {}, "tp_6h is a variable of gribmill itself"),
        ("ceil", {}, "ceil is a variable of gribmill itself"),
        ("g2_0_1_8", {}, "gribmill itself forms names such as g2_0_1_8"),
        ("rain_bucket", {}, "gribmill itself forms names such as rain_bucket"),
        ("Rain", {}, "a name has lower-case letters"),
        ("rain_3h", {"hours": 6}, "the name says 3h, but its time range is another"),
        ("pop", {"level": "surfase"}, "is not a level as NOAA's indexes write it; did you mean 'surface'?"),
        ("pop", {"level": "somewhere"}, "such as 'surface', '2 m above ground' or '500 mb'"),
        ("pop", {"level": None}, "it has no level"),
        ("pop", {"noaa": "NOSUCH"}, "the GRIB parameter of NOSUCH is not known; add grib2 ="),
        ("pop", {"noaa": None}, "it has no source"),
        ("pop", {"grib2": "1.8"}, "'1.8' is not a GRIB parameter, such as '0.1.8'"),
        ("pop", {"percentile": 5, "above": 3.0}, "a field is one of these"),
        ("pop", {"above": 2.54}, "is the probability of values above 0.254, but its keys say"),
        ("pop", {"extra": None, "above": 4.0, "below": 3.0}, "no value is both"),
        ("pop", {"time": "6 hours", "statistic": None}, "time = '6 hours' is not a time as an index writes it"),
        ("pop", {"time": "6-12 hour acc fcst", "hours": 6, "statistic": "accum"}, "give either time, or statistic"),
        ("pop", {"hours": 6, "statistic": None}, "hours is the length of a time range: give its statistic too"),
        ("pop", {"range": [3.0, 3.0]}, "does not increase"),
        ("rain", {"extra": None}, "gribmill has it already, as tp"),
        ("noise", {"extra": "ens std dev"}, "the name of a spread has a part that says so"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence(name: str, change: dict[str, Any], sentence: str) -> None:
    table = {key: value for key, value in {**POP, **change}.items() if value is not None}
    if name == "rain":
        table["since"] = "run"
    with pytest.raises(OwnVariableError) as caught:
        own_variables({name: table})
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_invalid_palette_or_array_name_is_refused() -> None:
    with pytest.raises(OwnVariableError, match="there is no palette pink; use one of"):
        use(pop={**POP, "palette": "pink"})
    with pytest.raises(OwnVariableError, match="tiles have an array of that name"):
        use(lat=POP)


def test_a_length_of_another_own_variable_is_not_a_name() -> None:
    with pytest.raises(OwnVariableError, match="pop_6h is what pop over that time is called"):
        own_variables({"pop": POP, "pop_6h": {**POP, "hours": 6}})


def write(folder: Path, settings: str, more: str | None = None) -> Path:
    config = folder / "gribmill.toml"
    config.write_text(settings)
    if more is not None:
        (folder / "more.toml").write_text(more)
    return config


def test_unknown_keys_and_missing_ones_name_the_setting(tmp_path: Path) -> None:
    config = write(tmp_path, '[variables.pop]\nlong_name = "x"\nunits = "%"\nlevell = "surface"\n')
    with pytest.raises(SettingsError, match=r"variables\.pop\.levell is not a setting .*did you mean level\?"):
        load_settings(config)
    with pytest.raises(SettingsError, match=r"variables\.pop\.units"):
        load_settings(write(tmp_path, '[variables.pop]\nlong_name = "x"\n'))


def test_a_file_of_variables_is_part_of_the_settings(tmp_path: Path) -> None:
    table = 'long_name = "x"\nunits = "%"\nnoaa = "APCP"\nlevel = "surface"\nstatistic = "accum"\nabove = 1\n'
    config = write(tmp_path, 'variables_file = "more.toml"\n[models.nbm_co]\nvariables = ["wet"]\n', f"[wet]\n{table}")
    settings = Settings.model_validate_json(load_settings(config).model_dump_json())
    assert configured_models(settings)["nbm_co"].variables == ("wet",)
    assert lexicon().get("wet") is not None
    with pytest.raises(SettingsError, match=r"\[variables.wet\] is in the settings and in .*more.toml"):
        load_settings(write(tmp_path, f'variables_file = "more.toml"\n[variables.wet]\n{table}'))
    with pytest.raises(SettingsError, match="variables_file: there is no file"):
        load_settings(write(tmp_path, 'variables_file = "none.toml"\n'))


def test_settings_without_variables_forget_those_of_others() -> None:
    use(pop=POP)
    assert wanted(["pop"])[0].name == "pop"
    use_configured_variables(Settings())
    with pytest.raises(UnknownVariable):
        wanted(["pop"])
