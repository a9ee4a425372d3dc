"""Doors: what a package offers is listed in its `__all__`, and no import from outside reaches past it.

Names: a public class name means one thing in the tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "gribmill"


def module_of(path: Path) -> str:
    """The dotted name of a file; a package's is that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted((ROOT / PACKAGE).rglob("*.py"))}
PACKAGES = [name for name, path in FILES.items() if path.name == "__init__.py" and name != PACKAGE]


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def offered(package: str) -> list[str]:
    """The `__all__` of a package, read without importing it."""
    for node in parsed(package).body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


@cache
def imported(module: str) -> tuple[str, ...]:
    """Every name that a module imports from this package, at any level of the code."""
    return tuple(_imported(module))


def _imported(module: str) -> Iterator[str]:
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.startswith(f"{PACKAGE}."))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def doors(importer: str, name: str) -> Iterator[tuple[str, str]]:
    """Each package that the import of `name` enters from outside, and what it takes there."""
    parts = name.split(".")
    for depth in range(2, len(parts)):
        package = ".".join(parts[:depth])
        inside = importer == package or importer.startswith(f"{package}.")
        if package in PACKAGES and not inside:
            yield package, parts[depth]


@pytest.fixture(scope="module")
def surfaces() -> dict[str, list[str]]:
    return {package: offered(package) for package in PACKAGES}


def test_imports_enter_other_packages_by_their_doors(surfaces: dict[str, list[str]]) -> None:
    past = {
        f"{importer}: {name} ({package} does not offer {taken})"
        for importer in FILES
        for name in imported(importer)
        for package, taken in doors(importer, name)
        if taken not in surfaces[package]
    }
    assert not past


def test_packages_offer_only_what_others_use(surfaces: dict[str, list[str]]) -> None:
    used = {door for importer in FILES for name in imported(importer) for door in doors(importer, name)}
    unused = {
        f"{package}.{name}" for package, names in surfaces.items() for name in names if (package, name) not in used
    }
    assert not unused


def test_a_public_class_name_is_defined_once() -> None:
    homes: dict[str, list[str]] = {}
    for module in FILES:
        for node in parsed(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}
