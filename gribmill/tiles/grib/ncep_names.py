"""What NCEP's quantities are called where the lexicon has no name for them: as in ecCodes, without loading it."""

from __future__ import annotations

from gribmill.tiles.grib.keys import NCEP, Keys

# By discipline and category, then by number: what NCEP's models publish at any level.
NAMES: dict[tuple[int, int], dict[int, str]] = {
    (0, 0): {
        0: "t", 1: "vtmp", 2: "pt", 3: "papt", 4: "tmax", 5: "tmin", 6: "dpt", 8: "lapr", 10: "slhtf", 11: "ishf",
        15: "vptmp", 21: "aptmp", 192: "snohf", 193: "ttrad", 195: "lrghr", 196: "cnvhr", 197: "thflx", 201: "shahr",
        202: "vdfhr", 203: "thz0",
    },
    (0, 1): {
        0: "q", 1: "r", 3: "pwat", 7: "prate", 8: "tp", 9: "ncpcp", 10: "acpcp", 11: "sde", 12: "srweq", 13: "sdwe",
        22: "clwmr", 23: "icmr", 24: "rwmr", 25: "snmr", 32: "grle", 39: "cpofp", 42: "snowc", 192: "crain",
        193: "cfrzr", 194: "cicep", 195: "csnow", 196: "cpr", 197: "mconv", 198: "minrh", 199: "pevap", 200: "pevpr",
        201: "snowc", 202: "frain", 203: "rime", 204: "tcolr", 205: "tcols", 206: "tipd", 207: "ncip", 208: "snot",
        209: "tclsw", 210: "tcolm", 211: "emnp", 212: "sbsno", 213: "cnvmr", 214: "shamr", 215: "vdfmr",
        216: "condp", 217: "lrgmr", 218: "qz0", 221: "arain", 225: "frzr",
    },
    (0, 2): {
        0: "wdir", 1: "ws", 2: "u", 3: "v", 4: "strf", 5: "vp", 8: "w", 9: "wz", 10: "absv", 12: "vo", 13: "d",
        14: "pv", 15: "vucsh", 16: "vvcsh", 17: "utaua", 18: "vtaua", 22: "gust", 29: "cd", 30: "fricv",
        192: "vwsh", 193: "mflx", 194: "ustm", 195: "vstm", 196: "cd", 197: "fricv", 204: "vedh", 208: "vdfua",
        209: "vdfva", 210: "gwdu", 211: "gwdv", 212: "cnvu", 213: "cnvv", 224: "VRATE",
    },
    (0, 3): {
        0: "pres", 1: "prmsl", 3: "icaht", 5: "gh", 6: "h", 8: "presa", 9: "gpa", 10: "den", 18: "blh", 192: "mslet",
        193: "5wavh", 194: "iegwss", 195: "ingwss", 197: "5wava", 198: "mslma", 200: "plpl", 201: "lpsx",
        202: "lpsy", 203: "hgtx", 204: "hgty", 205: "layth", 206: "nlgsp", 207: "cnvumf", 208: "cnvdmf",
        209: "cnvdemf", 210: "lmh", 211: "hgtn", 212: "presn",
    },
    (0, 4): {
        7: "sdswrf", 8: "suswrf", 192: "sdswrf", 193: "suswrf", 194: "duvb", 195: "cduvb", 196: "csdsf", 197: "swhr",
        198: "csusf", 199: "cfnsf", 200: "vbdsf", 201: "vddsf", 202: "nbdsf", 203: "nddsf",
    },
    (0, 5): {
        3: "sdlwrf", 4: "sulwrf", 192: "sdlwrf", 193: "sulwrf", 194: "lwhr", 195: "csulf", 196: "csdlf", 197: "cfnlf",
    },
    (0, 6): {
        1: "tcc", 3: "lcc", 4: "mcc", 5: "hcc", 6: "cwat", 192: "cdlyr", 193: "cwork", 194: "cuefi", 195: "tcond",
        196: "tcolw", 197: "tcoli", 198: "tcolc", 199: "fice", 200: "mflux", 201: "SUNSD",
    },
    (0, 7): {
        0: "pli", 1: "bli", 2: "kx", 6: "cape", 7: "cin", 8: "hlcy", 10: "lftx", 11: "4lftx", 192: "lftx",
        193: "4lftx", 194: "ri", 195: "cwdi", 196: "uvi", 197: "uphl", 198: "lai",
    },
    (0, 13): {192: "pmtc", 193: "pmtf"},
    (0, 14): {0: "tozne", 192: "o3mr", 193: "ozcon", 194: "ozcat", 195: "vdfoz", 196: "poz", 197: "toz"},
    (0, 16): {192: "refzr", 193: "refzi", 194: "refzc", 195: "refd", 196: "refc"},
    (0, 17): {192: "ltng"},
    (0, 19): {
        0: "vis", 1: "al", 11: "tke", 192: "mxsalb", 193: "snfalb", 203: "tstmc", 204: "mixly", 205: "flght",
        234: "ICSEV",
    },
    (0, 191): {192: "nlat", 193: "elon", 194: "tsec", 195: "mlyno"},
    (1, 0): {5: "bgrun", 6: "ssrun", 192: "bgrun", 193: "ssrun"},
    (1, 1): {192: "cpozp", 193: "cpofp", 194: "ppffg", 195: "cwr"},
    (2, 0): {
        0: "lsm", 1: "fsr", 2: "st", 4: "veg", 5: "watr", 192: "soilw", 193: "gflux", 194: "mstav", 195: "sfexc",
        196: "cnwat", 197: "bmixl", 198: "vgtyp", 199: "ccond", 200: "rsmin", 201: "wilt", 202: "rcs", 203: "rct",
        204: "rcq", 205: "rcsol", 207: "icwat", 208: "akhs", 209: "akms", 228: "acond", 229: "evcw", 230: "trans",
    },
    (2, 3): {
        0: "slt", 192: "soill", 193: "rlyrs", 194: "sltyp", 195: "smref", 196: "smdry", 197: "poros", 198: "evbs",
        199: "lspa", 200: "baret", 201: "avsft", 202: "radt", 203: "fldcp",
    },
    (2, 4): {2: "hindex"},
    (10, 0): {
        3: "swh", 4: "wvdir", 5: "shww", 6: "mpww", 7: "swdir", 8: "shts", 9: "mpts", 10: "dirpw", 11: "perpw",
        12: "dirsw", 13: "persw", 192: "wstp",
    },
    (10, 2): {0: "ci", 1: "sithick", 2: "diced", 3: "siced", 6: "iceg", 7: "iced", 8: "sit"},
    (10, 3): {0: "sst", 192: "surge", 193: "etsrg", 195: "sshg"},
}  # fmt: skip


def ncep_name(keys: Keys) -> str | None:
    """The quantity's short name, whatever its level and window; None where it is not NCEP's, or of an ensemble."""
    if keys.edition != 2 or keys.centre != NCEP or keys.selector or keys.spread or keys.probability:
        return None
    discipline, category, number = keys.parameter
    return NAMES.get((discipline, category), {}).get(number) if keys.percentile is None else None
