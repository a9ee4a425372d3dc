"""Recognises other kinds of files by their first bytes, for error messages."""

from __future__ import annotations

# The German and American weather services publish compressed GRIB. cfgrib leaves pickles beside the files it opens.
WRONG_FILE_SIGNATURES = (
    (b"GRIB", "a GRIB file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"PK\3\4", "a ZIP archive"),
    (b"\x89HDF", "an HDF5 or NetCDF file"),
    (b"CDF", "a NetCDF file"),
    (b"BUFR", "a BUFR file"),
    (b"!GFHDR!", "a binary index from NCEP's grb2index"),
    *((bytes((0x80, protocol)), "a Python pickle") for protocol in (2, 3, 4, 5)),
    (b"<", "a web page or an error message"),
    (b"version https://git-lfs", "a Git LFS pointer"),
)
LONGEST_SIGNATURE = max(len(signature) for signature, _ in WRONG_FILE_SIGNATURES)


def wrong_file(first: bytes) -> str | None:
    """`a gzip file`, `a web page or an error message` …; None where the first bytes do not say."""
    return next((name for signature, name in WRONG_FILE_SIGNATURES if first.startswith(signature)), None)
