"""The keys of one field: parameter, level, times, statistic, ensemble member and ECMWF's labels.

The identity of a field is what identifies it besides its quantity: centre, process, labels, member or statistic,
threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from gribmill.grib.sections import Octets, unsigned

Statistic = Literal[
    "instant", "avg", "accum", "max", "min", "diff", "sdiff", "rms", "sd", "cov", "ratio", "clim", "sum", "other"
]
# Where an accumulation begins: at the start of the run, or at a later reset.
AccumulationStart = Literal["run", "bucket"]
# A statistic of many analyses or forecasts.
OfMany = Literal["mean", "sum", "sd", "variance"]
# Seconds in a unit of time that has the same number in both editions. Months and longer have no fixed length.
UNIT_SECONDS = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200}
# GRIB2: discipline, category, number. GRIB1: table, number.
Parameter = tuple[int, ...]

NCEP = 7
ECMWF = 98
# Parameter tables of GRIB1 from here on are those of a centre. Fields of other centres in ECMWF's archive have ECMWF as
# subcentre, and use its tables.
LOCAL_TABLE1 = 128
# Other offices of the National Weather Service and NOAA's laboratories use NCEP's local numbers.
NOAA = frozenset({NCEP, 8, 9, 59, 161})


@dataclass(frozen=True, slots=True)
class Level:
    """A fixed surface: its kind (code table 4.5; GRIB1 kinds are converted) and its value in SI units."""

    kind: int
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Probability:
    """The probability of a value below, above or between the limits (code table 4.9)."""

    kind: int
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one field."""

    edition: int
    centre: int
    process: int | None
    parameter: Parameter
    template: int | None
    reference: datetime
    level: Level | None = None
    level2: Level | None = None
    start: timedelta | None = None
    end: timedelta | None = None
    # The start that the message states, if it is known to be wrong.
    stated_start: timedelta | None = None
    statistic: Statistic = "instant"
    member: int | None = None
    members: int | None = None
    derived: int | None = None
    probability: Probability | None = None
    percentile: int | None = None
    # Octets that select a part of the quantity (a range of wave periods, a chemical constituent).
    selector: bytes = b""
    subcentre: int | None = None
    # The kind of member (code table 4.6), if stated.
    member_kind: int | None = None
    # ECMWF's labels, if the message has them.
    mars: MarsLabels | None = None
    # A statistic of many analyses or forecasts, such as a monthly mean.
    of_many: OfMany | None = None

    @property
    def valid(self) -> datetime | None:
        """The valid time: the end of the time range. None if it is not stated or out of range for a datetime."""
        try:
            return None if self.end is None else self.reference + self.end
        except OverflowError:
            return None

    @property
    def tables(self) -> int:
        """The centre whose tables its parameter is from."""
        archived = self.edition == 1 and self.subcentre == ECMWF and self.parameter[0] >= LOCAL_TABLE1
        return ECMWF if archived else self.centre

    @property
    def ensemble_member(self) -> int | None:
        """The number of the member, 0 for a control; None outside ensembles."""
        # Outside ensembles, ECMWF's GRIB1 states member 0 of 0; GRIB2 uses other templates.
        return None if (self.edition, self.member, self.members) == (1, 0, 0) else self.member

    @property
    def ensemble_mean(self) -> bool:
        """Whether it is an ensemble mean, weighted or not (code table 4.7)."""
        return self.derived in MEANS

    @property
    def window_minutes(self) -> int:
        """The length of the time range in minutes, rounded down; 0 for an instant, or if it is not stated."""
        if self.start is None or self.end is None:
            return 0
        return max(0, int((self.end - self.start).total_seconds() // 60))

    @property
    def spread(self) -> bool:
        """Whether it is a spread, minimum or other ensemble statistic but a mean (code table 4.7)."""
        return self.derived is not None and self.derived not in MEANS


# Unweighted, weighted by skill, of a cluster.
MEANS = frozenset({0, 1, 6})


# What identifies a field, by name; values that the message lacks are left out. Tiles store it in `meta`.
FieldIdentity = dict[str, str | int | float]

# Code table 4.6.
MEMBER_KINDS = {
    0: "high-resolution control", 1: "low-resolution control", 2: "negatively perturbed", 3: "positively perturbed",
    4: "multi-model",
}  # fmt: skip
# Code table 4.7.
DERIVED = {
    0: "mean", 1: "weighted mean", 2: "standard deviation", 3: "normalised standard deviation", 4: "spread",
    5: "large anomaly index", 6: "mean of a cluster", 7: "interquartile range", 8: "minimum", 9: "maximum",
}  # fmt: skip
# Code table 4.9.
PROBABILITIES = {
    0: "probability of less than {lower}",
    1: "probability of exceeding {upper}",
    2: "probability of {lower} to {upper}",
    3: "probability of exceeding {lower}",
    4: "probability of less than {upper}",
}
LABELS = ("class", "stream", "type", "expver")
OPERATIONAL = "0001"


def field_identity(keys: Keys) -> FieldIdentity:
    """Everything that distinguishes the field from the same quantity of another model, member or statistic."""
    found: dict[str, str | int | float | None] = {
        "centre": keys.centre,
        "subcentre": keys.subcentre or None,
        "process": keys.process,
    }
    if keys.mars is not None:
        labels = keys.mars.mars_class, keys.mars.stream, keys.mars.type, keys.mars.expver
        found |= dict(zip(LABELS, labels, strict=True))
    found |= {
        "ensemble_member": keys.ensemble_member,
        "member_kind": MEMBER_KINDS.get(-1 if keys.member_kind is None else keys.member_kind),
        "ensemble_size": keys.members or None,
        "derived": None if keys.derived is None else DERIVED.get(keys.derived, f"code {keys.derived}"),
        "percentile": keys.percentile,
        "of_many": keys.of_many,
    }
    if keys.probability is not None:
        words = PROBABILITIES.get(keys.probability.kind, f"kind {keys.probability.kind}")
        found["probability"] = words.format(lower="lower", upper="upper")
        found |= {"lower": keys.probability.lower, "upper": keys.probability.upper}
    return {name: value for name, value in found.items() if value is not None}


def identity_text(identity: Mapping[str, str | int | float], *, whole: bool = True) -> str:
    """`centre 7, process 107, member 1`; if not `whole`, only the labels and the ensemble's part."""
    parts = [f"{name} {identity[name]}" for name in ("centre", "subcentre", "process") if whole and name in identity]
    parts += [" ".join(str(identity[name]) for name in LABELS[:3] if name in identity)]
    if identity.get("expver", OPERATIONAL) != OPERATIONAL:
        parts.append(f"version {identity['expver']}")
    if "ensemble_member" in identity:
        number = identity["ensemble_member"]
        parts.append(f"member {number}" if number else "control")
    parts += [f"ensemble {identity['derived']}"] if "derived" in identity else []
    parts += [f"percentile {identity['percentile']}"] if "percentile" in identity else []
    if "probability" in identity:
        limits = {name: f"{identity.get(name, '?')}" for name in ("lower", "upper")}
        parts.append(" ".join(limits.get(word, word) for word in str(identity["probability"]).split()))
    parts += [f"{identity['of_many']} of many"] if "of_many" in identity else []
    return ", ".join(part for part in parts if part)


# Temperature, relative and absolute humidity, wind speed; temperature in the tables of GRIB1.
COMMON: dict[Parameter, Statistic] = {
    (0, 0, 4): "max", (0, 0, 5): "min", (0, 1, 27): "max", (0, 1, 28): "max", (0, 2, 21): "max",
    **{(table, 15): "max" for table in (1, 2, 3)}, **{(table, 16): "min" for table in (1, 2, 3)},
}  # fmt: skip
# Humidity, updrafts and downdrafts, wind, updraft helicity, reflectivity.
NCEP_OWN: dict[Parameter, Statistic] = {
    (0, 1, 198): "min", (0, 1, 219): "max", (0, 1, 220): "min", (0, 2, 220): "max", (0, 2, 221): "max",
    (0, 2, 222): "max", (0, 2, 223): "max", (0, 7, 199): "max", (0, 7, 200): "min", (0, 16, 198): "max",
}  # fmt: skip
# Gusts, temperatures and rates of precipitation, in GRIB1.
ECMWF_OWN: dict[Parameter, Statistic] = {
    **{(128, number): "max" for number in (49, 51, 121, 123, 201)},
    **{(128, number): "min" for number in (52, 122, 202)},
    **{(228, number): "max" for number in (26, 28, 222, 224, 226)},
    **{(228, number): "min" for number in (27, 223, 225, 227)},
}


def implied_statistic(centre: int, parameter: Parameter) -> Statistic:
    """The statistic that the parameter implies; `other` if it implies none."""
    own = NCEP_OWN if centre in NOAA else ECMWF_OWN if centre == ECMWF else {}
    return COMMON.get(parameter) or own.get(parameter, "other")


# The labels of MARS, ECMWF's archive.


def _numbered(*runs: tuple[int, str]) -> dict[int, str]:
    return {first + place: name for first, names in runs for place, name in enumerate(names.split())}


CLASSES = _numbered(
    (1, "od rd er cs e4 dm pv el to co en ti me ei sr dt la yt mc pe em e2 ea ep rm nr s2 j5 ur et c3 yp l5 lw ce cr"),
    (37, "rr ul gw e6 l6 ef gf gg ml d1 o6 eh gh ci ai ed ng lr a5 we"),
    (99, "te at be hr dk fi fr de gr hu is ie it nl no pt si es se ch tr uk ms"),
)
STREAMS = _numbered(
    (1022, "fsob fsow dahc oper scda scwv dcda dcwv enda"),
    (1032, "efho enfh efov enfo sens maed amap efhc efhs toga cher mnth supd wave ocea fgge"),
    (1050, "egrr kwbc edzw lfpw rjtd cwao ammc efas efse efcl wfas wfcl wfse efrf efsr wfrf wfsr"),
    (1070, "msdc moda monr mnvr msda mdfa dacl wehs ewho enwh wamo waef wasf mawv ewhc wvhc weov wavm ewda dacw"),
    (1090, "seas sfmm swmm mofc mofm wamf wmfm smma clte clmn dame"),
    (1110, "seap"),
    (1120, "eefh eehs eefo weef weeh wees"),
    (1200, "mnfc mnfh mnfa mnfw mfhw mfaw mnfm mfhm mfam mfwm mhwm mawm"),
    (1220, "mmsf msmm wams mswm mmsa"),
    (1230, "mmaf mmam mmaw mmwm"),
    (1240, "esmm ehmm edmm edmo ewmo ewmm espd lwda lwwv elda ewla wamd gfas ocda olda gfra rfsd sttd stte xwda sfdd"),
    (1261, "sfmd shdd shmd sfdp shdp ldas ldbt ldst ldsb frcd eest"),
)
TYPES = _numbered(
    (1, "fg an ia oi 3v 4v 3g 4g fc cf pf ef ea cm cs fp em es fa cl si s3 ed tu ff of efi efic pb ep bf cd 4i go me"),
    (36, "pd ci sot eme im"),
    (42, "sim wem wes cr ses taem taes"),
    (50, "sg"),
    (52, "sf"),
    (60, "pa icp sv as svar cv"),
    (70, "or fx fu sfo tpa if"),
    (80, "fcmean fcmax fcmin fcstdev"),
    (86, "hcmean ssd gsd ga gai gbf pfc ppm gwt est mpp cpf emdn"),
)
# Streams of monthly means: their fields are never the analysis or forecast for one hour.
_MONTHLY = "mnth moda wamo wamd edmm edmo ewmo ewmm msmm swmm sfmm mofm wmfm mmam mmwm esmm ehmm"
MONTHLY_MEANS = frozenset(_MONTHLY.split())
# Multi-centre archives without such labels: class by production status (code table 1.3), and type by type of processed
# data (code table 1.4).
ARCHIVES = {4: "ti", 5: "ti", 6: "s2", 7: "s2"}
PROCESSED = {0: "an", 1: "fc", 3: "cf", 4: "pf"}
# In GRIB2's local section, the labels are in octets 8 to 17 of every definition.
LOCAL_OCTETS2 = 17
ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


@dataclass(frozen=True, slots=True)
class MarsLabels:
    """ECMWF's labels, such as `od`, `oper`, `fc`, `0001`; a number without a name is given in digits."""

    mars_class: str
    stream: str
    type: str
    expver: str = "0001"


def labels1(product: Octets) -> MarsLabels:
    """The labels in the local part of a GRIB1 product section, octets 42 to 49."""
    return _labels(product, (42, 42), (44, 45), (43, 43), 46)


def labels2(local: Octets) -> MarsLabels | None:
    """The labels in GRIB2's local section; None if it is missing or too short."""
    return _labels(local, (8, 9), (12, 13), (10, 11), 14) if len(local) >= LOCAL_OCTETS2 else None


def archive_labels(status: int, processed: int) -> MarsLabels | None:
    """The labels of TIGGE and S2S fields, from their production status and type; None for other fields."""
    if status not in ARCHIVES:
        return None
    kind = PROCESSED.get(processed, str(processed))
    return MarsLabels(ARCHIVES[status], "oper" if kind in ("an", "fc") else "enfo", kind, "prod")


def _labels(
    section: Octets, mars_class: tuple[int, int], stream: tuple[int, int], kind: tuple[int, int], expver: int
) -> MarsLabels:
    def name(table: dict[int, str], place: tuple[int, int]) -> str:
        number = unsigned(section, *place)
        return table.get(number, str(number))

    version = bytes(section[expver - 1 : expver + 3]).decode("ascii", "replace")
    plain = "".join(letter if letter in ALPHANUMERIC else "_" for letter in version.lower())
    return MarsLabels(name(CLASSES, mars_class), name(STREAMS, stream), name(TYPES, kind), plain)
