"""`python -m fuzz [SECONDS]`: build the kernel with sanitizers and run every fuzz target, for SECONDS in all."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from fuzz.build import build, find_compiler, run
from fuzz.seeds import TARGETS, write_seeds

CANNOT_BUILD = 3


def main(seconds: int) -> int:
    """0 if no fault was found, 3 if the targets cannot be built here."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        compiler = find_compiler(folder)
        if compiler is None:
            _say("no clang or gcc with sanitizers was found; nothing was run")
            return CANNOT_BUILD
        for target in TARGETS:
            program = build(compiler, target, folder)
            if program is None:
                _say(f"fuzz_{target}.c does not compile")
                return CANNOT_BUILD
            count = write_seeds(target, folder / target)
            share = max(1, seconds // len(TARGETS))
            driver = "libFuzzer" if compiler.libfuzzer else "the plain driver"
            _say(f"{target}: {count} seeds, {share} s with {driver}")
            code = run(compiler, program, folder / target, share)
            if code:
                return code
    return 0


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    asked = sys.argv[1:] or ["60"]
    if len(asked) != 1 or not asked[0].isdecimal():
        sys.exit("usage: python -m fuzz [SECONDS]   (60 seconds by default)")
    sys.exit(main(int(asked[0])))
