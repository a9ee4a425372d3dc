"""The one thing that pyproject.toml cannot say: the native decode kernel, built where a C compiler is."""

import sysconfig
from pathlib import Path

from setuptools import Extension, setup

# Python 3.11's stable ABI has the buffer protocol: one build serves every later version. Python without its global lock
# has no stable ABI: there the kernel serves that version alone, and turns the lock on as it is loaded.
stable = not sysconfig.get_config_var("Py_GIL_DISABLED")

kernel = Extension(
    "gribmill.kernel._kernel",
    sources=["gribmill/kernel/_kernel.c"],
    depends=sorted(map(str, Path("gribmill/kernel").rglob("*.h"))),
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if stable else [],
    py_limited_api=stable,
    # Fused multiply-adds must not change a bit of a value.
    extra_compile_args=["-std=c11", "-O3", "-ffp-contract=off"],
    # Without a compiler ecCodes decodes everything: slower, with the same values.
    optional=True,
)

setup(ext_modules=[kernel], options={"bdist_wheel": {"py_limited_api": "cp311"}} if stable else {})
