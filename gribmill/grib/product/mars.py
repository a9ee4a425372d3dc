"""ECMWF's labels of a field: class, stream, type and version of an experiment, as in its archive MARS."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.grib.octets import Octets, unsigned


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
# Streams of monthly means: what is in them is never the analysis or forecast of an hour.
_MONTHLY = "mnth moda wamo wamd edmm edmo ewmo ewmm msmm swmm sfmm mofm wmfm mmam mmwm esmm ehmm"
MONTHLY_MEANS = frozenset(_MONTHLY.split())
# Archives of many centres without such labels, by production status (code table 1.3), and the type of processed data
# (code table 1.4).
ARCHIVES = {4: "ti", 5: "ti", 6: "s2", 7: "s2"}
PROCESSED = {0: "an", 1: "fc", 3: "cf", 4: "pf"}
# GRIB2's local section: its labels fill octets 8 to 17 of every definition.
LOCAL_OCTETS2 = 17
ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


@dataclass(frozen=True, slots=True)
class MarsLabels:
    """`od`, `oper`, `fc`, `0001`; a number that has no name is given in digits."""

    mars_class: str
    stream: str
    type: str
    expver: str = "0001"


def labels1(product: Octets) -> MarsLabels:
    """From the local part of a GRIB1 product section, octets 42 to 49."""
    return _labels(product, (42, 42), (44, 45), (43, 43), 46)


def labels2(local: Octets) -> MarsLabels | None:
    """From GRIB2's local section; None where there is none."""
    return _labels(local, (8, 9), (12, 13), (10, 11), 14) if len(local) >= LOCAL_OCTETS2 else None


def archive_labels(status: int, processed: int) -> MarsLabels | None:
    """The labels that fields of TIGGE and S2S have by their production status and type; None for all others."""
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
