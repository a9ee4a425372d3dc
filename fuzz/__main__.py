"""`python -m fuzz SECONDS`: build the kernel with sanitizers and feed it damaged messages for so long."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.seeds import write_seeds

HERE = Path(__file__).parent
# The kernel's two builds, and what is told to the compiler for each.
BUILDS = {"vector.o": [], "scalar.o": ["-DGRIBMILL_PORTABLE=1"]}
FLAGS = ["-std=c11", "-O2", "-g", "-ffp-contract=off", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
CLANGS = ["clang", *(f"clang-{version}" for version in range(22, 13, -1))]
# What one build may use: an allocation that a lie asked for fails here.
MEMORY_MB = 1024


def build(folder: Path) -> tuple[Path, bool] | None:
    """The fuzzer, and whether it is libFuzzer's; None where there is no compiler that can build one."""
    program = folder / "fuzz_unpack"
    for clang in filter(shutil.which, CLANGS):
        if _compiled([clang, "-fsanitize=fuzzer,address,undefined", *FLAGS], [], program):
            return program, True
    for gcc in filter(shutil.which, ("gcc", "cc")):
        if _compiled([gcc, "-fsanitize=address,undefined", *FLAGS], [HERE / "standalone.c"], program):
            return program, False
    return None


def _compiled(compiler: list[str], more: list[Path], program: Path) -> bool:
    objects = {program.with_name(name): options for name, options in BUILDS.items()}
    commands: list[list[str | Path]] = [
        [*compiler, *options, "-c", HERE / "build.c", "-o", path] for path, options in objects.items()
    ]
    commands.append([*compiler, *objects, HERE / "fuzz_unpack.c", *more, "-o", program])
    return all(subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in commands)


def main(seconds: int) -> int:
    """Run it; 0 when no fault was found, 3 when it cannot be built here."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        built = build(folder)
        if built is None:
            print("there is no clang or gcc with sanitizers here: nothing was tried")  # noqa: T201
            return 3
        program, libfuzzer = built
        count = write_seeds(folder / "seeds")
        print(f"{count} seeds, {seconds} s with {'libFuzzer' if libfuzzer else 'the plain driver'}")  # noqa: T201
        sys.stdout.flush()
        found = HERE / "found"
        if libfuzzer:
            found.mkdir(exist_ok=True)
            options = [f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MB}", "-timeout=10", "-max_len=65536",
                       "-print_final_stats=1", f"-artifact_prefix={found}/"]  # fmt: skip
            return subprocess.run([program, *options, folder / "seeds"], check=False).returncode
        seeds = sorted((folder / "seeds").iterdir())
        return subprocess.run([program, str(seconds), *seeds], check=False).returncode


if __name__ == "__main__":
    asked = sys.argv[1:] or ["60"]
    if len(asked) != 1 or not asked[0].isdecimal():
        sys.exit("usage: python -m fuzz [SECONDS]   damaged messages into the kernel, a minute unless told otherwise")
    sys.exit(main(int(asked[0])))
