"""The one thing that pyproject.toml cannot say: the native decode kernel, built where a C compiler is."""

from pathlib import Path

from setuptools import Extension, setup

kernel = Extension(
    "gribmill.tiles._unpack",
    sources=["gribmill/tiles/_unpack.c"],
    depends=sorted(map(str, Path("gribmill/tiles/native").glob("*.h"))),
    # Python 3.11's stable ABI has the buffer protocol: one build serves every later version.
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    # Fused multiply-adds must not change a bit of a value.
    extra_compile_args=["-std=c11", "-O3", "-ffp-contract=off"],
    # Without a compiler ecCodes decodes everything: slower, with the same values.
    optional=True,
)

setup(ext_modules=[kernel], options={"bdist_wheel": {"py_limited_api": "cp311"}})
