"""The native kernel, an optional C extension, which pyproject.toml cannot declare."""

import sysconfig
from pathlib import Path

from setuptools import Extension, setup

# The stable ABI of Python 3.11 has the buffer protocol: one build works with every later version. The
# free-threaded build of Python has no stable ABI: there the extension works with one version only, and enables the GIL.
stable = not sysconfig.get_config_var("Py_GIL_DISABLED")

kernel = Extension(
    "gribmill.kernel._kernel",
    sources=["gribmill/kernel/_kernel.c"],
    depends=sorted(map(str, Path("gribmill/kernel").rglob("*.h"))),
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if stable else [],
    py_limited_api=stable,
    # A fused multiply-add would change the last bit of some values.
    extra_compile_args=["-std=c11", "-O3", "-ffp-contract=off"],
    # Without a C compiler the installation continues: ecCodes decodes everything, more slowly, to the same values.
    optional=True,
)

setup(ext_modules=[kernel], options={"bdist_wheel": {"py_limited_api": "cp311"}} if stable else {})
