"""Builds and runs fuzz targets with sanitizers: with clang's libFuzzer, or else with the driver in mutate.c."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# The kernel's two builds, and the compiler options of each.
BUILDS: dict[str, list[str]] = {"vector.o": [], "scalar.o": ["-DGRIBMILL_PORTABLE=1"]}
FLAGS = ["-std=c11", "-O2", "-g", "-ffp-contract=off", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
CLANGS = ["clang", *(f"clang-{version}" for version in range(22, 13, -1))]
GCCS = ["gcc", "cc"]
# Memory limit of libFuzzer: a header that causes a huge allocation fails here.
MEMORY_MB = 1024


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that can build the fuzzers."""

    command: list[str]
    driver: list[Path]  # sources of the driver; libFuzzer brings its own

    @property
    def libfuzzer(self) -> bool:
        return not self.driver


def find_compiler(folder: Path) -> Compiler | None:
    """The first one that builds the kernel with sanitizers, into `folder`; None if there is none."""
    found = [Compiler([path, "-fsanitize=fuzzer,address,undefined", *FLAGS], []) for path in _installed(CLANGS)]
    found += [
        Compiler([path, "-fsanitize=address,undefined", *FLAGS], [HERE / "mutate.c"]) for path in _installed(GCCS)
    ]
    return next((one for one in found if _compile_builds(one, folder)), None)


def build(compiler: Compiler, target: str, folder: Path) -> Path | None:
    """The program of fuzz_<target>.c, after `find_compiler`; None if it does not compile."""
    program = folder / f"fuzz_{target}"
    sources = [*(folder / name for name in BUILDS), HERE / f"{program.name}.c", *compiler.driver]
    return program if _runs([*compiler.command, *sources, "-o", program]) else None


def run(compiler: Compiler, program: Path, seeds: Path, seconds: int) -> int:
    """Fuzz for this long; 0 if no fault was found. libFuzzer writes inputs that cause faults to fuzz/found."""
    if not compiler.libfuzzer:
        return subprocess.run([program, str(seconds), *sorted(seeds.iterdir())], check=False).returncode
    found = HERE / "found"
    found.mkdir(exist_ok=True)
    options = [
        f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MB}", "-timeout=10", "-max_len=65536",
        "-print_final_stats=1", f"-artifact_prefix={found}/{program.name}-",
    ]  # fmt: skip
    return subprocess.run([program, *options, seeds], check=False).returncode


def _installed(names: list[str]) -> list[str]:
    return [name for name in names if shutil.which(name)]


def _compile_builds(compiler: Compiler, folder: Path) -> bool:
    return all(
        _runs([*compiler.command, *options, "-c", HERE / "both_builds.c", "-o", folder / name])
        for name, options in BUILDS.items()
    )


def _runs(command: list[str | Path]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
